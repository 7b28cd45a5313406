"""Everything is backed up, purged and restored; then PyIceberg, DuckDB and Spark read every snapshot, and life goes on."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import Lake
from rescue import rescue

from life_after import life_after
from truth import Truth, compare_all, truth_again

TABLES = ["shop.visits", "shop.orders", "shop.payments", "shop.places", "shop.products", "shop.customers", "shop.eu.north.stock"]


@dataclass(frozen=True)
class Restored:
    """A lake that was purged and came back, what it held before, and a copy to put back after each test."""

    lake: Lake
    truths: dict[str, Truth]
    kept: Path


@pytest.fixture(scope="module", params=["batches as they come", "batches of three"])
def restored(lake_as_made: Lake, _kept: Path, tmp_path_factory, request) -> Iterator[Restored]:
    lake, folder = lake_as_made, tmp_path_factory.mktemp("restored")
    if request.param == "batches of three":
        lake.spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "3")
    truths = {table: lake.truth(table) for table in [*TABLES, "shop.wishes"]}
    rescuing = rescue(lake, folder)
    backup = rescuing.backup()
    assert (backup.failed, backup.record.backup_metadata.status) == ({}, "complete")
    assert rescuing.verify().damages == ()
    rescuing.purge()
    assert not [path for path in lake.warehouse.rglob("*.parquet")]
    result = rescuing.restore()
    assert result.restored is not None
    assert (result.restored.failed, result.restored.damaged) == ({}, ())
    assert len(result.restored.done) == len(TABLES) + 1
    lake.spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    lake.keep(folder / "kept")
    yield Restored(lake, truths, folder / "kept")
    lake.put_back(_kept)


@pytest.mark.parametrize("table", [*TABLES, "shop.wishes"])
def test_every_snapshot_reads_as_before(restored: Restored, table: str) -> None:
    lake, before = restored.lake, restored.truths[table]
    compare_all(before, truth_again(before, lake.location(table), lake.spark, lake.full(table)))


@pytest.mark.parametrize("table", TABLES)
def test_a_restored_table_lives_on(restored: Restored, table: str) -> None:
    try:
        life_after(restored.lake.spark, restored.lake.name, table, restored.truths[table])
    finally:
        restored.lake.put_back(restored.kept)
