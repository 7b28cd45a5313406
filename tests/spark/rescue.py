"""Backup, disaster and restore of a lake as the tests use them: on Spark, into a vault beside the lake."""

from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
from conftest import Lake

from bergung.backup.request import BackupRequest
from bergung.backup.run import BackupResult, run_backup
from bergung.carry.effects import Effects
from bergung.carry.engine import Engine
from bergung.catalogs.base import Catalog
from bergung.catalogs.select import select_tables
from bergung.catalogs.sql import SqlCatalog
from bergung.catalogs.sqlite import database
from bergung.clock import SystemClock
from bergung.restore.request import RestoreRequest
from bergung.restore.run import RestoreResult, run_restore
from bergung.spark.engine import SparkEngine
from bergung.stores.open import open_store
from bergung.upkeep.verify import VerifyRequest, VerifyResult, run_verify
from bergung.vault.vault import Vault, init_vault, open_vault


class AlwaysOnSpark(Effects):
    """Also the little that would be done in this process: every function runs on executors."""

    def is_little(self, rows: pa.Table) -> bool:
        return False


@dataclass(frozen=True)
class Rescue:
    """A lake, a vault for it, and the engine that carries."""

    lake: Lake
    url: str
    effects: Effects

    @property
    def vault(self) -> Vault:
        return open_vault(self.url, open_store)

    def catalog(self, name: str) -> Catalog:
        return SqlCatalog(name, database(f"sqlite:///{self.lake.sqlite_path}"), SystemClock())

    def backup(self, *words: str, captured: str = "all") -> BackupResult:
        words = words or (self.lake.name,)
        return run_backup(
            self.effects, self.vault, BackupRequest(words, captured=captured), select_tables(list(words), [], self.catalog)
        )

    def restore(self, *words: str, point: str = "latest", over: bool = False) -> RestoreResult:
        return run_restore(self.effects, self.vault, RestoreRequest(point, words, over=over), self.catalog)

    def verify(self) -> VerifyResult:
        return run_verify(self.effects, self.vault, VerifyRequest())

    def purge(self) -> None:
        """Every table, with all its files."""
        for table in self.lake.tables():
            self.lake.sql(f"DROP TABLE {self.lake.full(table)} PURGE")


def rescue(lake: Lake, folder: Path, engine: Engine | None = None) -> Rescue:
    vault = init_vault((folder / "vault").as_uri(), open_store, SystemClock(), uuid4())
    engine = engine or SparkEngine(lake.spark, 2)
    return Rescue(lake, vault.url, AlwaysOnSpark(engine=lambda: engine))
