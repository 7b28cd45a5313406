"""A table's metadata as of an instant, made from its newest: read by all readers as it was then, and lived in again."""

from pathlib import Path

import pytest
from conftest import Lake

import maintenance
import readers
from bergung.catalogs.sql import SqlCatalog
from bergung.catalogs.sqlite import database
from bergung.clock import SystemClock
from bergung.iceberg.as_of import AsOf, as_of, counters_of, later_specs, made_by, schema_by
from bergung.iceberg.metadata import read_metadata
from bergung.iceberg.survey import reached_by
from bergung.model.names import TableName
from life_after import life_after
from truth import Truth, compare_all, readers_agree, truth_again

TABLE = "db.orders"


def make(lake: Lake, version: int) -> None:
    """Commits, a staged branch and a tag; a column that the partitions and the order then go by; a rollback, and on from there."""
    full = lake.full(TABLE)
    lake.sql(f"CREATE NAMESPACE {lake.name}.db")
    lake.sql(
        f"CREATE TABLE {full} (id BIGINT, name STRING) USING iceberg PARTITIONED BY (bucket(4, id)) TBLPROPERTIES "
        f"('format-version'='{version}', 'write.delete.mode'='merge-on-read')"
    )
    lake.sql(f"INSERT INTO {full} SELECT id, 'first' FROM range(0, 40)")
    lake.sql(f"ALTER TABLE {full} CREATE BRANCH trial")
    lake.sql(f"INSERT INTO {full}.branch_trial SELECT id, 'trial' FROM range(900, 910)")
    lake.sql(f"INSERT INTO {full} SELECT id, 'second' FROM range(40, 60)")
    lake.sql(f"ALTER TABLE {full} CREATE TAG audit")
    first = readers.table_file(lake.location(TABLE)).metadata["snapshot-log"][0]["snapshot-id"]
    lake.sql(f"ALTER TABLE {full} ADD COLUMN day DATE")
    lake.sql(f"ALTER TABLE {full} ADD PARTITION FIELD day")
    lake.sql(f"ALTER TABLE {full} WRITE ORDERED BY day, id")
    lake.sql(f"INSERT INTO {full} SELECT id, 'third', DATE '2026-05-20' FROM range(60, 80)")
    lake.sql(f"DELETE FROM {full} WHERE id % 10 = 3")
    lake.sql(f"CALL {lake.name}.system.rollback_to_snapshot('{TABLE}', {first})")
    lake.sql(f"INSERT INTO {full} SELECT id, 'fourth', DATE '2026-05-21' FROM range(80, 90)")


def as_then(location: str, place: int) -> str:
    """A metadata file made anew, as of the log's entry of that place, beside the newest one."""
    path = Path(readers.plain_path(location))
    newest = read_metadata(path.read_bytes(), location)
    entry = newest.snapshot_log[place]
    snapshots = made_by(newest, entry, entry.timestamp_ms)
    schema_id = schema_by(newest, snapshots)
    wanted = AsOf(
        entry,
        snapshots,
        {file.path for file in reached_by(newest)},
        counters_of(path.read_bytes(), location),
        schema_id,
        later_specs(path.read_bytes(), location, schema_id),
    )
    made = path.with_name(f"00099-made-{place}.metadata.json")
    made.write_bytes(as_of(path.read_bytes(), location, wanted))
    return f"{location.rpartition('/')[0]}/{made.name}"


def point_to(lake: Lake, location: str) -> None:
    catalog = SqlCatalog(lake.name, database(f"sqlite:///{lake.sqlite_path}"), SystemClock())
    table = TableName(lake.name, ("db",), "orders")
    catalog.replace(table, location, expected=catalog.locate(table).metadata_location)
    lake.sql(f"REFRESH TABLE {lake.full(TABLE)}")


def read_as_then(lake: Lake, newest: str, truth: Truth, place: int) -> Truth:
    """All readers see every snapshot that was there, every moment until then, and by a plain read the one of then."""
    before = readers.table_file(newest)
    point_to(lake, as_then(newest, place))
    now = readers.table_file(lake.location(TABLE))
    log = before.metadata["snapshot-log"][: place + 1]
    assert now.metadata["snapshot-log"] == log
    then = Truth({each: truth.snapshots[each] for each in now.snapshot_ids}, {each: truth.moments[each] for each in now.moments})
    compare_all(then, truth_again(then, lake.location(TABLE), lake.spark, lake.full(TABLE)))
    current = log[-1]["snapshot-id"]
    plain = readers.print_of(lake.spark.table(lake.full(TABLE)).toArrow(), now.fields(current))
    assert plain == truth.snapshots[current]["spark"]
    return then


@pytest.mark.parametrize("version", [pytest.param(2, marks=pytest.mark.nightly), 3])
def test_every_state_that_the_log_knows_is_read_as_it_was(empty_lake: Lake, version: int) -> None:
    lake = empty_lake
    make(lake, version)
    truth, newest = lake.truth(TABLE), lake.location(TABLE)
    readers_agree(truth)
    held = [len(read_as_then(lake, newest, truth, place).snapshots) for place in range(6)]
    assert held == [1, 3, 4, 5, 5, 6], "the staged one came second; a rollback takes none away"


def test_the_table_of_then_has_a_life(empty_lake: Lake) -> None:
    """Of before a column came that the partitions go by now; what came later may be cleaned up at once."""
    lake = empty_lake
    make(lake, 3)
    then = read_as_then(lake, lake.location(TABLE), lake.truth(TABLE), 1)
    for path in maintenance.orphans(lake.spark, lake.full(TABLE)):
        Path(readers.plain_path(path)).unlink()
    life_after(lake.spark, lake.name, TABLE, then)
