"""Tables that few engines write, or that PyIceberg refuses: lost, restored, read by Spark as before, and lived in again."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Lake
from pyiceberg.exceptions import ValidationError
from pyiceberg.table import StaticTable
from rescue import Rescue, rescue

import maintenance
import readers
from bergung.catalogs.sql import SqlCatalog
from bergung.catalogs.sqlite import database
from bergung.clock import SystemClock
from bergung.model.names import TableName
from equality_deletes import make_table_with_equality_deletes
from life_after import life_after
from tests.synthetic import Shape, SyntheticTable
from truth import compare_all, readers_agree, truth_again


def lost_and_restored(lake: Lake, folder: Path) -> Rescue:
    """Backed up, gone from the catalog and from the disk to the last file, restored."""
    rescuing = rescue(lake, folder)
    assert rescuing.backup().record.backup_metadata.status == "complete"
    assert rescuing.verify().damages == ()
    # Not by Spark's DROP … PURGE, which cannot purge all of them.
    with sqlite3.connect(lake.sqlite_path) as connection:
        connection.execute("DELETE FROM iceberg_tables")
    shutil.rmtree(lake.warehouse)
    restored = rescuing.restore().restored
    assert restored is not None and (restored.failed, restored.damaged) == ({}, ())
    return rescuing


def test_a_table_with_equality_deletes(empty_lake: Lake, tmp_path: Path) -> None:
    lake = empty_lake
    lake.sql(f"CREATE NAMESPACE {lake.name}.db")
    make_table_with_equality_deletes(lake.spark, lake.full("db.words"))
    before = lake.truth("db.words")
    readers_agree(before)
    lost_and_restored(lake, tmp_path)
    compare_all(before, truth_again(before, lake.location("db.words"), lake.spark, lake.full("db.words")))
    life_after(lake.spark, lake.name, "db.words", before)


def rows_of_every_snapshot(lake: Lake, table: str, columns: str) -> dict[int, list[str]]:
    """As Spark reads them."""
    snapshots = readers.all_snapshots(lake.location(table))
    read = {each: lake.spark.sql(f"SELECT {columns} FROM {lake.full(table)} VERSION AS OF {each}").collect() for each in snapshots}
    return {each: sorted(map(str, rows)) for each, rows in read.items()}


def lives_on(lake: Lake, table: str, read: Callable[[], dict[int, list[str]]]) -> None:
    """What was promised is tagged; the library's own clean-up and Spark's leave it alone."""
    before, full = read(), lake.full(table)
    for each in before:
        maintenance.tag(lake.spark, full, each)
    for step in (maintenance.append, maintenance.compact, maintenance.rewrite_manifests, maintenance.append):
        step(lake.spark, full)
    assert maintenance.orphans(lake.spark, full) == []
    maintenance.expire_by_core(lake.spark, full, 2**62, incremental=False)
    maintenance.expire_by_spark(lake.spark, full)
    after = read()
    assert before.items() <= after.items() and len(after) == len(before) + 1


def test_a_table_with_a_column_of_variants(empty_lake: Lake, tmp_path: Path) -> None:
    lake, table = empty_lake, "db.events"
    lake.sql(f"CREATE NAMESPACE {lake.name}.db")
    lake.sql(f"CREATE TABLE {lake.full(table)} (id BIGINT, what VARIANT) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    for first in (0, 100):
        lake.sql(
            f"""INSERT INTO {lake.full(table)} SELECT id, parse_json(concat('{{"a": [', id, ', null], "b": "x', id, '"}}'))
                FROM range({first}, {first} + 100)"""
        )
    maintenance.delete_on_read(lake.spark, lake.full(table))
    with pytest.raises(ValidationError, match="variant"):
        StaticTable.from_metadata(lake.location(table))

    def read() -> dict[int, list[str]]:
        return rows_of_every_snapshot(lake, table, "id, to_json(what)")

    before = read()
    assert [len(set(rows)) for rows in before.values()][:2] == [100, 200], "every row is told apart"
    lost_and_restored(lake, tmp_path)
    assert read() == before
    lives_on(lake, table, read)


@pytest.fixture
def old(empty_lake: Lake) -> Callable[[Shape], Lake]:
    """The table db.old of that shape: three snapshots, and statistics of a kind that PyIceberg refuses."""

    def made(shape: Shape) -> Lake:
        lake, table = empty_lake, SyntheticTable(empty_lake.warehouse / "db" / "old", shape)
        lake.sql(f"CREATE NAMESPACE {lake.name}.db")
        for _ in range(3):
            table.append(2)
            table.commit()
        if shape.with_uuid:
            table.add_statistics("histogram-of-another-engine")
        # Not by Spark's register_table, which wants totals in the snapshot's summary that old writers do not count.
        catalog = SqlCatalog(lake.name, database(f"sqlite:///{lake.sqlite_path}"), SystemClock())
        catalog.register(TableName(lake.name, ("db",), "old"), table.commit(snapshot=False))
        return lake

    return made


@pytest.mark.parametrize("shape", [Shape(format_version=1, embedded_manifests=True), Shape(gzip=True)], ids=["manifests", "gzip"])
def test_a_table_as_old_or_other_writers_leave_it(old: Callable[[Shape], Lake], tmp_path: Path, shape: Shape) -> None:
    lake = old(shape)

    def read() -> dict[int, list[str]]:
        return rows_of_every_snapshot(lake, "db.old", "id, name")

    before = read()
    assert [len(set(rows)) for rows in before.values()] == [6, 12, 18]
    lost_and_restored(lake, tmp_path)
    assert read() == before
    if not shape.embedded_manifests:
        lives_on(lake, "db.old", read)


def test_a_table_without_uuid(old: Callable[[Shape], Lake], tmp_path: Path) -> None:
    """Spark and DuckDB cannot read one at all, and PyIceberg gives it another uuid at each look."""
    lake = old(Shape(format_version=1, with_uuid=False))
    with pytest.raises(Exception, match='because "name" is null'):
        lake.spark.table(lake.full("db.old")).collect()
    pointer = sqlite_pointer(lake)

    def read() -> dict[int, list[int]]:
        snapshots = readers.all_snapshots(pointer)
        return {each: sorted(readers.rows_by_pyiceberg(pointer, each)["id"].to_pylist()) for each in snapshots}

    before = read()
    assert list(before.values()) == [list(range(6)), list(range(12)), list(range(18))]
    lost_and_restored(lake, tmp_path)
    assert (sqlite_pointer(lake), read()) == (pointer, before)


def sqlite_pointer(lake: Lake) -> str:
    with sqlite3.connect(lake.sqlite_path) as connection:
        return str(connection.execute("SELECT metadata_location FROM iceberg_tables").fetchone()[0])
