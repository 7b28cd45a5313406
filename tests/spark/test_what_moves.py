"""Tables of every kind get other paths: with the original out of sight, each snapshot reads as it did, by each reader."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import new_lake
from pyspark.sql import SparkSession
from two_lakes import TwoLakes, local, two_lakes

from maintenance import current_file, expire_by_spark, rewrite_manifests
from partition_kinds import make_table_of_kinds, rows_of_every_snapshot
from position_deletes import add_file, data_files, delete_positions
from readers import table_file
from tests.avro_files import rows as avro_rows

MERGE_ON_READ = ", ".join(f"'write.{verb}.mode' = 'merge-on-read'" for verb in ("delete", "update", "merge"))


@pytest.fixture(scope="module", params=["file:", "file://"])
def lakes(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[TwoLakes]:
    """Of a warehouse `file:///a` Spark writes the location so, and the paths of files as `file:/a`."""
    yield two_lakes(spark, tmp_path_factory.mktemp("moves"), request.param)


@pytest.fixture(scope="module")
def one(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> TwoLakes:
    return two_lakes(spark, tmp_path_factory.mktemp("one"), "file://")


def create(lakes: TwoLakes, table: str, columns: str = "id BIGINT", rest: str = "", version: int = 2, more: str = "") -> None:
    said = ", ".join(filter(None, (f"'format-version' = '{version}'", more)))
    lakes.lake.sql(f"CREATE TABLE {table} ({columns}) USING iceberg {rest} TBLPROPERTIES ({said})")


def insert(lakes: TwoLakes, table: str, *starts: int) -> None:
    for start in starts:
        lakes.lake.sql(f"INSERT INTO {table} SELECT id FROM range({start}, {start} + 4, 1, 1)")


def both_versions(lakes: TwoLakes, table: str) -> None:
    """v1, then v2 with position deletes, then v3 with deletion vectors beside these."""
    create(lakes, table, version=1)
    insert(lakes, table, 0)
    for version in (2, 3):
        lakes.lake.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '{version}', {MERGE_ON_READ})")
        insert(lakes, table, 10 * version)
        lakes.lake.sql(f"DELETE FROM {table} WHERE id = {10 * version + 1}")


def test_versions_1_to_3_in_one_table_of_a_warehouse_of_either_spelling(lakes: TwoLakes) -> None:
    table = lakes.lake.full("db.ages")
    # DuckDB (1.5.5) cannot read manifests of version 1 in a table of version 2: Spark and PyIceberg do.
    create(lakes, table)
    insert(lakes, table, 0)
    lakes.lake.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '3', {MERGE_ON_READ})")
    insert(lakes, table, 10)
    lakes.lake.sql(f"DELETE FROM {table} WHERE id IN (1, 11)")
    written = data_files(lakes.lake.spark, table)
    assert {path.partition("/tmp")[0] for path in written} == {"file:"}
    lakes.moved("db.ages")
    again = data_files(lakes.lake.spark, lakes.there.full("db.ages"))
    assert {path.startswith("file:///") for path in again} == {True} and len(again) == len(written)


def test_delete_files_that_manifests_and_snapshots_share(one: TwoLakes) -> None:
    """One delete file is for two data files; its entry stands in two manifests, and each of these in several lists."""
    table, spark = one.lake.full("db.shared"), one.lake.spark
    create(one, table)
    insert(one, table, 0, 4)
    first, second = data_files(spark, table)
    delete_positions(spark, table, [(first, 0), (second, 1)], "both")
    insert(one, table, 8)
    rewrite_manifests(spark, table)
    delete_positions(spark, table, [(first, 2)], "more")
    rewrite_manifests(spark, table)
    assert rows_of_manifests(one, "db.shared")["both.parquet"] == 2
    one.moved("db.shared")


def rows_of_manifests(lakes: TwoLakes, table: str) -> Counter[str]:
    """How many entries of all manifests name a file, by the name."""
    manifests = set()
    for snapshot in table_file(lakes.pointer(lakes.lake, table)).metadata["snapshots"]:
        manifests |= {row["manifest_path"] for row in avro_rows(local(snapshot["manifest-list"]).read_bytes())}
    entries = (row for path in manifests for row in avro_rows(local(path).read_bytes()))
    return Counter(Path(row["data_file"]["file_path"]).name for row in entries)


def test_several_deletion_vectors_in_one_puffin(one: TwoLakes) -> None:
    table = one.lake.full("db.vectors")
    create(one, table, version=3, more=MERGE_ON_READ)
    insert(one, table, 0, 4, 8)
    one.lake.sql(f"DELETE FROM {table} WHERE id IN (1, 6, 9)")
    one.lake.sql(f"UPDATE {table} SET id = id + 100 WHERE id = 5")
    (most,) = rows_of_manifests(one, "db.vectors").most_common(1)
    assert most[0].endswith(".puffin") and most[1] >= 3
    # Rows keep their ids, and the commit that changed them last: Spark reads both, in every snapshot.
    assert all("spark lineage" in readings for readings in one.truth("db.vectors").snapshots.values())
    one.moved("db.vectors")


def test_entries_of_files_that_are_gone(one: TwoLakes) -> None:
    table = one.lake.full("db.gone")
    create(one, table)
    insert(one, table, 0, 4)
    old = data_files(one.lake.spark, table)
    one.lake.sql(f"DELETE FROM {table} WHERE id < 4")
    expire_by_spark(one.lake.spark, table)
    assert [local(path).exists() for path in old].count(False) == 1
    insert(one, table, 8)
    one.moved("db.gone")


def test_snapshots_that_were_rolled_back_or_only_staged(one: TwoLakes) -> None:
    table, spark = one.lake.full("db.staged"), one.lake.spark
    create(one, table, more="'write.wap.enabled' = 'true'")
    insert(one, table, 0)
    before = current_file(spark, table).metadata["current-snapshot-id"]
    insert(one, table, 4)
    one.lake.sql(f"CALL {one.lake.name}.system.rollback_to_snapshot('db.staged', {before})")
    spark.conf.set("spark.wap.id", "audit")
    try:
        insert(one, table, 8)
    finally:
        spark.conf.unset("spark.wap.id")
    insert(one, table, 12)
    staged = [each for each in current_file(spark, table).metadata["snapshots"] if "wap.id" in each["summary"]]
    assert len(staged) == 1
    one.lake.sql(f"ALTER TABLE {table} CREATE BRANCH side")
    one.lake.sql(f"INSERT INTO {table}.branch_side VALUES (99)")
    one.moved("db.staged")
    one.lake.sql(f"CALL {one.there.name}.system.publish_changes('db.staged', 'audit')")
    assert one.sql(f"SELECT count(*) FROM {one.there.full('db.staged')}") == [(12,)]


def test_partitions_and_columns_that_changed(one: TwoLakes) -> None:
    table = one.lake.full("db.evolved")
    create(one, table, "id BIGINT, word STRING", "PARTITIONED BY (bucket(2, id))", more=MERGE_ON_READ)
    for change in (
        "INSERT INTO {} SELECT id, concat('w', id) FROM range(6)",
        "ALTER TABLE {} DROP COLUMN word",
        "ALTER TABLE {} ADD COLUMN word INT",
        "ALTER TABLE {} REPLACE PARTITION FIELD bucket(2, id) WITH truncate(4, id)",
        "INSERT INTO {} SELECT id, int(id) FROM range(6, 12)",
        "DELETE FROM {} WHERE id IN (2, 7)",
        "ALTER TABLE {} DROP PARTITION FIELD truncate(4, id)",
        "INSERT INTO {} VALUES (20, 20)",
    ):
        one.lake.sql(change.format(table))
    one.moved("db.evolved")


def test_a_table_without_rows_and_one_without_snapshots(one: TwoLakes) -> None:
    for name in ("none", "bare"):
        create(one, one.lake.full(f"db.{name}"))
    insert(one, one.lake.full("db.none"), 0)
    one.lake.sql(f"DELETE FROM {one.lake.full('db.none')}")
    one.moved("db.none")
    assert one.backup(one.lake.full("db.bare")).failed == {}
    with one.out_of_sight():
        one.restored("db.bare")
        assert one.sql(f"SELECT * FROM {one.there.full('db.bare')}") == []
        insert(one, one.there.full("db.bare"), 0)
        assert len(one.sql(f"SELECT * FROM {one.there.full('db.bare')}")) == 4


@pytest.mark.parametrize(
    "name",
    ["a,b", "a b", "Größe 東京", "%2F", "a%20b", "a+b=c&d", "x//y", "it's"],
    ids=["comma", "space", "unicode", "%2F", "%20", "signs", "two slashes", "quote"],
)
def test_odd_names_in_every_path(one: TwoLakes, name: str) -> None:
    """Of the folder, of files in it, and of the folder that it goes to."""
    number = sum(map(ord, name))
    table, location = one.lake.full(f"db.odd{number}"), f"file:{one.lake.warehouse}/odd/{name}/t"
    # Spark cannot take a location such as this in a statement, Iceberg's library can.
    create(one, table)
    one.lake.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.data.path' = '{location.replace(chr(39), chr(92) + chr(39))}')")
    insert(one, table, 0)
    add_file(one.lake.spark, table, f"{location}/{name}.parquet", [10, 11, 12])
    add_file(one.lake.spark, table, f"{location}/deeper/{name}.parquet", [20, 21, 22])
    named = [path for path in data_files(one.lake.spark, table) if path.endswith(f"/{name}.parquet")]
    delete_positions(one.lake.spark, table, [(path, 1) for path in named], "odd")
    assert len(one.sql(f"SELECT * FROM {table}")) == 8
    one.moved(f"db.odd{number}", location=f"{one.there.warehouse.as_uri()}/moved/{name}/t")


def test_equal_names_in_nested_folders(one: TwoLakes) -> None:
    """Two folders move to two places, and the files below them have the same names."""
    table, spark = one.lake.full("db.nested"), one.lake.spark
    create(one, table)
    base, beside = f"file:{one.lake.warehouse}/db/nested", f"file:{one.lake.warehouse}/side"
    one.lake.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.data.path' = '{beside}')")
    paths = [f"{base}/x.parquet", f"{base}/data/x.parquet", f"{base}/data/data/x.parquet", f"{beside}/data/x.parquet"]
    for place, path in enumerate(paths):
        add_file(spark, table, path, [10 * place, 10 * place + 1, 10 * place + 2])
    delete_positions(spark, table, [(paths[1], 0), (paths[3], 2)], "nested")
    one.moved("db.nested")


@pytest.mark.parametrize("outside", [False, True], ids=["inside", "outside"])
def test_object_storage_layout(one: TwoLakes, outside: bool) -> None:
    name = f"objects{int(outside)}"
    path = f", 'write.data.path' = 'file:{one.lake.warehouse}/elsewhere/{name}'" if outside else ""
    more = f"'write.object-storage.enabled' = 'true'{path}"
    create(one, one.lake.full(f"db.{name}"), rest="PARTITIONED BY (truncate(2, id))", more=more)
    insert(one, one.lake.full(f"db.{name}"), 0, 4)
    one.moved(f"db.{name}")
    insert(one, one.there.full(f"db.{name}"), 8)
    assert {str(one.there.warehouse) in path for path in data_files(one.lake.spark, one.there.full(f"db.{name}"))} == {True}


def test_the_folder_of_metadata_moved_in_mid_life(one: TwoLakes) -> None:
    table = one.lake.full("db.roaming")
    create(one, table)
    insert(one, table, 0)
    for folder in (f"file:{one.lake.warehouse}/db/roaming/other", f"file:{one.lake.warehouse}/quite/elsewhere"):
        one.lake.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.metadata.path' = '{folder}')")
        insert(one, table, 4)
    pointer = one.moved("db.roaming")
    assert all(local(each["metadata-file"]).is_file() for each in table_file(pointer).metadata["metadata-log"])


def test_the_copy_of_a_copy(one: TwoLakes, tmp_path: Path) -> None:
    """Backed up where it came back, restored once more, to a shorter place; nothing of either original is needed."""
    table = one.lake.full("db.hops")
    both_versions_2_and_3(one, table)
    one.moved("db.hops", to="db.hop_one")
    third = new_lake(one.lake.spark, "third", tmp_path / "third")
    third.sql("CREATE NAMESPACE third.db")
    with one.out_of_sight():
        TwoLakes(one.there, one.url, one.effects, third).moved("db.hop_one", location=f"{third.warehouse.as_uri()}/h")


def both_versions_2_and_3(lakes: TwoLakes, table: str) -> None:
    create(lakes, table, more=MERGE_ON_READ)
    insert(lakes, table, 0, 10)
    lakes.lake.sql(f"DELETE FROM {table} WHERE id IN (1, 11)")
    lakes.lake.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '3')")
    insert(lakes, table, 20)
    lakes.lake.sql(f"DELETE FROM {table} WHERE id IN (2, 21)")


def test_version_1_becomes_2_becomes_3(one: TwoLakes) -> None:
    """DuckDB (1.5.5) cannot read manifests of version 1 in a table of version 2: Spark reads each snapshot."""
    table = one.lake.full("db.three")
    both_versions(one, table)

    snapshots = table_file(one.pointer(one.lake, "db.three")).snapshot_ids

    def read(lake: str) -> list[object]:
        return [sorted(one.sql(f"SELECT * FROM {lake}.db.three VERSION AS OF {each}")) for each in snapshots]

    before = read(one.lake.name)
    assert [len(rows) for rows in before] == [4, 8, 7, 11, 10]
    assert one.backup(table).failed == {}
    with one.out_of_sight():
        one.restored("db.three")
        assert read(one.there.name) == before


def test_partitions_by_values_of_every_kind(one: TwoLakes) -> None:
    """Spark has no type for some, PyIceberg (0.12) cannot read manifests with nanoseconds: Iceberg's library reads all."""
    spark = one.lake.spark
    make_table_of_kinds(spark, one.lake.name, "db", "kinds")
    before = rows_of_every_snapshot(spark, one.lake.full("db.kinds"))
    assert [len(rows) for rows in before.values()] == [1, 2, 1]
    assert one.backup(one.lake.full("db.kinds")).failed == {}
    with one.out_of_sight():
        one.restored("db.kinds")
        assert rows_of_every_snapshot(spark, one.there.full("db.kinds")) == before


def test_a_thousand_columns(one: TwoLakes) -> None:
    table = one.lake.full("db.wide")
    columns = ", ".join(f"c{place} INT" for place in range(1000))
    create(one, table, f"id BIGINT, {columns}", more="'write.metadata.metrics.default' = 'full'")
    values = ", ".join(f"{place}" for place in range(1000))
    for start in (0, 4):
        one.lake.sql(f"INSERT INTO {table} SELECT id, {values} FROM range({start}, {start} + 4, 1, 1)")
    one.moved("db.wide")
