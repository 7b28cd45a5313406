"""Position deletes in ORC: Iceberg knows columns by attributes of types, which must stay; what Arrow cannot keep is refused."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pytest

from bergung.errors import BergungError, CorruptFile, DamageFound, UnsupportedTable
from bergung.iceberg.relocate.deletes import check_position_deletes
from bergung.iceberg.relocate.formats.orc_file import OrcFile
from bergung.iceberg.relocate.path_map import PathMap
from tests.unit.iceberg.relocate.delete_files import PATH_ID, POS_ID, WHERE, Row, moved
from tests.unit.iceberg.relocate.delete_formats import of_orc, orc_file, orc_schema, rows_of, some_row

ONE = PathMap((("file:///w/t", "s3://n/t"),))
SEVERAL = PathMap((("file:///w/t", "s3://n/t"), ("/w/t/a", "s3://z/a")))
ROWS: list[Row] = [
    (f"file:/w/t/{folder}/{number}", pos, some_row(pos)) for folder in "ab" for number in range(9) for pos in range(900)
]

both = pytest.mark.parametrize("moves", [ONE, SEVERAL], ids=["in order", "sorted again"])


def opened(data: bytes) -> orc.ORCFile:
    return orc.ORCFile(pa.BufferReader(data))


@both
def test_attributes_stay_on_every_level(moves: PathMap) -> None:
    old = orc_file(ROWS)
    before, after = opened(old).schema, opened(moved(old, moves, "ORC").data).schema
    assert after.equals(before, check_metadata=True)
    assert after.field("row").type.field("list").type.value_field.metadata == {b"iceberg.id": b"17", b"iceberg.required": b"false"}


@both
def test_how_it_is_packed_stays(moves: PathMap) -> None:
    old = orc_file(ROWS, "snappy", compression_block_size=128 * 1024, row_index_stride=5000)
    new = opened(moved(old, moves, "ORC").data)
    assert (new.compression, new.compression_size, new.row_index_stride) == ("SNAPPY", 128 * 1024, 5000)


@both
def test_several_stripes(moves: PathMap) -> None:
    old = orc_file(ROWS, stripe_size=1024, batch_size=100)
    assert opened(old).nstripes > 1
    found = moved(old, moves, "ORC")
    offsets = found.rewritten.split_offsets or ()
    assert len(offsets) == opened(found.data).nstripes
    assert offsets[0] == len(b"ORC")
    paths = sorted({moves.of(str(row[0])).encode() for row in ROWS})
    assert found.rewritten.bounds == (paths[0], paths[-1]) == OrcFile(found.data, WHERE).bounds("file_path")


def test_paths_that_are_all_different_have_no_dictionary_and_come_along() -> None:
    rows: list[Row] = [(f"file:/w/t/{number:05}", number) for number in range(20_000)]
    assert rows_of("ORC", moved(orc_file(rows), ONE, "ORC").data)[-1] == "('s3://n/t/19999', 19999)"


def test_columns_are_found_by_id_and_else_by_name() -> None:
    swapped = pa.schema([of_orc(POS_ID, "file_path", pa.int64()), of_orc(PATH_ID, "pos", pa.string())])
    rows: list[Any] = [(1, "file:/w/t/b"), (2, "file:/w/t/a/c")]
    found = rows_of("ORC", moved(orc_file(rows, schema=swapped), SEVERAL, "ORC").data)
    assert found == ["(1, 's3://n/t/b')", "(2, 's3://z/a/c')"]
    nameless = pa.schema([("file_path", pa.string()), ("pos", pa.int64())])
    assert rows_of("ORC", moved(orc_file([("file:/w/t/b", 1)], schema=nameless), ONE, "ORC").data) == ["('s3://n/t/b', 1)"]


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_rows_with_timestamps_are_refused_where_something_changes(zone: str | None) -> None:
    schema = orc_schema(True, pa.struct([of_orc(1, "t", pa.timestamp("ns", zone))]))
    old = orc_file([("file:/w/t/a", 1, {"t": datetime(2020, 1, 1)})], schema=schema)  # noqa: DTZ001
    refused = refusal(old)
    assert isinstance(refused, UnsupportedTable)
    assert "rewrite_position_delete_files" in refused.hint
    assert moved(old, PathMap((("s3://x", "s3://y"),)), "ORC").data == old


@pytest.mark.parametrize(
    ("schema", "rows", "problem"),
    [
        (pa.schema([("path", pa.string()), ("pos", pa.int64())]), [("a", 1)], "0 columns file_path"),
        (pa.schema([("file_path", pa.int64()), ("pos", pa.int64())]), [(1, 1)], "no strings"),
        (pa.schema([("file_path", pa.string()), ("pos", pa.int64())]), [("file:/w/t/a", 1), (None, 1)], "no path"),
        (pa.schema([("file_path", pa.string()), ("pos", pa.int64())]), [("file:/w/t/a", None)], "no position"),
    ],
)
def test_what_is_no_position_delete_file(schema: pa.Schema, rows: list[Any], problem: str) -> None:
    refused = refusal(orc_file(rows, schema=schema))
    assert isinstance(refused, CorruptFile)
    assert problem in refused.message


def refusal(data: bytes) -> BergungError:
    with pytest.raises(BergungError) as raised:
        moved(data, ONE, "ORC")
    return raised.value


def test_other_attributes_are_not_taken_for_the_same() -> None:
    rows: list[Row] = [("file:/w/t/a", 1)]
    old = orc_file(rows)
    right = moved(old, ONE, "ORC")
    other = pa.schema([of_orc(PATH_ID, "file_path", pa.string()), of_orc(POS_ID, "pos", pa.int64())])
    wrong = orc_file([("s3://n/t/a", 1)], schema=other)
    with pytest.raises(DamageFound, match="its schema differs"):
        check_position_deletes(old, replace(right, data=wrong), "ORC", WHERE, ONE)
