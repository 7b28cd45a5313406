"""Protocol buffers as lists of (field number, wire type, value): all that is known of a message without its definition."""

from collections.abc import Iterable

Message = list[tuple[int, int, int | bytes]]

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def read(data: bytes) -> Message:
    """The fields in their order; ValueError or IndexError for what is no message."""
    message: Message = []
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        wire = tag & 7
        if wire == VARINT:
            value, position = _varint(data, position)
            message.append((tag >> 3, wire, value))
            continue
        size, position = _varint(data, position) if wire == BYTES else ({FIXED64: 8, FIXED32: 4}[wire], position)
        if position + size > len(data):
            raise ValueError("ends early")
        message.append((tag >> 3, wire, data[position : position + size]))
        position += size
    return message


def written(message: Message) -> bytes:
    """The bytes of a message."""
    out = bytearray()
    for number, wire, value in message:
        out += _varint_bytes(number << 3 | wire)
        if isinstance(value, int):
            out += _varint_bytes(value)
        else:
            out += (_varint_bytes(len(value)) if wire == BYTES else b"") + value
    return bytes(out)


def numbers(message: Message, field: int) -> list[int]:
    """All numbers of a field."""
    return [value for number, _, value in message if number == field and isinstance(value, int)]


def parts(message: Message, field: int) -> list[bytes]:
    """All texts, byte strings and messages of a field."""
    return [value for number, _, value in message if number == field and isinstance(value, bytes)]


def packed(texts: Iterable[bytes]) -> list[int]:
    """Numbers that lie one after the other."""
    found = []
    for text in texts:
        position = 0
        while position < len(text):
            value, position = _varint(text, position)
            found.append(value)
    return found


def only(message: Message, fields: Iterable[int]) -> Message:
    """The message without its other fields."""
    wanted = set(fields)
    return [each for each in message if each[0] in wanted]


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise ValueError("a number is too long")


def _varint_bytes(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
