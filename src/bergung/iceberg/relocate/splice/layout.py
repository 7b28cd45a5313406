"""Where the wanted fields of a record lie, by its writer's schema."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from threading import Lock

from bergung.iceberg.avro import BROKEN, Container, corrupt
from bergung.iceberg.avro_schema import Json, plain
from bergung.iceberg.relocate.splice.shapes import Row, shape_of
from bergung.iceberg.relocate.splice.slots import Form, Kind, Slot, form_of, wanted_by

Pieces = tuple[bytes, ...]
"""A record cut up: its pieces together are its bytes. The last one is empty."""

_FIRST_LOOK = 64_000
_WORTH_IT = 16
"""An expression of a byte takes as long to compile as so many bytes to step over."""
_LONGEST_EXPRESSION = 400_000
_LAYOUTS = 256
_ABSENT = Form(null=b"")


def layout_of(container: Container, slots: tuple[Slot, ...]) -> "Layout":
    """The layout of a file's records."""
    try:
        return _layout_of(container.properties["avro.schema"], slots)
    except BROKEN as error:
        raise corrupt(container.where, f"its Avro schema makes no sense ({error})") from error


class Layout:
    """Cuts records. It learns from those that it steps through; all files of one schema share it."""

    def __init__(self, fields: list[tuple[Slot | None, Json]]) -> None:
        self._places: dict[int, int] = {}
        self._forms: dict[int, Form] = {}
        self._shapes: list[Row] = []
        for slot, run in groupby(fields, key=lambda field: field[0]):
            types = [type_ for _, type_ in run]
            if slot is not None:
                self._places[slot.id] = len(self._shapes)
                self._forms[slot.id] = form_of(types[0], slot)
            self._shapes.append(Row([shape_of(type_) for type_ in types]))
        self._match: Callable[[bytes, int], list[Pieces]] | None = None
        self._known = self._stepped = 0
        self._enough = _FIRST_LOOK
        self._learning = Lock()

    def place(self, id_: int) -> int:
        """Where a field's piece is; where nothing is, when this writer has no such field."""
        return self._places.get(id_, -1)

    def form(self, id_: int) -> Form:
        """How a field is encoded; one that this writer does not have is always null."""
        return self._forms.get(id_, _ABSENT)

    def value(self, record: Sequence[bytes], id_: int) -> bytes | None:
        """What a field holds."""
        return self.form(id_).value(record[self.place(id_)])

    def put(self, record: list[bytes], id_: int, value: bytes) -> None:
        """Give a field another value, if this writer has it."""
        if id_ in self._places:
            record[self.place(id_)] = self.form(id_).before + value

    def cut(self, block: bytes, count: int, where: str) -> list[Pieces]:
        """The records of a block, in their order; CorruptFile when it holds anything else."""
        try:
            found = self._records(block)
        except BROKEN as error:
            raise corrupt(where, "a block does not hold what the schema says") from error
        if len(found) != count:
            raise corrupt(where, f"a block of {count} records holds {len(found)}")
        return found

    def _records(self, block: bytes) -> list[Pieces]:
        records: list[Pieces] = []
        at, steps = 0, 1
        while at < len(block):
            if self._match is not None:
                found = self._match(block, at)
                rest = found[-1][-1]
                if rest:
                    found.pop()
                records += found
                at = len(block) - len(rest)
                steps = 1 if found else steps * 2
            for _ in range(steps):
                if at < len(block):
                    at = self._step(block, at, records)
        return records

    def _step(self, block: bytes, start: int, records: list[Pieces]) -> int:
        """One record, value by value; where it ends."""
        at, pieces = start, []
        for shape in self._shapes:
            end = shape.skip(block, at)
            pieces.append(block[at:end])
            at = end
        if at == start:
            raise ValueError("a record of no bytes")
        records.append((*pieces, b""))
        self._stepped += at - start
        if self._stepped >= self._enough:
            self._learn()
        return at

    def _learn(self) -> None:
        """An expression for records like those that were seen, and a last group for what is not like them."""
        with self._learning:
            known = sum(shape.known() for shape in self._shapes)
            if known > self._known and self._stepped >= self._enough:
                groups = b"".join(b"(%s)" % shape.pattern() for shape in self._shapes)
                if len(groups) <= _LONGEST_EXPRESSION:
                    self._match = re.compile(groups + b"|(.+)", re.DOTALL).findall
                self._known = known
                self._enough = _WORTH_IT * len(groups)
            self._stepped = 0


@lru_cache(_LAYOUTS)
def _layout_of(text: bytes, slots: tuple[Slot, ...]) -> Layout:
    fields = list(_fields(plain(json.loads(text), wanted_by(slots)), {slot.name: slot for slot in slots}))
    found = [slot for slot, _ in fields if slot is not None]
    for slot in slots:
        if found.count(slot) > 1 or (slot.required and slot not in found):
            raise ValueError(f"{found.count(slot)} fields for {slot.name}")
    return Layout(fields)


def _fields(record: Json, slots: Mapping[str, Slot]) -> Iterator[tuple[Slot | None, Json]]:
    for field in record["fields"]:
        slot = slots.get(field["name"])
        if slot is not None and slot.kind == Kind.RECORD:
            yield from _fields(field["type"], slots)
        else:
            yield slot, field["type"]
