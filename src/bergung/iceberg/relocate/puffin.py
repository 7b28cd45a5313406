"""Puffin files: only the footer names data files, so everything before it stays byte for byte.

Deletion vectors say in the property `referenced-data-file` which file they mean. Statistics name none and come out as they were.
"""

import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from bergung.errors import UnsupportedTable
from bergung.iceberg.avro import BROKEN, corrupt
from bergung.iceberg.relocate import lz4_frame
from bergung.iceberg.relocate.otherwise import otherwise
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.rewritten import Rewritten

Json = Any

REFERENCED = "referenced-data-file"
DELETION_VECTOR = "deletion-vector-v1"

_MAGIC = b"PFA1"
_ENCRYPTED = b"AGS1"
_TAIL = struct.Struct("<iI4s")
"""Size of the footer's payload, flags, magic."""
_COMPRESSED = 1
_VECTOR_MAGIC = b"\xd1\xd39d"


@dataclass(frozen=True)
class MovedPuffin:
    """A Puffin file's new bytes, and what its manifests must say of it."""

    data: bytes
    rewritten: Rewritten
    dangling_count: int
    """Vectors of files that have no new place; their paths are kept."""


@dataclass(frozen=True)
class _Puffin:
    where: str
    body: bytes
    """From the first magic to the footer."""
    flags: int
    text: str
    footer: Json


def relocate_puffin(data: bytes | pa.Buffer, where: str, moves: PathMap) -> MovedPuffin:
    """Every data file that a blob names goes its way; CorruptFile when any part of the file is not what it should be."""
    data = bytes(data)
    old = _open(data, where)
    footer, dangling_count = _moved(old.footer, moves)
    new = data if footer == old.footer else _written(replace(old, footer=footer), _style(old))
    blobs = {blob["offset"]: (blob["offset"], blob["length"]) for blob in footer["blobs"]}
    return MovedPuffin(new, Rewritten(len(new), blobs=blobs), dangling_count)


def check_puffin(old: bytes | pa.Buffer, new: MovedPuffin, where: str, moves: PathMap) -> None:
    """DamageFound when the new file, read again, is not the old one with its paths moved, or not what is said of it."""
    source, written = _open(bytes(old), where), _open(new.data, where)
    expected, dangling_count = _moved(source.footer, moves)
    if written.body != source.body or written.flags != source.flags:
        raise otherwise(where, "its blobs differ from those that it was made of")
    if written.footer != expected:
        raise otherwise(where, "its footer is not the one that was meant")
    blobs = {blob["offset"]: (blob["offset"], blob["length"]) for blob in source.footer["blobs"]}
    if new.rewritten != Rewritten(len(new.data), blobs=blobs) or new.dangling_count != dangling_count:
        raise otherwise(where, "it is not what its manifest would say of it")


def _moved(footer: Json, moves: PathMap) -> tuple[Json, int]:
    blobs, dangling_count = [], 0
    for blob in footer["blobs"]:
        path = blob.get("properties", {}).get(REFERENCED)
        target = None if path is None else moves.maybe(path)
        dangling_count += path is not None and target is None
        blobs.append(blob if target is None else {**blob, "properties": {**blob["properties"], REFERENCED: target}})
    return {**footer, "blobs": blobs}, dangling_count


def _open(data: bytes, where: str) -> _Puffin:
    if data[:4] == _ENCRYPTED:
        raise UnsupportedTable(f"{where} is encrypted", "such a file cannot be opened without its keys")
    if data[:4] != _MAGIC or len(data) < 2 * len(_MAGIC) + _TAIL.size:
        raise corrupt(where, "it is empty" if not data else "it is no Puffin file")
    size, flags, magic = _TAIL.unpack(data[-_TAIL.size :])
    start = len(data) - _TAIL.size - size
    if magic != _MAGIC or size < 0 or start < 2 * len(_MAGIC) or data[start - len(_MAGIC) : start] != _MAGIC:
        raise corrupt(where, "its footer is cut off")
    if flags & ~_COMPRESSED:
        raise UnsupportedTable(f"{where} has flags that are not known ({flags:#x})", "it was written by something newer")
    try:
        text = _unpacked(data[start : -_TAIL.size], flags).decode()
        footer = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
        _require_shape(footer)
    except BROKEN as error:
        raise corrupt(where, "its footer makes no sense") from error
    found = _Puffin(where, data[: start - len(_MAGIC)], flags, text, footer)
    for blob in footer["blobs"]:
        _require_blob(found, blob)
    return found


def _written(puffin: _Puffin, style: Callable[[Json], str]) -> bytes:
    payload = style(puffin.footer).encode()
    if puffin.flags & _COMPRESSED:
        payload = lz4_frame.compress(payload)
    return b"".join((puffin.body, _MAGIC, payload, _TAIL.pack(len(payload), puffin.flags, _MAGIC)))


def _style(puffin: _Puffin) -> Callable[[Json], str]:
    """How this writer writes JSON, so that the way back ends in the same bytes; the shortest form when it is not known."""
    return next((style for style in _STYLES if style(puffin.footer) == puffin.text), _STYLES[0])


_STYLES: tuple[Callable[[Json], str], ...] = (
    json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode,
    json.JSONEncoder(separators=(",", ":")).encode,
    json.JSONEncoder(ensure_ascii=False).encode,
    json.JSONEncoder().encode,
    json.JSONEncoder(ensure_ascii=False, indent=2).encode,
)


def _unpacked(payload: bytes, flags: int) -> bytes:
    return lz4_frame.decompress(payload) if flags & _COMPRESSED else payload


def _once(pairs: list[tuple[str, Json]]) -> Json:
    """Readers differ in which of two equal names they believe."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice")
    return found


def _refuse(constant: str) -> Json:
    raise ValueError(f"{constant} is no JSON")


def _require_shape(footer: Json) -> None:
    for blob in footer["blobs"]:
        numbers = (blob["offset"], blob["length"])
        strings = (blob["type"], *blob.get("properties", {}).values())
        if not all(type(each) is int for each in numbers) or not all(type(each) is str for each in strings):
            raise ValueError("a blob's fields are of another kind")


def _require_blob(puffin: _Puffin, blob: Json) -> None:
    start, end = blob["offset"], blob["offset"] + blob["length"]
    if start < len(_MAGIC) or end < start or end > len(puffin.body):
        raise corrupt(puffin.where, f"a blob of {blob['length']} bytes at {start} does not lie in it")
    if blob["type"] == DELETION_VECTOR and blob.get("compression-codec") is None:
        _require_vector(puffin.body[start:end], puffin.where, start)


def _require_vector(vector: bytes, where: str, start: int) -> None:
    size, summed, checksum = vector[:4], vector[4:-4], vector[-4:]
    if len(vector) < 12 or int.from_bytes(size) != len(summed) or summed[:4] != _VECTOR_MAGIC:
        raise corrupt(where, f"the blob at {start} is no deletion vector")
    if zlib.crc32(summed) != int.from_bytes(checksum):
        raise corrupt(where, f"the checksum of the deletion vector at {start} differs")
