"""Vault and effects for a verb; importing this costs what the verbs cost, so commands import it when they are called."""

from collections.abc import Iterator
from contextlib import contextmanager

from bergung.carry.effects import Effects
from bergung.cli.door import Door
from bergung.cli.engines import SPARK, Engines
from bergung.cli.stopping import stopping
from bergung.cli.watching import watching
from bergung.vault.vault import Vault
from bergung.vault.vault import open_vault as open_vault_at


def open_vault(door: Door) -> Vault:
    """The vault that the call means."""
    return open_vault_at(door.vault_address(), door.stores)


@contextmanager
def at_work(door: Door, ahead: str | None = None) -> Iterator[Effects]:
    """Effects that are watched and can be stopped; Spark, when it is wanted, is opened ahead at the step of that name."""
    settings, kind = door.settings, door.engine_kind()
    engines = Engines(
        kind,
        master=settings.text("spark.master"),
        remote=settings.text("spark.remote"),
        confs=settings.spark_confs(),
        patience_seconds=settings.patience_seconds(),
    )

    def begun(step: str) -> None:
        if step == ahead and kind == SPARK:
            engines.open_ahead()

    with watching(door.as_json) as watch, stopping(watch.stop, engines.interrupt):
        watch.on_step = begun
        try:
            yield Effects(engine=engines, watch=watch, open_store=door.stores, brakes=door.brakes())
        finally:
            engines.close()
