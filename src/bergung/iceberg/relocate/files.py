"""An Avro file whose records change: new bytes, which are read again before anybody gets them."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Protocol

from bergung.errors import BergungError, DamageFound
from bergung.iceberg.avro import BROKEN, Container, corrupt, open_container, unpack
from bergung.iceberg.avro_write import pack, written_again
from bergung.iceberg.relocate.decoded import Look
from bergung.iceberg.relocate.fields import FAULT
from bergung.iceberg.relocate.moving import Moving
from bergung.iceberg.relocate.splice.chunks import chunks
from bergung.iceberg.relocate.splice.layout import Layout, Pieces


class Rows(Protocol):
    """The records of one file, and what becomes of them."""

    layout: Layout
    moving: Moving
    look: Look

    def moved(self, records: list[Pieces]) -> list[Pieces]:
        """The records as they must be; one of BROKEN for what makes no sense."""


def changed(old: Container, rows: Rows) -> bytes:
    """The same file with its records moved: the head stays byte for byte, the codec too, and the order."""
    packed = []
    for records, meant in _meant(old, rows):
        body = pack(old.codec, b"".join(chain.from_iterable(meant)))
        if rows.layout.cut(unpack(old, body), len(meant), old.where) != meant:
            raise BergungError(f"{old.where} could not be written again: its records came out otherwise", FAULT)
        rows.look.at_some(records, meant)
        packed.append((len(meant), body))
    rows.look.at_last()
    rows.moving.check()
    return written_again(old, packed)


def check(old: Container, new: bytes, rows: Rows) -> None:
    """DamageFound when the new file is anything else than the old one moved."""
    written = open_container(new, old.where)
    if new[: written.start] != old.data[: old.start]:
        raise _otherwise(old.where, "its head differs")
    found = chain.from_iterable(rows.layout.cut(block, count, old.where) for count, block in chunks(written))
    for records, meant in _meant(old, rows):
        there = list(islice(found, len(meant)))
        if there != meant:
            raise _otherwise(old.where, "a record differs")
        rows.look.at_some(records, there)
    rows.look.at_last()
    rows.moving.check()
    if next(found, None) is not None:
        raise _otherwise(old.where, "it has more records")


def _meant(old: Container, rows: Rows) -> Iterator[tuple[list[Pieces], list[Pieces]]]:
    for count, block in chunks(old):
        records = rows.layout.cut(block, count, old.where)
        try:
            meant = rows.moved(records)
        except BROKEN as error:
            raise corrupt(old.where, f"an entry makes no sense ({error})") from error
        yield records, meant


def _otherwise(where: str, problem: str) -> DamageFound:
    return DamageFound(f"what was written for {where} is not what was meant: {problem}", "write it again")
