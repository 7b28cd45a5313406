"""Thrift's compact protocol as plain trees: what is not known is kept, and what is written reads as what was read.

A struct is a dictionary of field number to (type, value), a list is (type of items, items). Damage is ValueError or IndexError.
"""

from typing import Any

Struct = dict[int, tuple[int, Any]]

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)

_NUMBERS = (I16, I32, I64)
_DEPTH = 32


def read(data: memoryview, start: int) -> tuple[Struct, int]:
    """The struct that begins there, and where it ends."""
    reader = _Reader(data, start)
    return reader.struct(0), reader.position


def written(tree: Struct) -> bytes:
    """The bytes of a struct."""
    out = bytearray()
    _write_struct(out, tree)
    return bytes(out)


class _Reader:
    def __init__(self, data: memoryview, start: int) -> None:
        self.data = data
        self.position = start

    def struct(self, depth: int) -> Struct:
        if depth > _DEPTH:
            raise ValueError("nests too deep")
        fields: Struct = {}
        number = 0
        while head := self.byte():
            step, type_ = head >> 4, head & 0xF
            number = number + step if step else self.zigzag()
            if number in fields:
                raise ValueError("a field stands twice")
            fields[number] = (type_, self.value(type_, depth))
        return fields

    def value(self, type_: int, depth: int) -> Any:
        if type_ in _NUMBERS:
            return self.zigzag()
        if type_ == BINARY:
            return bytes(self.take(self.varint()))
        if type_ == STRUCT:
            return self.struct(depth + 1)
        if type_ in (LIST, SET):
            return self.items(depth + 1)
        if type_ in (TRUE, FALSE):
            return type_ == TRUE
        if type_ == BYTE:
            return self.byte()
        if type_ == DOUBLE:
            return bytes(self.take(8))
        raise ValueError(f"{type_} is no type that is used")

    def items(self, depth: int) -> tuple[int, list[Any]]:
        head = self.byte()
        count, type_ = head >> 4, head & 0xF
        count = self.varint() if count == 0xF else count
        if count > len(self.data) - self.position or depth > _DEPTH:
            raise ValueError("a list is longer than its bytes, or nests too deep")
        if type_ in (TRUE, FALSE):
            return type_, [self.byte() for _ in range(count)]
        return type_, [self.value(type_, depth) for _ in range(count)]

    def take(self, size: int) -> memoryview:
        end = self.position + size
        if end > len(self.data):
            raise ValueError("ends early")
        taken = self.data[self.position : end]
        self.position = end
        return taken

    def byte(self) -> int:
        value = self.data[self.position]
        self.position += 1
        return value

    def varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ValueError("a number is too long")

    def zigzag(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)


def _write_struct(out: bytearray, tree: Struct) -> None:
    before = 0
    for number, (type_, value) in sorted(tree.items()):
        kind = (TRUE if value else FALSE) if type_ in (TRUE, FALSE) else type_
        if 0 < number - before < 16:
            out.append((number - before) << 4 | kind)
        else:
            out.append(kind)
            _write_varint(out, _zigzag(number))
        before = number
        if type_ not in (TRUE, FALSE):
            _write_value(out, type_, value)
    out.append(0)


def _write_value(out: bytearray, type_: int, value: Any) -> None:
    if type_ in _NUMBERS:
        _write_varint(out, _zigzag(value))
    elif type_ == BINARY:
        _write_varint(out, len(value))
        out += value
    elif type_ == STRUCT:
        _write_struct(out, value)
    elif type_ in (LIST, SET):
        _write_items(out, *value)
    elif type_ == DOUBLE:
        out += value
    else:
        out.append(value)


def _write_items(out: bytearray, type_: int, items: list[Any]) -> None:
    if len(items) < 0xF:
        out.append(len(items) << 4 | type_)
    else:
        out.append(0xF0 | type_)
        _write_varint(out, len(items))
    for item in items:
        _write_value(out, type_, item)


def _write_varint(out: bytearray, value: int) -> None:
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1
