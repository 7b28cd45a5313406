"""What holds for position deletes of every format: each row goes along under its new path, and none is lost, changed or added."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bergung.errors import BergungError, CorruptFile, DamageFound, UnsupportedTable
from bergung.iceberg.avro import open_container
from bergung.iceberg.relocate.deletes import check_position_deletes, relocate_position_deletes
from bergung.iceberg.relocate.formats.moved_deletes import MovedDeletes
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.rewritten import Rewritten
from tests.unit.iceberg.relocate.delete_files import WHERE, Row, as_text, every_type, moved
from tests.unit.iceberg.relocate.delete_formats import CODECS, FORMATS, made, rows_of, some_row

ONE = PathMap((("file:///w/t", "s3://n/t"),))
SEVERAL = PathMap((("file:///w/t", "s3://n/t"), ("/w/t/a", "s3://z/a"), ("/w/t/c", "s3://a/c")))

PLAIN: list[Row] = [
    (f"file:/w/t/{folder}/{number}.parquet", pos) for folder in "abcd" for number in range(5) for pos in range(0, 300, 3)
]

formats = pytest.mark.parametrize("file_format", FORMATS)


def with_rows(file_format: str) -> list[Row]:
    row = every_type if file_format == "PARQUET" else some_row
    return [(*each, row(place) if place % 7 else None) for place, each in enumerate(PLAIN)]


def targets(rows: Sequence[Row], moves: PathMap) -> list[Row]:
    """What the rows must become, in their order."""
    return [(moves.maybe(row[0]) or row[0], *row[1:]) for row in rows]  # type: ignore[misc]


def by_place(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row[0].encode(), row[1]))


@pytest.mark.parametrize(("file_format", "codec"), [(each, codec) for each in FORMATS for codec in CODECS[each]])
def test_every_codec_in_order_and_sorted_again(file_format: str, codec: str) -> None:
    for rows in (PLAIN, with_rows(file_format)):
        old = made(file_format, rows, codec)
        assert rows_of(file_format, moved(old, ONE, file_format).data) == read(file_format, targets(rows, ONE))
        wanted = by_place(targets(rows, SEVERAL))
        assert wanted != targets(rows, SEVERAL)
        assert rows_of(file_format, moved(old, SEVERAL, file_format).data) == read(file_format, wanted)


def read(file_format: str, rows: Sequence[Row]) -> list[str]:
    """As these rows would be read from a file."""
    return rows_of(file_format, made(file_format, rows))


@formats
def test_rows_without_a_place_are_kept_and_counted(file_format: str) -> None:
    rows: list[Row] = [("file:/w/t/a", 1), ("file:/w/t/b", 1), ("s3://gone/x", 1), ("s3://gone/x", 5), ("s3://gone/y", 0)]
    found = moved(made(file_format, rows), ONE, file_format)
    assert found.dangling_count == 3
    assert rows_of(file_format, found.data) == as_text(by_place(targets(rows, ONE)))
    assert found.rewritten.size_bytes == len(found.data)
    assert found.rewritten.bounds == (b"s3://gone/x", b"s3://n/t/b")


@formats
def test_where_all_is_gone_the_bounds_are_said_all_the_same(file_format: str) -> None:
    """Whoever writes the manifest could not move them either."""
    untouched = made(file_format, [("s3://gone/x", 1), ("s3://gone/y", 0)])
    wanted = Rewritten(len(untouched), bounds=(b"s3://gone/x", b"s3://gone/y"))
    assert moved(untouched, ONE, file_format) == MovedDeletes(untouched, wanted, 2)


@formats
def test_a_map_to_itself_changes_nothing(file_format: str) -> None:
    same = PathMap((("file:///w/t", "file:///w/t"),))
    for rows in (PLAIN, list(reversed(PLAIN))):
        old = made(file_format, rows)
        assert moved(old, same, file_format) == MovedDeletes(old, Rewritten(len(old)), 0)


@formats
def test_two_spellings_of_one_file_become_one_and_their_rows_one_sequence(file_format: str) -> None:
    one, other = some_row(1), some_row(2)
    rows: list[Row] = [("file:/w/t/a", 1, one), ("file:/w/t/a", 7, None), ("file:///w/t/a", 1, other), ("file:///w/t/a", 3, one)]
    new: list[Row] = [("s3://n/t/a", 1, one), ("s3://n/t/a", 1, other), ("s3://n/t/a", 3, one), ("s3://n/t/a", 7, None)]
    if file_format == "PARQUET":
        rows, new = ([(*row[:2], row[2] and every_type(row[1])) for row in each] for each in (rows, new))  # type: ignore[misc]
    assert rows_of(file_format, moved(made(file_format, rows), ONE, file_format).data) == read(file_format, new)


@formats
def test_rows_that_were_never_sorted_stay_where_they_are(file_format: str) -> None:
    rows = list(reversed(PLAIN))
    assert rows_of(file_format, moved(made(file_format, rows), ONE, file_format).data) == as_text(targets(rows, ONE))


@formats
def test_the_order_is_that_of_code_points(file_format: str) -> None:
    """As Iceberg's Comparators.charSequences has it; UTF-16's own order would put the second before the first."""
    rows: list[Row] = [("file:/w/t/a/\uffee", 1), ("file:/w/t/b/\U0001f600", 1)]
    moves = PathMap((("/w/t/a", "s3://n"), ("/w/t/b", "s3://n")))
    assert rows_of(file_format, moved(made(file_format, rows), moves, file_format).data) == as_text(targets(rows, moves))
    back = PathMap((("/w/t/a", "s3://n"), ("/w/t/b", "s3://m")))
    assert rows_of(file_format, moved(made(file_format, rows), back, file_format).data) == as_text(targets(rows, back)[::-1])
    same_folder = PathMap((("/w/t/a", "s3://n"), ("/w/t/b", "s3://n"), ("/w/u", "s3://n")))
    mixed: list[Row] = [("file:/w/t/b/\uffee", 1), ("file:/w/u/\U0001f600", 2), ("file:/w/u/a", 3)]
    wanted = as_text([("s3://n/a", 3), ("s3://n/\uffee", 1), ("s3://n/\U0001f600", 2)])
    assert rows_of(file_format, moved(made(file_format, mixed), same_folder, file_format).data) == wanted


@formats
def test_odd_names_go_along_letter_by_letter(file_format: str) -> None:
    names = sorted(["a%2Fb", "a b", "a,b", "ü", "a'b\"c", "\U0001f600", "x" * 900, "a\tb"])
    rows: list[Row] = [(f"file:/w/t/p={name}/f.parquet", 3) for name in names]
    wanted = as_text([(f"s3://n/t/p={name}/f.parquet", 3) for name in names])
    assert rows_of(file_format, moved(made(file_format, rows), ONE, file_format).data) == wanted


@formats
def test_a_file_moved_by_itself(file_format: str) -> None:
    moves = PathMap((("/w/t", "s3://n/t"),), {"file:///w/t/a": "s3://n/beside/1"})
    rows: list[Row] = [("file:/w/t/a", 1), ("file:/w/t/b", 2)]
    wanted = as_text([("s3://n/beside/1", 1), ("s3://n/t/b", 2)])
    assert rows_of(file_format, moved(made(file_format, rows), moves, file_format).data) == wanted


@formats
@pytest.mark.parametrize("rows", [[], PLAIN[:1]], ids=len)
def test_files_of_no_row_and_of_one(file_format: str, rows: list[Row]) -> None:
    old = made(file_format, rows)
    found = moved(old, ONE, file_format)
    assert rows_of(file_format, found.data) == as_text(targets(rows, ONE))
    assert (found.data == old) == (not rows)


@formats
def test_there_and_back_are_the_same_rows(file_format: str) -> None:
    rows = with_rows(file_format)
    back = PathMap((("s3://n/t", "file:/w/t"), ("s3://z/a", "file:/w/t/a"), ("s3://a/c", "file:/w/t/c")))
    there = moved(made(file_format, rows), SEVERAL, file_format).data
    assert rows_of(file_format, moved(there, back, file_format).data) == read(file_format, rows)


@formats
def test_bytes_of_arrow_are_as_good_and_the_format_in_any_case(file_format: str) -> None:
    old = made(file_format, PLAIN)
    assert relocate_position_deletes(pa.py_buffer(old), file_format.lower(), WHERE, ONE) == moved(old, ONE, file_format)


def test_other_formats_are_refused() -> None:
    with pytest.raises(UnsupportedTable, match="VORTEX"):
        relocate_position_deletes(b"", "VORTEX", WHERE, ONE)


def refusal(file_format: str, data: bytes, moves: PathMap = ONE) -> BergungError:
    with pytest.raises(BergungError) as raised:
        moved(data, moves, file_format)
    assert raised.value.message.startswith(WHERE)
    assert raised.value.hint
    return raised.value


@formats
def test_every_cut_is_noticed(file_format: str) -> None:
    whole = made(file_format, PLAIN[:300])
    # Avro without any block is whole, as a file of no rows: only the declared length tells.
    unnoticed = {open_container(whole, WHERE).start} if file_format == "AVRO" else set()
    for length in set(range(len(whole))) - unnoticed:
        assert isinstance(refusal(file_format, whole[:length]), CorruptFile), length


@formats
@pytest.mark.parametrize("moves", [ONE, SEVERAL], ids=["in order", "sorted again"])
def test_a_changed_byte_is_noticed_or_changes_no_row_of_ours(file_format: str, moves: PathMap) -> None:
    """What a damaged file says to its readers, the moved one says as well, and no more."""
    rows = [*PLAIN[:2], *PLAIN[1000:1002]]
    whole = made(file_format, rows)
    noticed = 0
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        try:
            found = moved(bytes(damaged), moves, file_format)
        except (DamageFound, UnsupportedTable):
            noticed += 1
            continue
        believed = [row.replace("(b'", "('") for row in rows_of(file_format, bytes(damaged))]  # the meaning of a type is a byte too
        wanted = as_text(by_place(targets([eval(row) for row in believed], moves)))
        assert sorted(row.replace("(b'", "('") for row in rows_of(file_format, found.data)) == sorted(wanted), place
    assert noticed > len(whole) / 3


@formats
def test_encrypted_files_are_refused(file_format: str) -> None:
    assert isinstance(refusal(file_format, b"AGS1" + made(file_format, PLAIN[:1])[4:]), UnsupportedTable)


@formats
def test_a_wrong_file_is_not_taken_for_the_moved_one(file_format: str) -> None:
    rows = with_rows(file_format)
    old, new = made(file_format, rows), targets(rows, ONE)
    right = moved(old, ONE, file_format)
    odd = every_type(5) if file_format == "PARQUET" else some_row(5)
    wrong: dict[str, Any] = {
        "path": made(file_format, [(new[-1][0], *new[0][1:]), *new[1:]]),
        "fewer": made(file_format, new[:-1]),
        "more": made(file_format, [*new, new[-1]]),
        "position": made(file_format, [(new[0][0], 77, *new[0][2:]), *new[1:]]),
        "row": made(file_format, [(*new[0][:2], odd), *new[1:]]),
        "codec": made(file_format, new, CODECS[file_format][2]),
        "old": old,
    }
    for name, data in wrong.items():
        rewritten = replace(right.rewritten, size_bytes=len(data))
        with pytest.raises(DamageFound, match="not what was meant"):
            check_position_deletes(old, replace(right, data=data, rewritten=rewritten), file_format, WHERE, ONE)
            pytest.fail(name)
    changes = [
        {"dangling_count": 1},
        {"rewritten": replace(right.rewritten, bounds=None)},
        {"rewritten": replace(right.rewritten, size_bytes=1)},
    ]
    for change in changes:
        with pytest.raises(DamageFound, match="would say"):
            check_position_deletes(old, replace(right, **change), file_format, WHERE, ONE)


@formats
def test_rows_that_were_not_sorted_again_are_not_taken(file_format: str) -> None:
    old, right = made(file_format, PLAIN), moved(made(file_format, PLAIN), SEVERAL, file_format)
    wanted = by_place(targets(PLAIN, SEVERAL))
    for rows in (targets(PLAIN, SEVERAL), [wanted[1], wanted[0], *wanted[2:]], [wanted[0], *wanted[:-1]]):
        data = made(file_format, rows)
        wrong = replace(right, data=data, rewritten=replace(right.rewritten, size_bytes=len(data)))
        with pytest.raises(DamageFound, match="not what was meant"):
            check_position_deletes(old, wrong, file_format, WHERE, SEVERAL)


def test_pandas_is_not_imported(tmp_path: Path) -> None:
    """It would cost every worker a second (design 4a)."""
    for file_format in FORMATS:
        (tmp_path / file_format).write_bytes(made(file_format, with_rows(file_format)))
    program = """if True:
        import sys
        from bergung.iceberg.relocate.deletes import check_position_deletes, relocate_position_deletes
        from bergung.iceberg.relocate.path_map import PathMap
        for file_format in ("PARQUET", "AVRO", "ORC"):
            data = open(f"{sys.argv[1]}/{file_format}", "rb").read()
            for moves in (PathMap((("/w", "/x"),)), PathMap((("/w", "/x"), ("/w/t/a", "/z")))):
                moved = relocate_position_deletes(data, file_format, "f", moves)
                check_position_deletes(data, moved, file_format, "f", moves)
        print(sorted({"pandas", "pyiceberg", "pyspark"} & set(sys.modules)))
    """
    command = [sys.executable, "-c", program, str(tmp_path)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"
