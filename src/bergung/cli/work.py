"""Vault and effects for a verb; importing this costs what the verbs cost, so commands import it when they are called."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bergung.carry.effects import Effects
from bergung.cli.door import Door
from bergung.cli.engines import SPARK, Engines
from bergung.cli.settings import Settings
from bergung.cli.stopping import stopping
from bergung.cli.watching import watching
from bergung.vault.vault import Vault
from bergung.vault.vault import open_vault as open_vault_at

FIRST = "\nstopping after this snapshot; Ctrl-C again stops at once\n"


def open_vault(door: Door) -> Vault:
    """The vault that the call means."""
    return open_vault_at(door.vault_address(), door.stores)


@contextmanager
def at_work(door: Door, ahead: str | None = None) -> Iterator[Effects]:
    """Effects that are watched and can be stopped; Spark, when it is wanted, is opened ahead at the step of that name."""
    kind = door.engine_kind()
    engines = Engines(kind, **_spark(door.settings))

    def begun(step: str) -> None:
        if step == ahead and kind == SPARK:
            engines.open_ahead()

    with watching(door.as_json) as watch, stopping(watch.stop, engines.interrupt):
        watch.on_step = begun
        try:
            yield Effects(engine=engines, watch=watch, open_store=door.stores, brakes=door.brakes())
        finally:
            engines.close()


@contextmanager
def at_reading(door: Door, confs: Mapping[str, str], *, s3: bool) -> Iterator[Effects]:
    """The same for a verb whose rows Spark itself reads, by Iceberg; its session is opened at the first use."""
    own = _spark(door.settings)
    engines = Engines(SPARK, **{**own, "confs": {**confs, **own["confs"]}, "iceberg": True, "s3": s3, "short": False})
    with watching(door.as_json) as watch, stopping(watch.stop, engines.interrupt, FIRST):
        try:
            yield Effects(engine=engines, watch=watch, open_store=door.stores)
        finally:
            engines.close()


def _spark(settings: Settings) -> dict[str, Any]:
    return {
        "master": settings.text("spark.master"),
        "remote": settings.text("spark.remote"),
        "confs": settings.spark_confs(),
        "patience_seconds": settings.patience_seconds(),
    }
