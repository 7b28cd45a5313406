"""Deletion vectors follow their data files, and nothing else in a Puffin file changes."""

import json
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.table.deletion_vector import deletion_vectors_from_puffin_file
from pyiceberg.table.puffin import PuffinFile

from bergung.errors import BergungError, CorruptFile, DamageFound, UnsupportedTable
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.puffin import MovedPuffin, check_puffin, relocate_puffin
from bergung.iceberg.relocate.rewritten import Rewritten
from tests.unit.iceberg.relocate.puffins import closed, compact, deletes, footer_of, puffin, vector

WHERE = "s3://b/t/data/d.puffin"
MOVES = PathMap((("file:///w/t", "s3://n/moved/t"),))
BACK = PathMap((("s3://n/moved/t", "file:///w/t"),))
PROPERTIES = {"created-by": "hand"}
A, B, GONE = "file:///w/t/data/a.parquet", "file:///w/t/data/ü,%2F b.parquet", "s3://other/x.parquet"
NEW_A, NEW_B = "s3://n/moved/t/data/a.parquet", "s3://n/moved/t/data/ü,%2F b.parquet"


def moved(data: bytes, moves: PathMap = MOVES) -> MovedPuffin:
    found = relocate_puffin(data, WHERE, moves)
    check_puffin(data, found, WHERE, moves)
    return found


@pytest.mark.parametrize("compressed", [False, True])
def test_several_vectors_in_one_file(compressed: bool) -> None:
    old = puffin(
        deletes(A, [1, 5]), deletes(B, range(70_000)), deletes(GONE, [2**33]), compressed=compressed, properties=PROPERTIES
    )
    found = moved(old)
    blobs = footer_of(old)["blobs"]
    assert [blob["properties"]["referenced-data-file"] for blob in footer_of(found.data)["blobs"]] == [NEW_A, NEW_B, GONE]
    assert found.dangling_count == 1
    assert found.rewritten == Rewritten(len(found.data), blobs={each["offset"]: (each["offset"], each["length"]) for each in blobs})
    before, after = footer_of(old), footer_of(found.data)
    for each in before["blobs"] + after["blobs"]:
        del each["properties"]["referenced-data-file"]
    assert after == before


def test_pyiceberg_finds_the_same_positions_under_the_new_paths() -> None:
    old = puffin(deletes(A, [1, 5]), deletes(B, range(70_000)), properties=PROPERTIES)
    found = deletion_vectors_from_puffin_file(PuffinFile(moved(old).data))
    assert {each.referenced_data_file: each.to_vector().to_pylist() for each in found} == {
        NEW_A: [1, 5],
        NEW_B: list(range(70_000)),
    }


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dumped", [compact, json.dumps, lambda footer: json.dumps(footer, separators=(",", ":"))])
def test_there_and_back_is_the_same_file(dumped: Any, compressed: bool) -> None:
    other = {"properties": {**PROPERTIES, "x": "ü"}, "later": [1, {"y": None}]}
    old = puffin(deletes(A, [1], later=2), deletes(B, [2]), dumped=dumped, compressed=compressed, **other)
    assert moved(moved(old).data, BACK).data == old


def test_a_writer_of_odd_json_is_understood() -> None:
    old = puffin(deletes(A, [1]), dumped=lambda footer: json.dumps(footer, separators=(" ,", " :")), later=0)
    assert footer_of(moved(old).data)["blobs"][0]["properties"]["referenced-data-file"] == NEW_A


def test_a_map_to_itself_and_statistics_change_nothing() -> None:
    same = PathMap((("file:///w/t", "file:///w/t"),))
    sketch = {"type": "apache-datasketches-theta-v1", "fields": [1], "snapshot-id": 1, "sequence-number": 1}
    old = puffin(deletes(A, [1]), dumped=lambda footer: json.dumps(footer, indent=7))
    assert moved(old, same).data == old
    statistics = puffin(({**sketch, "compression-codec": "zstd", "properties": {"ndv": "2"}}, b"sketch"), (sketch, b""))
    assert moved(statistics).data == statistics
    assert moved(puffin()).data == puffin()


