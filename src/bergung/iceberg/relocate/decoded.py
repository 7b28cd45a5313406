"""The other opinion: some records of a file before and after, decoded by fastavro and compared field by field."""

import json
from collections.abc import Callable, Iterable
from functools import lru_cache
from io import BytesIO
from random import Random
from typing import Any

from fastavro import parse_schema, schemaless_reader

from bergung.errors import BergungError
from bergung.iceberg.avro import BROKEN, Container, corrupt
from bergung.iceberg.avro_schema import Json, plain
from bergung.iceberg.relocate.fields import FAULT
from bergung.iceberg.relocate.splice.layout import Pieces
from bergung.iceberg.relocate.splice.slots import Slot, wanted_by

Row = dict[str, Any]

_ALL = 16
"""A file of no more records is compared wholly."""


class Look:
    """Compares the first and the last record and a few between; all of a small file."""

    def __init__(self, container: Container, slots: tuple[Slot, ...], expected: Callable[[Row], Row]) -> None:
        self._where, self._expected = container.where, expected
        self._schema = _parsed(container.properties["avro.schema"], slots)
        self._random = Random(container.data[-64:])
        self._portions = 0
        self._last: tuple[Pieces, Pieces] | None = None

    def at_some(self, before: list[Pieces], after: list[Pieces]) -> None:
        """A portion of the records: one is looked at in the first, the second, the fourth, the eighth..."""
        self._portions += 1
        self._last = before[-1], after[-1]
        for place in self._places(len(before)):
            self._compare(before[place], after[place])

    def at_last(self) -> None:
        """There is no more."""
        if self._last is not None:
            self._compare(*self._last)

    def _places(self, count: int) -> Iterable[int]:
        if self._portions & (self._portions - 1):
            return ()
        if self._portions == 1:
            return range(count) if count <= _ALL else {0, self._random.randrange(count)}
        return (self._random.randrange(count),)

    def _compare(self, before: Pieces, after: Pieces) -> None:
        # By their text: it tells the zeros apart and does not tell apart what is not a number.
        if repr(self._expected(self._decode(before))) != repr(self._decode(after)):
            raise BergungError(f"{self._where} could not be written again: another decoder reads it otherwise", FAULT)

    def _decode(self, record: Pieces) -> Row:
        data = b"".join(record)
        stream = BytesIO(data)
        try:
            row: Any = schemaless_reader(stream, self._schema, None)
        except BROKEN as error:
            raise corrupt(self._where, "a block does not hold what the schema says") from error
        if stream.tell() != len(data):
            raise corrupt(self._where, "a record holds more than the schema says")
        return dict(row)


@lru_cache(256)
def _parsed(text: bytes, slots: tuple[Slot, ...]) -> Json:
    return parse_schema(plain(json.loads(text), wanted_by(slots)))
