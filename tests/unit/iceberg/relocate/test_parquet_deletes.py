"""Position deletes in Parquet under new paths: the same rows, types, statistics and metadata, whatever the writer chose."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bergung.errors import BergungError, CorruptFile, DamageFound, UnsupportedTable
from bergung.iceberg.relocate.deletes import check_position_deletes
from bergung.iceberg.relocate.formats import thrift
from bergung.iceberg.relocate.formats.moved_deletes import MovedDeletes
from bergung.iceberg.relocate.formats.parquet_file import open_file
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.rewritten import Rewritten
from tests.unit.iceberg.relocate.delete_files import (
    METADATA,
    PATH_ID,
    POS_ID,
    WHERE,
    Row,
    as_text,
    every_type,
    moved,
    of_id,
    parquet,
    rows_of_parquet,
    schema_of,
    table_of,
)

ONE = PathMap((("file:///w/t", "s3://n/t"),))
SEVERAL = PathMap((("file:///w/t", "s3://n/t"), ("/w/t/a", "s3://z/a"), ("/w/t/c", "s3://a/c")))
CODECS = ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]

PLAIN: list[Row] = [
    (f"file:/w/t/{folder}/{number}.parquet", pos) for folder in "abcd" for number in range(5) for pos in range(0, 300, 3)
]
WITH_ROWS: list[Row] = [(*row, every_type(place) if place % 7 else None) for place, row in enumerate(PLAIN)]


def targets(rows: Sequence[Row], moves: PathMap) -> list[Row]:
    """What the rows must become, in their order."""
    return [(moves.maybe(row[0]) or row[0], *row[1:]) for row in rows]  # type: ignore[misc]


def by_place(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row[0].encode(), row[1]))


def read(rows: Sequence[Row]) -> list[str]:
    """As these rows would be read from a file."""
    return rows_of_parquet(parquet(rows))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("rows", [PLAIN, WITH_ROWS], ids=["plain", "with rows"])
def test_one_pair_of_folders(rows: Sequence[Row], codec: str) -> None:
    old = parquet(rows, codec, group_rows=700)
    assert rows_of_parquet(moved(old, ONE).data) == read(targets(rows, ONE))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("rows", [PLAIN, WITH_ROWS], ids=["plain", "with rows"])
def test_rows_are_sorted_again_where_several_pairs_change_their_order(rows: Sequence[Row], codec: str) -> None:
    old = parquet(rows, codec, group_rows=700)
    wanted = by_place(targets(rows, SEVERAL))
    assert wanted != targets(rows, SEVERAL)
    found = moved(old, SEVERAL)
    assert rows_of_parquet(found.data) == read(wanted)
    assert [row_group.num_rows for row_group in groups(found.data)] == [700, 700, 600]


def groups(data: bytes) -> list[Any]:
    metadata = pq.read_metadata(pa.BufferReader(data))
    return [metadata.row_group(place) for place in range(metadata.num_row_groups)]


@pytest.mark.parametrize("moves", [ONE, SEVERAL], ids=["in order", "sorted again"])
def test_what_the_manifest_must_say(moves: PathMap) -> None:
    found = moved(parquet(WITH_ROWS, group_rows=700), moves)
    new = groups(found.data)
    paths = sorted({row[0] for row in targets(WITH_ROWS, moves)})
    columns = {field_id: place for place, field_id in enumerate([PATH_ID, POS_ID, *range(1, 18), 19, 21, 23, 25, 27])}
    assert found.rewritten == Rewritten(
        size_bytes=len(found.data),
        column_sizes={key: sum(group.column(place).total_compressed_size for group in new) for key, place in columns.items()},
        split_offsets=tuple(group.column(0).dictionary_page_offset for group in new),
        bounds=(paths[0].encode(), paths[-1].encode()),
    )
    assert new[0].column(0).dictionary_page_offset == 4
    assert [group[5][1] for group in open_file(found.data, WHERE).groups] == list(found.rewritten.split_offsets or ())
    for group in new:
        statistics = group.column(0).statistics
        assert (statistics.null_count, group.column(0).num_values) == (0, group.num_rows)
        assert paths[0] <= statistics.min <= statistics.max <= paths[-1]
        assert sum(group.column(place).total_uncompressed_size for place in range(group.num_columns)) == group.total_byte_size


def test_other_columns_go_along_as_bytes() -> None:
    """So that nothing has to be understood that nobody asks for."""
    old = parquet(WITH_ROWS, group_rows=700)
    found = moved(old, ONE).data
    for before, after in zip(groups(old), groups(found), strict=True):
        for place in range(1, before.num_columns):
            assert pages(found, after.column(place)) == pages(old, before.column(place))


def pages(data: bytes, column: Any) -> bytes:
    start = column.dictionary_page_offset or column.data_page_offset
    return data[start : start + column.total_compressed_size]


@pytest.mark.parametrize("moves", [ONE, SEVERAL], ids=["in order", "sorted again"])
def test_schema_and_metadata_stay(moves: PathMap) -> None:
    old = parquet(WITH_ROWS)
    before, after = (pq.ParquetFile(pa.BufferReader(data)) for data in (old, moved(old, moves).data))
    assert after.schema_arrow.equals(before.schema_arrow, check_metadata=True)
    assert after.schema_arrow.field("file_path").metadata == {b"PARQUET:field_id": str(PATH_ID).encode()}
    assert after.metadata.metadata == {key.encode(): value.encode() for key, value in METADATA.items()}
    assert (after.metadata.created_by, after.metadata.format_version) == (
        before.metadata.created_by,
        before.metadata.format_version,
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"use_dictionary": False},
        {"dictionary_pagesize_limit": 100},
        {"use_dictionary": False, "column_encoding": {"file_path": "DELTA_BYTE_ARRAY", "pos": "DELTA_BINARY_PACKED"}},
        {"use_dictionary": False, "column_encoding": {"file_path": "DELTA_LENGTH_BYTE_ARRAY"}},
        {"data_page_version": "2.0"},
        {"data_page_size": 64},
        {"version": "1.0"},
        {"write_statistics": False},
        {"write_page_checksum": False},
        {"store_schema": True},
    ],
    ids=str,
)
def test_however_the_writer_packed_them(settings: dict[str, Any]) -> None:
    old = parquet(PLAIN, group_rows=900, **settings)
    for moves in (ONE, SEVERAL):
        assert rows_of_parquet(moved(old, moves).data) == read(by_place(targets(PLAIN, moves)))


def test_large_decimals_in_bytes_and_small_ones_too() -> None:
    old = parquet(WITH_ROWS, store_decimal_as_integer=False)
    assert rows_of_parquet(moved(old, SEVERAL).data) == read(by_place(targets(WITH_ROWS, SEVERAL)))


@pytest.mark.parametrize("rows", [[], PLAIN[:1]], ids=len)
def test_files_of_no_row_and_of_one(rows: list[Row]) -> None:
    old = parquet(rows)
    assert rows_of_parquet(moved(old, ONE).data) == as_text(targets(rows, ONE))
    no_groups = pa.BufferOutputStream()
    pq.ParquetWriter(no_groups, schema_of(rows)).close()
    data = no_groups.getvalue().to_pybytes()
    assert moved(data, ONE) == MovedDeletes(data, Rewritten(len(data)), 0)


def test_an_empty_row_group_among_others() -> None:
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema_of(PLAIN), use_dictionary=["file_path"]) as writer:
        for rows in (PLAIN[:100], [], PLAIN[100:]):
            writer.write_table(table_of(rows, schema_of(PLAIN)))
    for moves in (ONE, SEVERAL):
        found = moved(sink.getvalue().to_pybytes(), moves).data
        assert [group.num_rows for group in groups(found)] == [100, 1900]
        assert rows_of_parquet(found) == as_text(by_place(targets(PLAIN, moves)))


def test_columns_are_found_by_id_and_else_by_name() -> None:
    swapped = pa.schema([of_id(POS_ID, "file_path", pa.int64()), of_id(PATH_ID, "pos", pa.string())])
    rows: list[Any] = [(1, "file:/w/t/a"), (2, "file:/w/t/c")]
    assert rows_of_parquet(moved(parquet(rows, schema=swapped), ONE).data) == as_text([(1, "s3://n/t/a"), (2, "s3://n/t/c")])
    nameless = pa.schema([("file_path", pa.string()), ("pos", pa.int64())])
    assert rows_of_parquet(moved(parquet(PLAIN, schema=nameless), SEVERAL).data) == as_text(by_place(targets(PLAIN, SEVERAL)))
    assert moved(parquet(PLAIN, schema=nameless), ONE).rewritten.column_sizes is None
    misleading = pa.schema([("file_path", pa.string()), of_id(PATH_ID, "path", pa.string()), of_id(POS_ID, "pos", pa.int64())])
    rows = [("file:/w/t/x", "file:/w/t/a", 1)]
    assert rows_of_parquet(moved(parquet(rows, schema=misleading), ONE).data) == as_text([("file:/w/t/x", "s3://n/t/a", 1)])  # type: ignore[list-item]
    as_binary = pa.schema([of_id(PATH_ID, "file_path", pa.binary()), of_id(POS_ID, "pos", pa.int64())])
    found = moved(parquet([(b"file:/w/t/a", 1)], schema=as_binary), ONE)
    assert rows_of_parquet(found.data) == as_text([(b"s3://n/t/a", 1)])  # type: ignore[list-item]


def refusal(data: bytes, moves: PathMap = ONE) -> BergungError:
    with pytest.raises(BergungError) as raised:
        moved(data, moves)
    assert raised.value.message.startswith(WHERE)
    assert raised.value.hint
    return raised.value


@pytest.mark.parametrize("moves", [ONE, SEVERAL], ids=["in order", "sorted again"])
def test_a_changed_byte_is_noticed_or_changes_no_row(moves: PathMap) -> None:
    """Bytes that carry no row, a writer's name for one, may differ; pages are under checksums, which are looked at."""
    rows = [*PLAIN[:2], *PLAIN[1000:1002]]
    whole = parquet(rows)
    wanted = as_text(by_place(targets(rows, moves)))
    noticed = 0
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        try:
            found = moved(bytes(damaged), moves)
        except (DamageFound, UnsupportedTable):
            noticed += 1
            continue
        as_strings = [row.replace("(b'", "('") for row in rows_of_parquet(found.data)]  # the meaning of a type is a byte too
        assert as_strings == wanted or rows_of_parquet(bytes(damaged)) == rows_of_parquet(found.data), place
    assert noticed > len(whole) / 2


