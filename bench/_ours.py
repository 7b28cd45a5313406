"""Bergung: in this process on a warm session, and as a fresh process of the command line."""

import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
from _lake import CATALOG, NAMESPACE, Lake
from _rounds import Contestant, timed

from bergung.backup.request import BackupRequest
from bergung.backup.run import BackupResult, run_backup
from bergung.carry.effects import Effects
from bergung.catalogs.select import select_tables
from bergung.catalogs.settings import open_catalog
from bergung.cli.engines import SPARK, Engines
from bergung.clock import SystemClock
from bergung.restore.request import RestoreRequest
from bergung.restore.run import run_restore
from bergung.stores.access import Access
from bergung.stores.base import OpenStore, Store
from bergung.stores.local import LocalStore
from bergung.stores.open import open_store
from bergung.vault.vault import init_vault, open_vault

WORD = f"{CATALOG}.{NAMESPACE}"
COMMAND = Path(sys.executable).parent / "bergung"


class Unsynced(LocalStore):
    """A local store whose promise of durability is empty."""

    def make_durable(self, keys: Iterable[str]) -> None:
        for _ in keys:
            pass


def open_unsynced(url: str, access: tuple[Access, ...] = ()) -> Store:
    """Like `open_store`, for folders."""
    return Unsynced(url.removeprefix("file://"))


class Warm:
    """The session that the command line opens, used again and again."""

    def __init__(self, work: Path) -> None:
        self.engines = Engines(SPARK)
        self.vault = work / "vault"

    def fresh_vault(self) -> None:
        make_vault(self.vault)

    def no_vault(self) -> None:
        shutil.rmtree(self.vault, ignore_errors=True)

    def small_job(self) -> None:
        """Spark ends workers that were idle for a minute: this has them back."""
        session = self.engines.spark().session
        session.range(10).mapInArrow(pass_on, "id long").count()

    def backup(self, opener: OpenStore = open_store) -> tuple[float, BackupResult]:
        """From locating to the seal."""
        effects = Effects(engine=self.engines, open_store=opener)
        started = time.perf_counter()
        vault = open_vault(self.vault.as_uri(), opener)
        result = run_backup(effects, vault, BackupRequest((WORD,)), select_tables([WORD], [], open_catalog))
        seconds = time.perf_counter() - started
        if result.record.backup_metadata.status != "complete":
            raise SystemExit(f"error: the backup is {result.record.backup_metadata.status}: {result.failed}")
        return seconds, result

    def restore(self, opener: OpenStore = open_store) -> float:
        """The newest point, all its tables."""
        effects = Effects(engine=self.engines, open_store=opener)
        started = time.perf_counter()
        result = run_restore(effects, open_vault(self.vault.as_uri(), opener), RestoreRequest("latest"), open_catalog)
        seconds = time.perf_counter() - started
        if result.restored is None or result.restored.failed or result.restored.damaged:
            raise SystemExit(f"error: the restore is not whole: {result.restored}")
        return seconds

    def close(self) -> None:
        self.engines.close()


def pass_on(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def make_vault(folder: Path) -> None:
    """A new one in place of what was there."""
    shutil.rmtree(folder, ignore_errors=True)
    init_vault(folder.as_uri(), open_store, SystemClock(), uuid4())


def backup_command(vault: Path) -> list[str | Path]:
    return [COMMAND, "backup", WORD, "--vault", vault, "--engine", "spark"]


def cold(name: str, work: Path, lake: Lake) -> Contestant:
    """A first backup by a fresh process."""
    vault = work / "cold"
    command, home = backup_command(vault), {"PYICEBERG_HOME": str(lake.root)}
    return Contestant(name, lambda: timed(command, home), lambda: make_vault(vault), lambda: shutil.rmtree(vault))
