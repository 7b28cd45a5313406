"""A lake, a vault and a second lake to restore into, where every snapshot of a table must read as in the first."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conftest import Lake, new_lake
from rescue import Rescue, rescue

from bergung.carry.engine import ProcessEngine
from bergung.catalogs.base import Catalog
from bergung.catalogs.sql import SqlCatalog
from bergung.catalogs.sqlite import database
from bergung.clock import SystemClock
from bergung.model.names import TableName
from bergung.restore.request import RestoreRequest
from bergung.restore.run import run_restore
from readers import plain_path, table_file
from truth import Truth, compare_all, truth_again, truth_of


@dataclass(frozen=True)
class TwoLakes(Rescue):
    """Tables are made in one, and come back in the other while the first is out of sight."""

    there: Lake

    def catalog(self, name: str) -> Catalog:
        lake = self.there if name == self.there.name else self.lake
        return SqlCatalog(name, database(f"sqlite:///{lake.sqlite_path}"), SystemClock())

    def pointer(self, lake: Lake, table: str) -> str:
        """What the lake's catalog names."""
        namespace, _, name = table.rpartition(".")
        return self.catalog(lake.name).locate(TableName(lake.name, tuple(namespace.split(".")), name)).metadata_location

    def sql(self, text: str) -> list[Any]:
        return list(self.lake.spark.sql(text).collect())

    def truth(self, table: str) -> Truth:
        """Of the table in the first lake."""
        return truth_of(self.pointer(self.lake, table), self.lake.spark, self.lake.full(table))

    def moved(self, table: str, to: str | None = None, **asked: Any) -> str:
        """Backed up, restored into the other lake and compared; the metadata file there."""
        assert self.backup(self.lake.full(table)).failed == {}
        before, refs = self.truth(table), self.refs(self.lake, table)
        assert before.snapshots, "a table without snapshots shows nothing"
        with self.out_of_sight():
            pointer = self.restored(table, to, **asked)
            compare_all(before, truth_again(before, pointer, self.there.spark, self.there.full(to or table)))
        assert refs.items() <= self.refs(self.there, to or table).items()
        return pointer

    def restored(self, table: str, to: str | None = None, **asked: Any) -> str:
        """By ours, from the vault alone."""
        to = to or table
        asked = {"location": f"{self.there.warehouse.as_uri()}/moved/{to}", **asked}
        request = RestoreRequest("latest", (self.lake.full(table),), to=self.there.full(to), **asked)
        result = run_restore(self.effects, self.vault, request, self.catalog).restored
        assert result is not None and (result.failed, result.damaged) == ({}, ())
        return self.pointer(self.there, to)

    def refs(self, lake: Lake, table: str) -> Mapping[str, Any]:
        """Branches and tags."""
        found: Mapping[str, Any] = table_file(self.pointer(lake, table)).metadata.get("refs") or {}
        return found

    @contextmanager
    def out_of_sight(self) -> Iterator[None]:
        """A copy that still names a file of its original cannot be read."""
        away = self.lake.warehouse.with_name("away")
        self.lake.warehouse.rename(away)
        try:
            yield
        finally:
            away.rename(self.lake.warehouse)


def two_lakes(spark: Any, folder: Path, scheme: str = "file:") -> TwoLakes:
    """Both empty, each with a namespace `db`; the first one's paths begin with `scheme`."""
    number = folder.name.replace("-", "_")
    lake, there = (new_lake(spark, f"{name}_{number}", folder / name) for name in ("here", "there"))
    spark.conf.set(f"spark.sql.catalog.{lake.name}.warehouse", f"{scheme}{lake.warehouse}")
    for each in (lake, there):
        each.sql(f"CREATE NAMESPACE {each.name}.db")
    plain = rescue(lake, folder, ProcessEngine(2))
    return TwoLakes(plain.lake, plain.url, plain.effects, there)


def local(path: str) -> Path:
    """Where a file of a table lies."""
    return Path(plain_path(path))
