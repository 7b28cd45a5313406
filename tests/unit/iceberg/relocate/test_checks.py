"""What was written is read again: another byte, another order, one record more or less, and it is not what was meant."""

from collections.abc import Callable
from typing import Any

import pytest

from bergung.errors import BergungError, CorruptFile, DamageFound
from bergung.iceberg.avro import open_container
from bergung.iceberg.relocate.entries import Entries
from bergung.iceberg.relocate.files import changed
from bergung.iceberg.relocate.manifests import check_manifest, relocate_manifest
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.splice.layout import Pieces
from tests import avro_files
from tests.avro_files import container, number
from tests.manifest_writers import NEW, OLD, entry, manifest, manifest_schema

WHERE = "s3://old/lake/t/metadata/m.avro"
MOVES = PathMap(((OLD, NEW),))
JAVA_2 = manifest_schema("java", 2)
ENTRIES = [entry(f"{OLD}/data/{place}.parquet", lower_bounds=[{"key": 1, "value": b"abc"}]) for place in range(20)]
DATA = manifest(JAVA_2, ENTRIES)
MOVED = relocate_manifest(DATA, WHERE, MOVES, {}).data


def is_refused(new: bytes, kind: type[BergungError] = DamageFound) -> None:
    with pytest.raises(kind):
        check_manifest(DATA, new, WHERE, MOVES, {})


def test_what_was_meant() -> None:
    check_manifest(DATA, MOVED, WHERE, MOVES, {})


def test_other_blocks_and_another_order_of_them() -> None:
    records = [avro_files.encode(JAVA_2, {**each, "data_file": moved_file(each)}) for each in ENTRIES]
    properties = {key: value.decode() for key, value in avro_files.head(MOVED).items() if not key.startswith("avro.")}
    check_manifest(DATA, container(JAVA_2, [records[:7], records[7:]], "null", properties), WHERE, MOVES, {})
    for blocks in (
        [records[7:], records[:7]],
        [records[1:]],
        [records[:-1]],
        [records, records[:1]],
        [records[:3], records[4:]],
    ):
        is_refused(container(JAVA_2, blocks, "null", properties))


def moved_file(each: Any) -> Any:
    file = each["data_file"]
    return {**file, "file_path": NEW + file["file_path"].removeprefix(OLD)}


HEAD = MOVED.index(avro_files.SYNC)
PLACES = [*range(0, HEAD, 101), *range(HEAD, len(MOVED))]


def test_every_byte_is_looked_at() -> None:
    for place in PLACES:
        for mask in (0x01, 0x80):
            new = bytearray(MOVED)
            new[place] ^= mask
            is_refused(bytes(new))


def test_every_cut_is_noticed() -> None:
    for length in PLACES:
        is_refused(MOVED[:length])
    is_refused(MOVED + b"\0", CorruptFile)


def test_a_file_that_was_not_moved_or_moved_elsewhere() -> None:
    is_refused(DATA)
    is_refused(relocate_manifest(DATA, WHERE, PathMap(((OLD, "s3://new/else"),)), {}).data)


class Otherwise(Entries):
    """Moves entries, and then does one thing more to the last of them."""

    def __init__(self, data: bytes, more: Callable[[list[bytes]], object]) -> None:
        super().__init__(open_container(data, WHERE), MOVES, {})
        self._more = more

    def moved(self, records: list[Pieces]) -> list[Pieces]:
        *others, last = super().moved(records)
        pieces = list(last)
        self._more(pieces)
        return [*others, tuple(pieces)]


def shorten_path(pieces: list[bytes]) -> None:
    pieces[3] = number(len(pieces[3])) + pieces[3][2:]


def move_a_byte(pieces: list[bytes]) -> None:
    pieces[2], pieces[3] = pieces[2] + pieces[3][:1], pieces[3][1:]


def change_a_bound(pieces: list[bytes]) -> None:
    place = next(place for place, piece in enumerate(pieces) if b"\x06abc" in piece)
    pieces[place] = pieces[place].replace(b"\x06abc", b"\x06abd")


def test_the_pieces_that_the_cases_below_mean() -> None:
    entries = Entries(open_container(DATA, WHERE), MOVES, {})
    assert entries.layout.place(100) == 3


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (shorten_path, "damaged|came out otherwise"),
        (move_a_byte, "came out otherwise"),
        (change_a_bound, "another decoder reads it otherwise"),
    ],
)
def test_a_fault_of_our_own_is_noticed_before_anybody_gets_it(more: Callable[[list[bytes]], object], problem: str) -> None:
    container_ = open_container(DATA, WHERE)
    assert changed(container_, Otherwise(DATA, lambda pieces: None)) == MOVED
    with pytest.raises(BergungError, match=problem):
        changed(container_, Otherwise(DATA, more))


def test_the_other_decoder_looks_into_large_files_too() -> None:
    data = manifest(JAVA_2, ENTRIES * 500)
    with pytest.raises(BergungError, match="another decoder"):
        changed(open_container(data, WHERE), Otherwise(data, change_a_bound))
