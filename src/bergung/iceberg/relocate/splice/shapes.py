"""What the bytes of each Avro type look like: to step over a value, and as a regular expression of what was seen so far.

A value's first bytes decide how it goes on, so an expression matches in one way or not at all. Lengths and counts cannot be
told by an expression; it lists those that were seen, and what it does not match is stepped over value by value.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any, Protocol

from bergung.iceberg.avro_write import long_bytes

Json = Any

_NUMBER = rb"[\x80-\xff]{0,9}+[\x00-\x7f]"
_number_at = re.compile(_NUMBER).match
_SEEN = 512
_LONGEST_RUN = 4096
_ASCII, _ANY = rb"[\x00-\x7f]", b"."


class Shape(Protocol):
    """A type, as its bytes."""

    def skip(self, data: bytes, at: int) -> int:
        """Where the value ends that begins there; ValueError or IndexError when it does not fit."""

    def pattern(self) -> bytes:
        """The values seen so far, and those like them."""

    def known(self) -> int:
        """How much was seen so far."""


def shape_of(schema: Json) -> Shape:
    """The shape of a plain schema."""
    if isinstance(schema, list):
        return Union(schema)
    if isinstance(schema, str):
        return _PRIMITIVES[schema]()
    match schema["type"]:
        case "record":
            return Row([shape_of(field["type"]) for field in schema["fields"]])
        case "array":
            return Items(shape_of(schema["items"]))
        case "map":
            return Items(Row([Text(), shape_of(schema["values"])]))
        case "fixed":
            return Sized(schema["size"])
        case _:
            return Choice(len(schema["symbols"]))


def number_at(data: bytes, at: int) -> tuple[int, int]:
    """A number, and where it ends."""
    first = data[at]
    if first < 0x80:
        return (first >> 1) ^ -(first & 1), at + 1
    found = _number_at(data, at)
    if found is None:
        raise ValueError("a number without an end")
    value = 0
    for byte in reversed(found[0]):
        value = value << 7 | byte & 0x7F
    return (value >> 1) ^ -(value & 1), found.end()


class Number:
    """int and long."""

    def skip(self, data: bytes, at: int) -> int:
        found = _number_at(data, at)
        if found is None:
            raise ValueError("a number without an end")
        return found.end()

    def pattern(self) -> bytes:
        return _NUMBER

    def known(self) -> int:
        return 0


class Sized:
    """Always so many bytes."""

    def __init__(self, size: int) -> None:
        self.size = size

    def skip(self, data: bytes, at: int) -> int:
        if at + self.size > len(data):
            raise ValueError("cut off")
        return at + self.size

    def pattern(self) -> bytes:
        return b".{%d}" % self.size

    def known(self) -> int:
        return 0


class Choice:
    """boolean and enum: one of so many."""

    def __init__(self, count: int) -> None:
        self.count = count

    def skip(self, data: bytes, at: int) -> int:
        value, end = number_at(data, at)
        if not 0 <= value < self.count:
            raise ValueError("no such symbol")
        return end

    def pattern(self) -> bytes:
        return _any_of(_literal(value) for value in range(self.count))

    def known(self) -> int:
        return 0


class Truth(Sized):
    """boolean."""

    def __init__(self) -> None:
        super().__init__(1)

    def skip(self, data: bytes, at: int) -> int:
        if data[at] > 1:
            raise ValueError("neither true nor false")
        return at + 1

    def pattern(self) -> bytes:
        return rb"[\x00\x01]"


class Bytes:
    """A length, and so many bytes."""

    atom = _ANY

    def __init__(self) -> None:
        self.lengths: set[int] = set()

    def skip(self, data: bytes, at: int) -> int:
        size, at = number_at(data, at)
        end = at + size
        if size < 0 or end > len(data):
            raise ValueError("cut off")
        if len(self.lengths) < _SEEN:
            self.lengths.add(size)
        return end

    def pattern(self) -> bytes:
        return _any_of(_literal(size) + self.atom + b"{%d}" % size for size in sorted(self.lengths))

    def known(self) -> int:
        return len(self.lengths)


class Text(Bytes):
    """string: text that was always ASCII is expected to be; other text must be UTF-8 where it is seen first."""

    atom = _ASCII

    def skip(self, data: bytes, at: int) -> int:
        end = super().skip(data, at)
        _, start = number_at(data, at)
        text = data[start:end]
        if not text.isascii():
            text.decode()
            self.atom = _ANY
        return end

    def known(self) -> int:
        return super().known() + (self.atom is _ANY)


class Union:
    """The number of a branch, and its value."""

    def __init__(self, branches: list[Json]) -> None:
        self.branches = [shape_of(branch) for branch in branches]

    def skip(self, data: bytes, at: int) -> int:
        branch, at = number_at(data, at)
        if branch < 0:
            raise ValueError("no such branch")
        return self.branches[branch].skip(data, at)

    def pattern(self) -> bytes:
        return _any_of(_literal(place) + branch.pattern() for place, branch in enumerate(self.branches))

    def known(self) -> int:
        return sum(branch.known() for branch in self.branches)


class Row:
    """record: one value after the other."""

    def __init__(self, values: list[Shape]) -> None:
        self.values = values

    def skip(self, data: bytes, at: int) -> int:
        for value in self.values:
            at = value.skip(data, at)
        return at

    def pattern(self) -> bytes:
        return b"".join(value.pattern() for value in self.values)

    def known(self) -> int:
        return sum(value.known() for value in self.values)


class Items:
    """array and map: counts with so many items after each, then a zero; a negative count is followed by its length in bytes."""

    def __init__(self, item: Shape) -> None:
        self.item = item
        self.counts: set[int] = set()
        self.run = cache(self._run) if _is_regular(item) else None

    def skip(self, data: bytes, at: int) -> int:
        count, at = number_at(data, at)
        if 0 < count <= _LONGEST_RUN and len(self.counts) < _SEEN:
            self.counts.add(count)
        while count:
            at = self._block(data, at, count)
            count, at = number_at(data, at)
        return at

    def _block(self, data: bytes, at: int, count: int) -> int:
        if count > 0:
            return self._items(data, at, count)
        size, at = number_at(data, at)
        end = self._items(data, at, -count)
        if end != at + size:
            raise ValueError("items of another length than said")
        return end

    def _items(self, data: bytes, at: int, count: int) -> int:
        if self.run is None or count > _LONGEST_RUN:
            for _ in range(count):
                at = self.item.skip(data, at)
            return at
        found = self.run(count)(data, at)
        if found is None:
            raise ValueError("items that are none")
        return int(found.end())

    def _run(self, count: int) -> Any:
        return re.compile(self._times(count), re.DOTALL).match

    def _times(self, count: int) -> bytes:
        return b"(?:%s){%d}" % (self.item.pattern(), count)

    def pattern(self) -> bytes:
        return _any_of((_literal(0), *(_literal(count) + self._times(count) + rb"\x00" for count in sorted(self.counts))))

    def known(self) -> int:
        return len(self.counts) + self.item.known()


def _is_regular(shape: Shape) -> bool:
    """True for what an expression can tell wholly."""
    if isinstance(shape, Row):
        return all(map(_is_regular, shape.values))
    if isinstance(shape, Union):
        return all(map(_is_regular, shape.branches))
    return isinstance(shape, Number | Sized | Choice)


def _literal(value: int) -> bytes:
    return b"".join(rb"\x%02x" % byte for byte in long_bytes(value))


def _any_of(patterns: Iterable[bytes]) -> bytes:
    """One of them; without any, nothing matches."""
    return b"(?:%s)" % (b"|".join(patterns) or b"(?!)")


_PRIMITIVES: dict[str, Callable[[], Shape]] = {
    "null": partial(Sized, 0),
    "boolean": Truth,
    "int": Number,
    "long": Number,
    "float": partial(Sized, 4),
    "double": partial(Sized, 8),
    "bytes": Bytes,
    "string": Text,
}
