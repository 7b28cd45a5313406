"""The life-after suite on tables that were never lost: it has to hold there before it can say anything of others."""

from pathlib import Path

import pytest
from conftest import Lake

from equality_deletes import make_table_with_equality_deletes
from life_after import life_after
from maintenance import java_table
from readers import plain_path
from truth import readers_agree

TABLES = ["shop.visits", "shop.orders", "shop.payments", "shop.places", "shop.products", "shop.customers", "shop.eu.north.stock"]


@pytest.mark.parametrize("table", TABLES)
def test_a_table_lives_on(lake: Lake, table: str) -> None:
    truth = lake.truth(table)
    readers_agree(truth)
    life_after(lake.spark, lake.name, table, truth)


def test_a_table_with_equality_deletes_lives_on(empty_lake: Lake) -> None:
    empty_lake.sql(f"CREATE NAMESPACE {empty_lake.name}.db")
    make_table_with_equality_deletes(empty_lake.spark, empty_lake.full("db.words"))
    truth = empty_lake.truth("db.words")
    readers_agree(truth)
    assert [readings["spark"].row_count for readings in truth.snapshots.values()] == [100, 98, 100, 99, 99, 98]
    life_after(empty_lake.spark, empty_lake.name, "db.words", truth)


def test_a_file_that_differs_is_noticed_at_once(lake: Lake) -> None:
    truth = lake.truth("shop.orders")
    small, large = smallest_and_largest_file(lake, "shop.orders")
    large.write_bytes(small.read_bytes())
    with pytest.raises(AssertionError, match="as it came back: "):
        life_after(lake.spark, lake.name, "shop.orders", truth)


def test_a_file_that_nobody_knows_is_an_orphan(lake: Lake) -> None:
    (Path(plain_path(lake.location("shop.orders"))).parent.parent / "data" / "stray.parquet").write_bytes(b"stray")
    with pytest.raises(AssertionError, match="would delete 1 files.*stray"):
        life_after(lake.spark, lake.name, "shop.orders", lake.truth("shop.orders"))


def test_a_path_that_was_committed_again_does_not_survive(lake: Lake) -> None:
    """The rule that grafts must keep: the core library deletes such a file although it is live."""
    table = java_table(lake.spark, lake.full("shop.places"))
    history = [entry.snapshotId() for entry in table.history()]
    removed = list(table.snapshot(history[1]).removedDataFiles(table.io()))
    table.newFastAppend().appendFile(removed[0]).commit()
    with pytest.raises(AssertionError, match="after expireSnapshots by the core library"):
        life_after(lake.spark, lake.name, "shop.places", lake.truth("shop.places"))


def smallest_and_largest_file(lake: Lake, table: str) -> tuple[Path, Path]:
    rows = lake.spark.sql(f"SELECT file_path FROM {lake.full(table)}.all_data_files ORDER BY record_count").collect()
    return Path(plain_path(rows[0][0])), Path(plain_path(rows[-1][0]))
