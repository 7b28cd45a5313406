"""The few values that are read and made anew, as Avro encodes them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bergung.iceberg.avro_write import long_bytes, text_bytes
from bergung.iceberg.relocate.splice.shapes import number_at

_END = b"\0"


def number_of(value: bytes) -> int:
    """A number."""
    return number_at(value, 0)[0]


def text_of(value: bytes) -> str:
    """Text; ValueError when it is not UTF-8."""
    start = 1 if value[0] < 0x80 else 2 if value[1] < 0x80 else number_at(value, 0)[1]
    return str(value[start:], "utf-8")


def bytes_by_id_of(value: bytes) -> list[tuple[int, bytes]]:
    """A map of ids to bytes, in its order, however many blocks it is written in."""
    return list(_pairs(value))


def numbers_bytes(numbers: Sequence[int]) -> bytes:
    """A list of numbers."""
    return _items(map(long_bytes, numbers), len(numbers))


def numbers_by_id_bytes(numbers: Mapping[int, int]) -> bytes:
    """A map of ids to numbers, in its order."""
    return _items((long_bytes(id_) + long_bytes(number) for id_, number in numbers.items()), len(numbers))


def bytes_by_id_bytes(pairs: Sequence[tuple[int, bytes]]) -> bytes:
    """A map of ids to bytes, in its order."""
    return _items((long_bytes(id_) + text_bytes(value) for id_, value in pairs), len(pairs))


def _items(encoded: Iterable[bytes], count: int) -> bytes:
    return b"".join((long_bytes(count), *encoded, _END)) if count else _END


def _pairs(value: bytes) -> Iterator[tuple[int, bytes]]:
    count, at = number_at(value, 0)
    while count:
        if count < 0:
            _, at = number_at(value, at)
        for _ in range(abs(count)):
            id_, at = number_at(value, at)
            size, at = number_at(value, at)
            yield id_, value[at : at + size]
            at += size
        count, at = number_at(value, at)
