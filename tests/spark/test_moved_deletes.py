"""Position deletes and deletion vectors that Spark wrote, moved: Spark, PyIceberg and DuckDB still see no deleted row."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import readers
from bergung.carry.fingerprint import Fingerprint
from bergung.iceberg.relocate.deletes import relocate_position_deletes
from bergung.iceberg.relocate.formats.orc_file import OrcFile
from bergung.iceberg.relocate.formats.parquet_file import open_file
from bergung.iceberg.relocate.path_map import PathMap
from tests.moved_by_hand import move_table
from tests.spark.conftest import Lake

KINDS = [
    # delete format, codec, granularity
    ("parquet", "zstd", "file"),
    ("parquet", "zstd", "partition"),
    ("parquet", "lz4", "partition"),
    ("parquet", "gzip", "partition"),
    ("avro", "zstd", "partition"),
    ("avro", "gzip", "partition"),
    ("orc", "zlib", "partition"),
    ("orc", "zstd", "partition"),
    ("orc", "lzo", "partition"),
    ("orc", "none", "partition"),
    ("puffin", "", "file"),
]
PATH_ID = 2147483546
OTHERS = {"pyiceberg": readers.rows_by_pyiceberg, "duckdb": readers.rows_by_duckdb}
ONLY_SPARK = {"avro", "orc"}
NOT_DUCKDB = {"lz4"}
"""Parquet in the LZ4 of Hadoop."""


@pytest.mark.parametrize("by", ["folder", "file"])
@pytest.mark.parametrize(("file_format", "codec", "granularity"), KINDS)
def test_what_was_deleted_stays_deleted(empty_lake: Lake, file_format: str, codec: str, granularity: str, by: str) -> None:
    lake = empty_lake
    lake.sql(f"CREATE NAMESPACE {lake.name}.d")
    table = lake.full("d.t")
    make(lake, table, file_format, codec, granularity)
    others = () if file_format in ONLY_SPARK else ("pyiceberg",) if codec in NOT_DUCKDB else ("pyiceberg", "duckdb")
    before = readings(lake, table, lake.location("d.t"), others)
    deletes = deletes_of(lake, table)
    new = lake.folder / "elsewhere"
    moves = by_folder(lake, new) if by == "folder" else by_file(lake, table, new)

    location = move_table(lake.location("d.t"), moves)
    shutil.rmtree(lake.warehouse)
    lake.sql(f"CALL {lake.name}.system.register_table('d.moved', '{location}')")

    there = lake.full("d.moved")
    assert readings(lake, there, location, others) == before
    assert len(set(before.values())) == len({snapshot for _, snapshot in before}), "each delete took rows"
    assert deletes_of(lake, there) == sorted((moves.of(path), position) for path, position in deletes)
    if file_format != "puffin":
        expected_order(lake, there)


@pytest.mark.parametrize(("file_format", "granularity"), [("parquet", "file"), ("parquet", "partition"), ("orc", "file")])
def test_manifests_say_what_iceberg_says_of_its_own_files(empty_lake: Lake, file_format: str, granularity: str) -> None:
    """Sizes of columns, offsets of row groups, and the bounds of paths, whole and only where there is one path."""
    lake = empty_lake
    lake.sql(f"CREATE NAMESPACE {lake.name}.d")
    make(lake, lake.full("d.t"), file_format, "zstd", granularity)
    moves = by_folder(lake, lake.folder / "elsewhere")
    for before in lake.spark.sql(f"SELECT * FROM {lake.full('d.t')}.delete_files").collect():
        data = Path(readers.plain_path(before.file_path)).read_bytes()
        made = relocate_position_deletes(data, file_format, before.file_path, moves).rewritten
        paths = [moves.of(bound).encode() for bound in bounds_of(before)]
        if granularity == "file":
            assert made.bounds == (paths[0], paths[1]) and paths[0] == paths[1]
        else:
            assert not paths and made.bounds is not None and made.bounds[0] < made.bounds[1]
        if file_format == "orc":
            assert OrcFile(data, "x").stripe_offsets == tuple(before.split_offsets)
            continue
        own = open_file(data, "x")
        assert (own.column_sizes, own.split_offsets) == (before.column_sizes, tuple(before.split_offsets))
        assert made.column_sizes is not None and made.column_sizes.keys() == before.column_sizes.keys()


def bounds_of(row: Any) -> list[str]:
    """Of the paths, from the manifest."""
    sides = (row.lower_bounds or {}, row.upper_bounds or {})
    return [bytes(side[PATH_ID]).decode() for side in sides if PATH_ID in side]


def make(lake: Lake, table: str, file_format: str, codec: str, granularity: str) -> None:
    """Three data files, and deletes from all of them twice."""
    settings = {"format-version": "3"} if file_format == "puffin" else {
        "format-version": "2",
        "write.delete.format.default": file_format,
        f"write.delete.{file_format}.compression-codec": codec,
    }  # fmt: skip
    settings |= {"write.delete.mode": "merge-on-read", "write.delete.granularity": granularity}
    properties = ", ".join(f"'{key}' = '{value}'" for key, value in settings.items())
    lake.sql(f"CREATE TABLE {table} (id BIGINT, v STRING) USING iceberg TBLPROPERTIES ({properties})")
    for start in (0, 1000, 2000):
        lake.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ id, concat('v', id) FROM range({start}, {start + 1000})")
    for rest in (0, 2):
        lake.sql(f"DELETE FROM {table} WHERE id % 7 = {rest}")


def by_folder(lake: Lake, new: Path) -> PathMap:
    return PathMap(((lake.warehouse.as_uri(), f"file:{new}"),))


def by_file(lake: Lake, table: str, new: Path) -> PathMap:
    """The last data file by its name becomes the first, so that rows have to be sorted again."""
    paths = sorted(row.file_path for row in lake.spark.sql(f"SELECT DISTINCT file_path FROM {table}.all_data_files").collect())
    exact = {f"file://{readers.plain_path(path)}": f"file:{new}/beside/{9 - place}" for place, path in enumerate(paths)}
    return PathMap(by_folder(lake, new).pairs, exact)


def readings(lake: Lake, table: str, location: str, others: Sequence[str]) -> dict[tuple[str, int], Fingerprint]:
    """Every snapshot by Spark and by those of the others that know such deletes."""
    found = {}
    for snapshot in readers.all_snapshots(location):
        reads: dict[str, pa.Table] = {"spark": readers.rows_by_spark(lake.spark, table, snapshot)}
        reads |= {each: OTHERS[each](location, snapshot) for each in others}
        fields = readers.table_file(location).fields(snapshot)
        found |= {(reader, snapshot): readers.print_of(rows, fields) for reader, rows in reads.items()}
    return found


def deletes_of(lake: Lake, table: str) -> list[tuple[str, int]]:
    """As Iceberg itself reads the delete files."""
    rows: list[Any] = lake.spark.sql(f"SELECT file_path, pos FROM {table}.position_deletes").collect()
    return sorted((row.file_path, row.pos) for row in rows)


def expected_order(lake: Lake, table: str) -> None:
    """One file's rows come in the order in which they stand: by path and position."""
    for file in lake.spark.sql(f"SELECT file_path FROM {table}.delete_files").collect():
        rows = lake.spark.sql(
            f"SELECT file_path, pos FROM {table}.position_deletes WHERE delete_file_path = '{file.file_path}'"
        ).collect()
        keys = [(row.file_path, row.pos) for row in rows]
        assert keys == sorted(keys)
        assert len(keys) > 100