@pytest.mark.parametrize(
    ("schema", "rows", "problem"),
    [
        (pa.schema([("path", pa.string()), ("pos", pa.int64())]), [("a", 1)], "0 columns file_path"),
        (pa.schema([of_id(PATH_ID, "a", pa.string()), of_id(PATH_ID, "b", pa.string())]), [("a", "b")], "2 columns file_path"),
        (pa.schema([("file_path", pa.int64()), ("pos", pa.int64())]), [(1, 1)], "no strings"),
        (pa.schema([("file_path", pa.string()), ("pos", pa.int64())]), [("file:/w/t/a", 1), (None, 1)], "no path"),
        (pa.schema([("file_path", pa.string()), ("pos", pa.int64())]), [("file:/w/t/a", None)], "no position"),
        (pa.schema([("file_path", pa.binary()), ("pos", pa.int64())]), [(b"\xff", 1)], "no text"),
        (pa.schema([("file_path", pa.list_(pa.string())), ("pos", pa.int64())]), [(["a"], 1)], "0 columns file_path"),
    ],
)
def test_what_is_no_position_delete_file(schema: pa.Schema, rows: list[Any], problem: str) -> None:
    assert problem in refusal(parquet(rows, schema=schema)).message


def test_what_cannot_be_kept_is_refused() -> None:
    old_times = pa.schema([*schema_of(PLAIN), pa.field("row", pa.struct([("t", pa.timestamp("ns"))]))])
    rows: list[Row] = [(*row, {"t": 0}) for row in PLAIN]
    old = parquet(rows, schema=old_times, use_deprecated_int96_timestamps=True)
    assert rows_of_parquet(moved(old, ONE).data) == rows_of_parquet(parquet(targets(rows, ONE), schema=old_times))
    assert "another order" in refusal(old, SEVERAL).message