def test_bytes_of_arrow_are_as_good() -> None:
    old = puffin(deletes(A, [1]))
    assert relocate_puffin(pa.py_buffer(old), WHERE, MOVES) == moved(old)


def refusal(data: bytes) -> BergungError:
    with pytest.raises(BergungError) as raised:
        relocate_puffin(data, WHERE, MOVES)
    assert raised.value.message.startswith(WHERE)
    assert raised.value.hint
    return raised.value


@pytest.mark.parametrize("compressed", [False, True])
def test_every_cut_is_noticed(compressed: bool) -> None:
    whole = puffin(deletes(A, [1, 5]), properties=PROPERTIES, compressed=compressed)
    for length in range(len(whole)):
        assert isinstance(refusal(whole[:length]), CorruptFile)


def test_every_changed_byte_of_a_vector_is_noticed() -> None:
    whole = puffin(deletes(A, [1, 5]))
    for place in range(4, 4 + len(vector([1, 5]))):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        assert isinstance(refusal(bytes(damaged)), CorruptFile)


def test_every_changed_byte_of_a_mark_is_noticed() -> None:
    whole = puffin(deletes(A, [1, 5]))
    footer = whole.rindex(b"PFA1", 0, -4)
    for place in (*range(4), *range(footer, footer + 4), *range(len(whole) - 12, len(whole))):
        damaged = bytearray(whole)
        damaged[place] ^= 0x80
        assert isinstance(refusal(bytes(damaged)), CorruptFile | UnsupportedTable), place


@pytest.mark.parametrize(
    "entry",
    [
        {"offset": 3, "length": 1},
        {"offset": 4, "length": 10_000},
        {"offset": 5, "length": -1},
        {"offset": 4.0, "length": 1},
        {"offset": 4, "length": 1, "properties": {"referenced-data-file": 1}},
        {"offset": 4, "length": 1, "properties": None},
        {"offset": 4, "length": 8, "type": "deletion-vector-v1"},
        {"length": 1},
    ],
)
def test_entries_that_make_no_sense(entry: dict[str, Any]) -> None:
    payload = compact({"blobs": [{"type": "x", **entry}]}).encode()
    assert isinstance(refusal(closed(b"PFA1" + bytes(20), payload)), CorruptFile)


@pytest.mark.parametrize(
    "payload", [b"", b"[]", b"{}", b'{"blobs":1}', b'{"blobs":[],"blobs":[]}', b'{"blobs":[],"x":NaN}', b"\xff"]
)
def test_footers_that_make_no_sense(payload: bytes) -> None:
    assert isinstance(refusal(closed(b"PFA1", payload)), CorruptFile)


def test_what_is_newer_or_encrypted_is_refused() -> None:
    newer = bytearray(puffin())
    newer[-7] = 1
    assert isinstance(refusal(bytes(newer)), UnsupportedTable)
    assert isinstance(refusal(b"AGS1" + puffin()), UnsupportedTable)


def test_a_wrong_file_is_not_taken_for_the_moved_one() -> None:
    old = puffin(deletes(A, [1]), deletes(B, [2]))
    right = moved(old)
    swapped = puffin(deletes(NEW_B, [1]), deletes(NEW_A, [2]))
    other = puffin(deletes(NEW_A, [1]), deletes(NEW_B, [3]))
    packed = puffin(deletes(NEW_A, [1]), deletes(NEW_B, [2]), compressed=True)
    wrong = [
        replace(right, data=data, rewritten=replace(right.rewritten, size_bytes=len(data)))
        for data in (old, swapped, other, packed)
    ]
    wrong += [replace(right, dangling_count=1), replace(right, rewritten=replace(right.rewritten, size_bytes=1))]
    wrong += [replace(right, rewritten=replace(right.rewritten, blobs={4: (5, 1)}))]
    for each in wrong:
        with pytest.raises(DamageFound, match="not what was meant"):
            check_puffin(old, each, WHERE, MOVES)
