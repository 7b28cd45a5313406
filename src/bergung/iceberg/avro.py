"""Avro container files read strictly: every block is checked and every byte used, or the file is corrupt."""

import bz2
import json
import lzma
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import pyarrow as pa
from fastavro import schemaless_reader

from bergung.errors import BergungError, CorruptFile, UnsupportedTable
from bergung.iceberg.avro_schema import Json, Wanted, only, plain

BROKEN = (
    ValueError, LookupError, EOFError, StopIteration, TypeError, AttributeError, ArithmeticError, MemoryError,
    RecursionError, OSError, zlib.error, lzma.LZMAError, pa.ArrowException,
)  # fmt: skip
"""What decoders raise on bytes that no writer wrote; never let out of this room."""

_MAGIC = b"Obj\x01"
_SYNC_BYTES = 16
_BATCH_BYTES = 1024 * 1024
_BLOCK_BYTES = 512 * 1024 * 1024
"""No writer makes larger blocks; it bounds what a damaged or hostile file can make us unpack."""


@dataclass(frozen=True)
class Container:
    """The head of an Avro file, and its bytes."""

    where: str
    data: bytes
    schema: Json
    properties: dict[str, bytes]
    codec: str
    sync: bytes
    start: int
    """Where the first block begins."""


def open_container(data: bytes, where: str) -> Container:
    """Read the head; CorruptFile when these bytes do not begin as an Avro file does."""
    if data[:4] != _MAGIC:
        raise _not_avro(data, where)
    stream = BytesIO(data)
    stream.seek(len(_MAGIC))
    try:
        properties: Any = schemaless_reader(stream, {"type": "map", "values": "bytes"}, None)
        schema = json.loads(properties["avro.schema"])
        codec = properties.get("avro.codec", b"null").decode()
    except BROKEN as error:
        raise corrupt(where, "its Avro header cannot be read") from error
    sync = stream.read(_SYNC_BYTES)
    if len(sync) < _SYNC_BYTES:
        raise corrupt(where, "its Avro header is cut off")
    if codec not in _CODECS:
        raise corrupt(where, f"{codec!r} is no way to pack Avro")
    return Container(where, data, schema, properties, codec, sync, stream.tell())


def records(container: Container, wanted: Wanted | None = None) -> Iterator[dict[str, Any]]:
    """All records in their order; with `wanted`, only the fields of those ids, and by the names given there."""
    try:
        written = {"type": "array", "items": plain(container.schema, wanted)}
    except BROKEN as error:
        raise corrupt(container.where, "its Avro schema makes no sense") from error
    asked = None if wanted is None else {"type": "array", "items": only(written["items"], wanted)}
    for batch in _batches(container):
        yield from _decode(batch, written, asked, container.where)


def corrupt(where: str, problem: str) -> CorruptFile:
    """The one form of this complaint."""
    hint = "bring back an intact copy of this file: an object version, or one of a recovery point"
    return CorruptFile(f"{where} is damaged: {problem}", hint)


def _decode(batch: bytes, written: Json, asked: Json | None, where: str) -> list[dict[str, Any]]:
    stream = BytesIO(batch)
    try:
        found: Any = schemaless_reader(stream, written, asked)
    except BROKEN as error:
        raise corrupt(where, "a block does not hold what the schema says") from error
    if stream.tell() != len(batch):
        raise corrupt(where, "a block holds more than its records")
    return list(found)


def _batches(container: Container) -> Iterator[bytes]:
    """Blocks of a container, count and bytes, are the blocks of an Avro array; an empty block ends the array."""
    parts: list[bytes] = []
    waiting = 0
    for head, block in blocks(container):
        parts += (head, block)
        waiting += len(block)
        if waiting >= _BATCH_BYTES:
            yield b"".join((*parts, b"\0"))
            parts, waiting = [], 0
    if parts:
        yield b"".join((*parts, b"\0"))


def blocks(container: Container) -> Iterator[tuple[bytes, bytes]]:
    """Each block's count, as it is encoded, and its records unpacked."""
    data, where = container.data, container.where
    position = container.start
    while position < len(data):
        count, after = long_at(data, position, where)
        size, start = long_at(data, after, where)
        end = start + size
        if count < 0 or size < 0 or data[end : end + _SYNC_BYTES] != container.sync:
            raise corrupt(where, f"the block at byte {position} is cut off or has no end mark")
        block = unpack(container, data[start:end])
        if count > len(block):
            raise corrupt(where, f"the block at byte {position} is too small for its records")
        if count:
            yield data[position:after], block
        position = end + _SYNC_BYTES


def long_at(data: bytes, position: int, where: str) -> tuple[int, int]:
    """A zigzag number, and the position after it."""
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position
    raise corrupt(where, "it ends inside a block")


def unpack(container: Container, packed: bytes) -> bytes:
    """A block's records, of what lies in the file."""
    try:
        return _CODECS[container.codec](packed)
    except BROKEN as error:
        raise corrupt(container.where, f"a block cannot be unpacked ({container.codec})") from error


def _deflate(packed: bytes) -> bytes:
    return _finished(zlib.decompressobj(-zlib.MAX_WBITS), packed)


def _finished(unpacker: Any, packed: bytes) -> bytes:
    block: bytes = unpacker.decompress(packed, _BLOCK_BYTES)
    if not unpacker.eof:
        raise ValueError("cut off, or larger than any writer makes")
    return block


def _snappy(packed: bytes) -> bytes:
    size, shift = 0, 0
    for byte in packed[:5]:
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    block: bytes = pa.decompress(packed[:-4], size, codec="snappy", asbytes=True)
    if zlib.crc32(block).to_bytes(4) != packed[-4:]:
        raise ValueError("checksum differs")
    return block


def _zstandard(packed: bytes) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
        block: bytes = stream.read(_BLOCK_BYTES)
        if stream.read(1):
            raise ValueError("larger than any writer makes")
    return block


_CODECS: dict[str, Callable[[bytes], bytes]] = {
    "null": bytes,
    "deflate": _deflate,
    "snappy": _snappy,
    "zstandard": _zstandard,
    "bzip2": lambda packed: _finished(bz2.BZ2Decompressor(), packed),
    "xz": lambda packed: _finished(lzma.LZMADecompressor(), packed),
}


def _not_avro(data: bytes, where: str) -> BergungError:
    if data[:4] == b"AGS1":
        return UnsupportedTable(f"{where} is encrypted", "such a file cannot be opened without its keys")
    if data[:4] == b"PAR1":
        return UnsupportedTable(f"{where} is Parquet, not Avro", "Iceberg format version 4 is not handled yet")
    return corrupt(where, "it is empty" if not data else "it is no Avro file")
