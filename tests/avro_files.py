"""Avro container files put together by hand: any codec, any blocks, arrays in as many blocks as wanted."""

import bz2
import io
import json
import lzma
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any

import fastavro
import pyarrow as pa

Json = Any
Blocks = Callable[[Sequence[Any]], Iterable[tuple[bool, Sequence[Any]]]]
"""How the items of an array are put into blocks, and which blocks say their length."""

_NUMBERS = count()
SYNC = bytes(range(16))
CODECS: dict[str, Callable[[bytes], bytes]] = {
    "null": bytes,
    "deflate": lambda block: zlib.compress(block)[2:-4],
    "snappy": lambda block: pa.compress(block, "snappy", asbytes=True) + zlib.crc32(block).to_bytes(4, "big"),
    "zstandard": lambda block: pa.compress(block, "zstd", asbytes=True),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}
UNPACK: dict[str, Callable[[bytes], bytes]] = {
    "null": bytes,
    "deflate": lambda block: zlib.decompress(block, -15),
    "snappy": lambda block: _checked(pa.Codec("snappy").decompress(block[:-4], _snappy_size(block), asbytes=True), block),
    "zstandard": lambda block: pa.CompressedInputStream(pa.BufferReader(block), "zstd").read(),
    "bzip2": bz2.decompress,
    "xz": lzma.decompress,
}


def number(value: int) -> bytes:
    value = value << 1 if value >= 0 else (-value << 1) - 1
    encoded = b""
    while value > 127:
        encoded += bytes([value & 127 | 128])
        value >>= 7
    return encoded + bytes([value])


def lengthed(content: bytes) -> bytes:
    return number(len(content)) + content


def in_one(items: Sequence[Any]) -> list[tuple[bool, Sequence[Any]]]:
    return [(False, items)] if items else []


def encode(schema: Json, value: Any, blocks: Blocks = in_one) -> bytes:
    """A value by hand; types are written out, fields that are not given are null."""
    if isinstance(schema, list):
        branch = next(place for place, each in enumerate(schema) if (each == "null") == (value is None))
        return number(branch) + encode(schema[branch], value, blocks)
    kind = schema if isinstance(schema, str) else schema["type"]
    match kind:
        case "record":
            return b"".join(encode(each["type"], value.get(each["name"]), blocks) for each in schema["fields"])
        case "array":
            return _many([encode(schema["items"], each, blocks) for each in value], blocks)
        case "map":
            pairs = [lengthed(key.encode()) + encode(schema["values"], each, blocks) for key, each in value.items()]
            return _many(pairs, blocks)
        case "int" | "long":
            return number(value)
        case "string":
            return lengthed(value.encode())
        case "bytes":
            return lengthed(value)
        case "enum":
            return number(schema["symbols"].index(value))
        case "boolean":
            return bytes([value])
        case "null":
            return b""
        case "float" | "double":
            return struct.pack("<f" if kind == "float" else "<d", value)
    assert kind == "fixed" and len(value) == schema["size"], schema
    return bytes(value)


def _many(encoded: list[bytes], blocks: Blocks) -> bytes:
    parts = []
    for says_length, items in blocks(encoded):
        body = b"".join(items)
        parts.append((number(-len(items)) + number(len(body)) if says_length else number(len(items))) + body)
    return b"".join((*parts, b"\0"))


def container(
    schema: Json,
    blocks: Iterable[Sequence[bytes]],
    codec: str = "null",
    properties: dict[str, str] | None = None,
    sync: bytes = SYNC,
) -> bytes:
    """Blocks of encoded records."""
    said = {"avro.schema": json.dumps(schema), "avro.codec": codec, **(properties or {})}
    pairs = [lengthed(key.encode()) + lengthed(value.encode()) for key, value in said.items()]
    head = b"Obj\x01" + number(len(pairs)) + b"".join(pairs) + b"\0" + sync
    return head + b"".join(number(len(each)) + lengthed(CODECS[codec](b"".join(each))) + sync for each in blocks)


def head(data: bytes) -> dict[str, bytes]:
    """What stands before the first block."""
    return _head(data)[0]


def blocks_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """How many records, and their bytes."""
    properties, at = _head(data)
    unpack = UNPACK[properties["avro.codec"].decode()]
    stream = io.BytesIO(data)
    stream.seek(at)
    while stream.tell() < len(data):
        records, size = (fastavro.schemaless_reader(stream, "long", None) for _ in range(2))
        yield records, unpack(stream.read(size))
        assert stream.read(16) == data[at - 16 : at]


def body(data: bytes) -> bytes:
    """All records, one after the other."""
    return b"".join(block for _, block in blocks_of(data))


def rows(data: bytes) -> list[Any]:
    """What fastavro reads, without logical types: they cannot hold every value."""
    schema = fastavro.parse_schema(written_out(json.loads(head(data)["avro.schema"])))
    found = []
    for records, block in blocks_of(data):
        stream = io.BytesIO(block)
        found += [fastavro.schemaless_reader(stream, schema, None) for _ in range(records)]
        assert stream.tell() == len(block)
    return found


def _checked(block: bytes, packed: bytes) -> bytes:
    assert zlib.crc32(block) == int.from_bytes(packed[-4:], "big")
    return block


def _snappy_size(packed: bytes) -> int:
    size = 0
    for place, byte in enumerate(packed):
        size |= (byte & 127) << 7 * place
        if byte < 128:
            return size
    raise AssertionError


def _head(data: bytes) -> tuple[dict[str, bytes], int]:
    stream = io.BytesIO(data)
    stream.seek(4)
    properties: Any = fastavro.schemaless_reader(stream, {"type": "map", "values": "bytes"}, None)
    return properties, stream.tell() + 16


def written_out(schema: Json, known: dict[str, Json] | None = None) -> Json:
    """No logical types; every type written out where it is used, under a name of its own."""
    known = {} if known is None else known
    if isinstance(schema, str):
        return written_out(known[schema], known) if schema in known else schema
    if isinstance(schema, list):
        return [written_out(each, known) for each in schema]
    if "name" in schema and schema["type"] in ("record", "fixed", "enum"):
        known[schema["name"]] = schema
        schema = {**schema, "name": f"t{next(_NUMBERS)}"}
    if schema["type"] == "record":
        fields = [{**field, "type": written_out(field["type"], known)} for field in schema["fields"]]
        return {**schema, "fields": fields}
    inner = {key: written_out(schema[key], known) for key in ("items", "values") if key in schema}
    return {key: value for key, value in schema.items() if key != "logicalType"} | inner
