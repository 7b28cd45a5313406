"""A lake of all kinds of tables gets another name and other paths; readers that are not ours find every snapshot as it was."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import Lake, new_lake
from rescue import Rescue, rescue

from bergung.catalogs.base import Catalog
from bergung.catalogs.sql import SqlCatalog
from bergung.catalogs.sqlite import database
from bergung.clock import SystemClock
from bergung.restore.request import RestoreRequest
from bergung.restore.run import run_restore
from life_after import life_after
from truth import Truth, compare_all, truth_again

TABLES = ["shop.visits", "shop.orders", "shop.payments", "shop.places", "shop.products", "shop.customers", "shop.eu.north.stock"]


@dataclass(frozen=True)
class Moved:
    """What the originals hold, where the copies are, and a copy of these to put back after each test."""

    truths: dict[str, Truth]
    there: Lake
    kept: Path


@dataclass(frozen=True)
class Two(Rescue):
    """Two lakes and one vault."""

    there: Lake | None = None

    def catalog(self, name: str) -> Catalog:
        lake = self.there if self.there is not None and name == self.there.name else self.lake
        return SqlCatalog(name, database(f"sqlite:///{lake.sqlite_path}"), SystemClock())


@pytest.fixture(scope="module", params=["batches as they come", pytest.param("batches of three", marks=pytest.mark.nightly)])
def moved(lake_as_made: Lake, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Moved]:
    lake, folder = lake_as_made, tmp_path_factory.mktemp("elsewhere")
    there = new_lake(lake.spark, f"there{len(request.param)}", folder / "there")
    there.sql(f"CREATE NAMESPACE {there.name}.made_first")
    if request.param == "batches of three":
        lake.spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "3")
    truths = {table: lake.truth(table) for table in [*TABLES, "shop.wishes"]}
    plain: Any = rescue(lake, folder)
    both = Two(plain.lake, plain.url, plain.effects, there)
    backup = both.backup()
    assert (backup.failed, backup.record.backup_metadata.status) == ({}, "complete")
    asked = RestoreRequest("latest", (), to=f"{there.name}.*", location=f"file://{there.warehouse}/moved")
    result = run_restore(both.effects, both.vault, asked, both.catalog)
    lake.spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert result.restored is not None
    assert (result.restored.failed, result.restored.damaged) == ({}, ())
    assert len(result.restored.done) == len(TABLES) + 1
    there.keep(folder / "kept")
    yield Moved(truths, there, folder / "kept")


@pytest.mark.parametrize("table", [*TABLES, "shop.wishes"])
def test_every_snapshot_reads_as_the_original(moved: Moved, table: str) -> None:
    there, before = moved.there, moved.truths[table]
    compare_all(before, truth_again(before, there.location(table), there.spark, there.full(table)))


@pytest.mark.parametrize(
    "table", [TABLES[1], *(pytest.param(each, marks=pytest.mark.nightly) for each in TABLES[::6] + TABLES[2:6])]
)
def test_a_table_that_moved_lives_on(moved: Moved, table: str) -> None:
    try:
        life_after(moved.there.spark, moved.there.name, table, moved.truths[table])
    finally:
        moved.there.put_back(moved.kept)
