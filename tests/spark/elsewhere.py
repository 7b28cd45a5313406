"""A lake that Spark makes on real servers, and a vault for it at another endpoint with keys of its own."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from places import Place
from pyiceberg.catalog import Catalog as PyIcebergCatalog
from pyiceberg.catalog import load_catalog
from rescue import AlwaysOnSpark

from bergung.backup.request import BackupRequest
from bergung.backup.run import BackupResult, run_backup
from bergung.catalogs.base import Catalog
from bergung.catalogs.select import select_tables
from bergung.catalogs.settings import open_catalog
from bergung.clock import SystemClock
from bergung.demo import history, tables
from bergung.restore.request import RestoreRequest
from bergung.restore.run import RestoreResult, run_restore
from bergung.spark.engine import SparkEngine
from bergung.stores.open import Stores
from bergung.upkeep.verify import VerifyRequest, VerifyResult, run_verify
from bergung.vault.vault import Vault, init_vault, open_vault
from maintenance import metadata_location
from tests.servers.s3 import S3Server
from truth import Truth, truth_of

NAMESPACE = "shop"
ROWS = 60
VAULT_KEYS = ("vaultkeeper", "vaultkeeperssecret")


@dataclass(frozen=True)
class Elsewhere:
    """The lake, and what a user does with it through Bergung: every function of the data plane runs on executors."""

    session: Any
    name: str
    place: Place
    vault_url: str
    stores: Stores

    @property
    def vault(self) -> Vault:
        return open_vault(self.vault_url, self.stores)

    @property
    def effects(self) -> AlwaysOnSpark:
        return AlwaysOnSpark(engine=lambda: SparkEngine(self.session, 2), open_store=self.stores)

    def catalog(self, name: str) -> Catalog:
        return open_catalog(name, open_store=self.stores)

    def pyiceberg(self) -> PyIcebergCatalog:
        return load_catalog(self.name, **self.place.pyiceberg)

    def full(self, table: str) -> str:
        return f"{self.name}.{NAMESPACE}.{table}"

    def pointer(self, table: str) -> str:
        return metadata_location(self.session, self.full(table))

    def truth(self, table: str) -> Truth:
        return truth_of(self.pointer(table), self.session, self.full(table))

    def make(self, *names: str) -> None:
        self.session.sql(f"CREATE NAMESPACE {self.name}.{NAMESPACE} WITH DBPROPERTIES ('team' = 'sales')")
        for name in names:
            getattr(tables, name)(self.session, self.full(name), ROWS)

    def go_on(self, *names: str) -> None:
        for name in names:
            getattr(history, name)(self.session, self.full(name), ROWS)

    def backup(self) -> BackupResult:
        selected = select_tables([self.name], [], self.catalog)
        return run_backup(self.effects, self.vault, BackupRequest((self.name,)), selected)

    def kept_files(self) -> list[str]:
        """What the vault holds of tables, without its own books."""
        found = (stat.key for stat in self.stores(self.vault_url).list("tables/"))
        return [key for key in found if "/receipts/" not in key]

    def verify(self) -> VerifyResult:
        return run_verify(self.effects, self.vault, VerifyRequest())

    def lose(self, *names: str) -> None:
        """Every table with PURGE, their namespace, and whatever file is left."""
        for name in names:
            self.session.sql(f"DROP TABLE {self.full(name)} PURGE")
        self.session.sql(f"DROP NAMESPACE {self.name}.{NAMESPACE}")
        self.place.wipe()
        assert self.place.wipe() == 0

    def restore(self) -> RestoreResult:
        return run_restore(self.effects, self.vault, RestoreRequest("latest", (self.name,)), self.catalog)


@contextmanager
def elsewhere(session: Any, place: Place, keeper: S3Server, folder: Path) -> Iterator[Elsewhere]:
    """Announced as a user would: to Spark, in PyIceberg's file, and the keys of the vault in an [[access]]."""
    name = f"lake{uuid4().hex[:8]}"
    catalog = f"spark.sql.catalog.{name}"
    session.conf.set(catalog, "org.apache.iceberg.spark.SparkCatalog")
    for key, value in {"cache-enabled": "false", **place.spark}.items():
        session.conf.set(f"{catalog}.{key}", value)
    quoted = "\n".join(f"    {key}: {json.dumps(value)}" for key, value in place.pyiceberg.items())
    (folder / ".pyiceberg.yaml").write_text(f"catalog:\n  {name}:\n{quoted}\n")
    bucket = keeper.new_bucket()
    stores = Stores((keeper.access(f"s3://{bucket.name}/"),))
    url = f"s3://{bucket.name}/vault"
    init_vault(url, stores, SystemClock(), uuid4())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYICEBERG_HOME", str(folder))
        for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
            patch.delenv(variable, raising=False)
        yield Elsewhere(session, name, place, url, stores)
