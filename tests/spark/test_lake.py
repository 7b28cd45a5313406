"""The demo lake holds every kind of table that the rest of the tests count on."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest import Lake
from pyiceberg.catalog import load_catalog

from readers import TableFile, plain_path, table_file
from truth import readers_agree


def file_of(lake: Lake, table: str) -> TableFile:
    return table_file(lake.location(table))


def contents(lake: Lake, table: str) -> set[tuple[int, str]]:
    """Content (0 data, 1 position deletes) and format of all files of all snapshots."""
    rows = lake.spark.sql(f"SELECT DISTINCT content, file_format FROM {lake.full(table)}.all_files").collect()
    return {(row[0], row[1]) for row in rows}


def operations(lake: Lake, table: str) -> list[str]:
    return [each["summary"]["operation"] for each in file_of(lake, table).metadata["snapshots"]]


def test_there_are_all_format_versions(lake_as_made: Lake) -> None:
    versions = {table: file_of(lake_as_made, table).metadata["format-version"] for table in lake_as_made.tables()}
    assert (versions["shop.visits"], versions["shop.orders"], versions["shop.payments"]) == (1, 2, 3)


def test_there_are_deletes_of_both_kinds(lake_as_made: Lake) -> None:
    assert contents(lake_as_made, "shop.orders") == {(0, "PARQUET"), (1, "PARQUET")}
    assert contents(lake_as_made, "shop.payments") == {(0, "PARQUET"), (1, "PUFFIN")}
    assert file_of(lake_as_made, "shop.payments").metadata["next-row-id"] > 0


def test_rows_are_compacted_and_manifests_rewritten(lake_as_made: Lake) -> None:
    assert operations(lake_as_made, "shop.orders") == ["append", "delete", "overwrite", "append", "delete", "replace"]
    assert operations(lake_as_made, "shop.places") == ["append", "delete", "append", "replace"]


def test_partition_folders_carry_odd_names(lake_as_made: Lake) -> None:
    data = Path(plain_path(file_of(lake_as_made, "shop.places").metadata["location"])) / "data"
    odd = ["", "%252F", "%E6%9D%B1%E4%BA%AC", "1%2B1", "50%25+off", "S%C3%A3o+Paulo", "a%2Fb", "dot.", "it%27s", "k%3Dv", "x%2C+y"]
    assert {folder.name for folder in data.iterdir()} == {f"place={name}" for name in [*odd, "null", "new+place"]}


def test_schema_and_partitioning_have_evolved(lake_as_made: Lake) -> None:
    file = file_of(lake_as_made, "shop.products")
    assert len({each["schema-id"] for each in file.metadata["snapshots"]}) == 3
    assert len(file.metadata["partition-specs"]) == 2
    first, last = file.fields(file.snapshot_ids[0]), file.fields(file.snapshot_ids[-1])
    assert {each.id for each in first} != {each.id for each in last}
    assert [each.name for each in first + last if each.id == 2] == ["name", "title"]


def test_statistics_a_branch_and_an_expired_snapshot(lake_as_made: Lake) -> None:
    metadata = file_of(lake_as_made, "shop.customers").metadata
    assert len(metadata["statistics"]) == len(metadata["partition-statistics"]) == 1
    assert set(metadata["refs"]) == {"main", "trial"}
    assert metadata["snapshots"][0]["parent-snapshot-id"] not in {each["snapshot-id"] for each in metadata["snapshots"]}


def test_metadata_may_be_compressed_and_a_table_empty(lake_as_made: Lake) -> None:
    assert lake_as_made.location("shop.eu.north.stock").endswith(".gz.metadata.json")
    assert file_of(lake_as_made, "shop.wishes").snapshot_ids == []


def test_pyiceberg_shares_the_catalog(lake_as_made: Lake) -> None:
    catalog = load_catalog(lake_as_made.name, type="sql", uri=f"sqlite:///{lake_as_made.sqlite_path}")
    assert catalog.load_namespace_properties("shop")["team"] == "sales"
    assert catalog.load_namespace_properties("shop.eu.north")["team"] == "logistics"
    names = [name for namespace in ("shop", "shop.eu.north") for name in catalog.list_tables(namespace)]
    assert sorted(".".join(name) for name in names) == lake_as_made.tables()


@pytest.mark.parametrize("table", ["shop.orders", "shop.payments", "shop.products", "shop.eu.north.stock"])
def test_three_readers_see_the_same_rows(lake_as_made: Lake, table: str) -> None:
    readers_agree(lake_as_made.truth(table))


def test_a_lake_is_put_back_after_a_test_that_ruined_it(lake: Lake, _kept: Path) -> None:
    before = {table: lake.location(table) for table in lake.tables()}
    lake.sql(f"DROP TABLE {lake.full('shop.orders')} PURGE")
    lake.sql(f"INSERT INTO {lake.full('shop.wishes')} VALUES (1, 'peace')")
    lake.put_back(_kept)
    assert {table: lake.location(table) for table in lake.tables()} == before
    assert pq.read_table(next(lake.warehouse.rglob("orders/data/**/*.parquet"))).num_rows > 0
