"""What engines do to a table as it lives on: writes, and the clean-ups that delete files.

Iceberg's core library is called through Spark's JVM: Trino, Flink and every Java service clean up with it.
"""

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyiceberg.table import Table

from readers import TableFile, is_local, plain_path, reach, table_file

FIVE_DAYS = 5 * 24 * 3600


def append(spark: Any, table: str) -> None:
    spark.sql(f"INSERT INTO {table} SELECT * FROM {table} LIMIT 3")


def delete_on_read(spark: Any, table: str) -> None:
    """Position deletes or deletion vectors; format version 1 has neither, so there data files are rewritten.

    Such a table is not upgraded: DuckDB (1.5.5) cannot read manifests of version 1 in a table of version 2.
    """
    if current_file(spark, table).metadata["format-version"] > 1:
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
    column = spark.table(table).columns[0]
    spark.sql(f"DELETE FROM {table} WHERE pmod(hash(`{column}`), 7) = 0")


def compact(spark: Any, table: str) -> None:
    _call(spark, table, "rewrite_data_files", "options => map('rewrite-all', 'true')")


def rewrite_manifests(spark: Any, table: str) -> None:
    _call(spark, table, "rewrite_manifests", "use_caching => false")


def expire_by_spark(spark: Any, table: str) -> None:
    """All that no branch, tag or age keeps."""
    _call(spark, table, "expire_snapshots", "older_than => current_timestamp(), retain_last => 1")


def expire_by_core(spark: Any, table: str, older_than_ms: int, *, incremental: bool) -> None:
    """By one of the two clean-ups that the library else chooses between by itself."""
    jvm = spark._jvm
    expire = java_table(spark, table).expireSnapshots().expireOlderThan(older_than_ms)
    types, values = spark._sc._gateway.new_array(jvm.Class, 1), spark._sc._gateway.new_array(jvm.Object, 1)
    types[0], values[0] = jvm.java.lang.Boolean.TYPE, incremental
    choose = expire.getClass().getDeclaredMethod("withIncrementalCleanup", types)
    choose.setAccessible(True)
    choose.invoke(expire, values).commit()


def expire_ids_by_core(spark: Any, table: str, snapshot_ids: Iterable[int]) -> None:
    expire = java_table(spark, table).expireSnapshots()
    for each in snapshot_ids:
        expire = expire.expireSnapshotId(each)
    expire.commit()


def expire_by_pyiceberg(table: Table, snapshot_ids: list[int]) -> None:
    table.maintenance.expire_snapshots().by_ids(snapshot_ids).commit()


def orphans(spark: Any, table: str) -> list[str]:
    """What `remove_orphan_files` would delete in five days."""
    location = current_file(spark, table).metadata["location"]
    if not is_local(location):
        return _orphans_among(spark, table, _older_files(spark, table, location))
    for path in Path(plain_path(location)).rglob("*"):
        modified = path.stat().st_mtime - FIVE_DAYS
        os.utime(path, (modified, modified))
    return [row[0] for row in _call(spark, table, "remove_orphan_files", "dry_run => true").collect()]


def tag(spark: Any, table: str, snapshot_id: int) -> None:
    spark.sql(f"ALTER TABLE {table} CREATE OR REPLACE TAG kept_{snapshot_id} AS OF VERSION {snapshot_id}")


def untag(spark: Any, table: str, snapshot_id: int) -> None:
    spark.sql(f"ALTER TABLE {table} DROP TAG IF EXISTS kept_{snapshot_id}")


def drop_all_refs(spark: Any, table: str) -> None:
    """Every branch and tag but main."""
    for name, kind in spark.sql(f"SELECT name, type FROM {table}.refs WHERE name <> 'main'").collect():
        spark.sql(f"ALTER TABLE {table} DROP {kind} `{name}`")


def metadata_location(spark: Any, table: str) -> str:
    """The metadata file that the catalog names now."""
    return str(java_table(spark, table).operations().current().metadataFileLocation())


def current_file(spark: Any, table: str) -> TableFile:
    return table_file(metadata_location(spark, table), reach(spark, table))


def java_table(spark: Any, table: str) -> Any:
    return spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, table)


def _older_files(spark: Any, table: str, location: str) -> Any:
    """The procedure's own list, each file five days older: the age of an object cannot be changed."""
    found = java_table(spark, table).io().listPrefix(f"{location}/").iterator()
    files = []
    while found.hasNext():
        each = found.next()
        files.append((each.location(), datetime.fromtimestamp(each.createdAtMillis() / 1000 - FIVE_DAYS, UTC)))
    assert files, f"nothing is listed below {location}"
    return spark.createDataFrame(files, "file_path STRING, last_modified TIMESTAMP")


def _orphans_among(spark: Any, table: str, files: Any) -> list[str]:
    files.createOrReplaceTempView("files_of_a_table")
    arguments = "dry_run => true, file_list_view => 'files_of_a_table'"
    return [row[0] for row in _call(spark, table, "remove_orphan_files", arguments).collect()]


def _call(spark: Any, table: str, procedure: str, arguments: str) -> Any:
    catalog, _, name = table.partition(".")
    return spark.sql(f"CALL {catalog}.system.{procedure}(table => '{name}', {arguments})")