@pytest.mark.parametrize("place", [0, -1])
def test_every_mark_is_looked_at(place: int) -> None:
    damaged = bytearray(parquet(PLAIN[:1]))
    damaged[place] ^= 1
    assert isinstance(refusal(bytes(damaged)), CorruptFile)


def columns(footer: Any) -> Any:
    """Of the first row group."""
    return footer[4][1][1][0][1][1][1]


HOSTILE: dict[str, Callable[[Any], Any]] = {
    "a column in another file": lambda footer: columns(footer)[1].update({1: (thrift.BINARY, b"other.parquet")}),
    "a column too few": lambda footer: columns(footer).pop(),
    "rows below nought": lambda footer: footer[4][1][1][0].update({3: (thrift.I64, -1)}),
    "rows as text": lambda footer: footer[4][1][1][0].update({3: (thrift.BINARY, b"1")}),
    "a size below nought": lambda footer: columns(footer)[1][3][1].update({6: (thrift.I64, -1)}),
    "pages before the file": lambda footer: columns(footer)[1][3][1].update({9: (thrift.I64, -9), 11: (thrift.I64, -9)}),
    "pages after the file": lambda footer: columns(footer)[1][3][1].update({7: (thrift.I64, 1 << 40)}),
    "a schema that ends early": lambda footer: footer[2][1][1].pop(),
    "no row groups": lambda footer: footer.pop(4),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_footers_that_make_no_sense(change: Callable[[Any], Any]) -> None:
    assert isinstance(refusal(with_footer(parquet(PLAIN[:9]), change)), CorruptFile)


def test_bytes_after_the_footer_are_noticed() -> None:
    whole = parquet(PLAIN[:9])
    size = int.from_bytes(whole[-8:-4], "little") + 1
    assert isinstance(refusal(whole[:-8] + b"x" + size.to_bytes(4, "little") + b"PAR1"), CorruptFile)


@pytest.mark.parametrize(
    "change",
    [
        lambda footer: footer.update({8: (thrift.STRUCT, {1: (thrift.STRUCT, {})})}),
        lambda footer: columns(footer)[0].update({8: (thrift.STRUCT, {})}),
        lambda footer: columns(footer)[1].update({9: (thrift.BINARY, b"")}),
    ],
    ids=["the file", "a column", "its metadata"],
)
def test_what_is_encrypted_under_a_plain_footer_is_refused(change: Callable[[Any], Any]) -> None:
    refused = refusal(with_footer(parquet(PLAIN[:9]), change))
    assert isinstance(refused, UnsupportedTable)
    assert "encrypted" in refused.message


def with_footer(data: bytes, change: Callable[[Any], Any]) -> bytes:
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer, _ = thrift.read(memoryview(data), start)
    change(footer)
    new = thrift.written(footer)
    return data[:start] + new + len(new).to_bytes(4, "little") + b"PAR1"


@pytest.mark.parametrize("mark", [b"PARE", b"AGS1"])
def test_encrypted_files_are_refused(mark: bytes) -> None:
    whole = parquet(PLAIN[:1])
    assert isinstance(refusal(mark + whole[4:-4] + mark), UnsupportedTable)


def test_a_wrong_file_is_not_taken_for_the_moved_one() -> None:
    old, new = parquet(WITH_ROWS), targets(WITH_ROWS, ONE)
    right = moved(old, ONE)
    wrong = {
        "paths": parquet([(new[-1][0], *new[0][1:]), *new[1:]]),
        "more or fewer": parquet(new[:-1]),
        "column pos": parquet([(new[0][0], 77, *new[0][2:]), *new[1:]]),
        "column row": parquet([(*new[0][:2], every_type(5)), *new[1:]]),
        "in another way": parquet(new, "gzip"),
        "metadata differ": parquet(new, schema=schema_of(new).with_metadata({"delete-type": "equality"})),
        "schema differs": parquet(
            new, schema=pa.schema([of_id(1, "file_path", pa.string(), False), *list(schema_of(new))[1:]], METADATA)
        ),
        "no statistics": parquet(new, write_statistics=False),
        "would say": parquet(new),
    }
    for problem, data in wrong.items():
        with pytest.raises(DamageFound, match=f"not what was meant: .*{problem}"):
            check_position_deletes(old, replace(right, data=data), "PARQUET", WHERE, ONE)
    with pytest.raises(DamageFound, match="would say"):
        check_position_deletes(old, replace(right, dangling_count=1), "PARQUET", WHERE, ONE)


def test_pandas_is_not_imported(tmp_path: Path) -> None:
    """It would cost every worker a second (design 4a)."""
    (tmp_path / "f.parquet").write_bytes(parquet(WITH_ROWS))
    program = """if True:
        import sys
        from bergung.iceberg.relocate.deletes import check_position_deletes, relocate_position_deletes
        from bergung.iceberg.relocate.path_map import PathMap
        data = open(sys.argv[1], "rb").read()
        for moves in (PathMap((("/w", "/x"),)), PathMap((("/w", "/x"), ("/w/t/a", "/z")))):
            moved = relocate_position_deletes(data, "PARQUET", "f", moves)
            check_position_deletes(data, moved, "PARQUET", "f", moves)
        print(sorted({"pandas", "pyiceberg", "pyspark"} & set(sys.modules)))
    """
    command = [sys.executable, "-c", program, str(tmp_path / "f.parquet")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"
