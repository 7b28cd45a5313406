"""Puffin files written by hand, from the specification."""

import json
import struct
import zlib
from collections.abc import Iterable
from typing import Any

from pyroaring import BitMap

from bergung.iceberg.relocate import lz4_frame

MAGIC = b"PFA1"


def vector(positions: Iterable[int]) -> bytes:
    """A deletion vector as the specification has it."""
    by_key: dict[int, BitMap] = {}
    for position in positions:
        by_key.setdefault(position >> 32, BitMap()).add(position & 0xFFFFFFFF)
    bitmaps = b"".join(struct.pack("<I", key) + by_key[key].serialize() for key in sorted(by_key))
    summed = b"\xd1\xd3\x39\x64" + struct.pack("<Q", len(by_key)) + bitmaps
    return struct.pack(">I", len(summed)) + summed + struct.pack(">I", zlib.crc32(summed))


def deletes(path: str, positions: Iterable[int], **other: Any) -> tuple[dict[str, Any], bytes]:
    """A blob of deleted positions of one data file, and its entry in the footer."""
    found = list(positions)
    properties = {"referenced-data-file": path, "cardinality": str(len(found))}
    entry = {"type": "deletion-vector-v1", "fields": [2147483645], "snapshot-id": -1, "sequence-number": -1}
    return {**entry, "properties": properties, **other}, vector(found)


def puffin(*blobs: tuple[dict[str, Any], bytes], compressed: bool = False, dumped: Any = None, **other: Any) -> bytes:
    """The file; `dumped` writes its JSON."""
    entries, start = [], len(MAGIC)
    for entry, blob in blobs:
        entries.append({**entry, "offset": start, "length": len(blob)})
        start += len(blob)
    footer = {"blobs": entries, **other}
    payload = (dumped or compact)(footer).encode()
    return closed(MAGIC + b"".join(blob for _, blob in blobs), payload, compressed)


def closed(body: bytes, payload: bytes, compressed: bool = False) -> bytes:
    stored = lz4_frame.compress(payload) if compressed else payload
    return body + MAGIC + stored + struct.pack("<iI", len(stored), compressed) + MAGIC


def compact(footer: Any) -> str:
    return json.dumps(footer, separators=(",", ":"), ensure_ascii=False)


def footer_of(data: bytes) -> Any:
    size, flags = struct.unpack("<iI", data[-12:-4])
    payload = data[-12 - size : -12]
    return json.loads(lz4_frame.decompress(payload) if flags else payload)
