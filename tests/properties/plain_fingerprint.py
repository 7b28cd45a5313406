"""docs/fingerprint.md once more, row by row in plain Python: what the fast one is compared with."""

import math
import struct
from decimal import Context
from hashlib import sha256
from typing import Any

from bergung.carry.fields import Field, described

MODULUS = 1 << 128
WIDE = Context(prec=60)


def plain_fingerprint(rows: list[dict[str, Any]], fields: tuple[Field, ...]) -> str:
    prefix = sha256(described(fields).encode()).digest()[:16]
    return f"rows1:{sum(number(prefix + as_bytes(row, fields)) for row in rows) % MODULUS:032x}"


def number(content: bytes) -> int:
    return int.from_bytes(sha256(content).digest()[:16], "little")


def as_bytes(row: dict[str, Any], fields: tuple[Field, ...]) -> bytes:
    parts = [cell(row[field.name], field) for field in fields]
    return b"".join(fixed for fixed, _ in parts) + b"".join(variable for _, variable in parts)


def cell(value: Any, field: Field) -> tuple[bytes, bytes]:
    if value is None:
        return bytes(width(field)), b""
    fixed, variable = content(value, field)
    return b"\x01" + fixed, variable


def width(field: Field) -> int:
    kind = field.kind.partition(":")[0]
    if kind == "struct":
        return 1 + sum(width(child) for child in field.children)
    return 1 + {"boolean": 1, "decimal": 16, "uuid": 16, "map": 24, "unknown": 1}.get(kind, 8)


def content(value: Any, field: Field) -> tuple[bytes, bytes]:
    kind, _, scale = field.kind.partition(":")
    if kind == "struct":
        parts = [cell(value[child.name], child) for child in field.children]
        return b"".join(fixed for fixed, _ in parts), b"".join(variable for _, variable in parts)
    if kind == "map":
        key, item = field.children
        entries = [as_bytes({key.name: k, item.name: v}, field.children) for k, v in value]
        total = sum(number(entry) for entry in entries) % MODULUS
        return struct.pack("<q", len(value)) + total.to_bytes(16, "little"), b""
    if kind in ("string", "binary", "list"):
        variable = in_full(value, field)
        return struct.pack("<q", len(variable)), variable
    if kind == "decimal":
        return int(value.scaleb(int(scale), WIDE)).to_bytes(16, "little", signed=True), b""
    return simple(value, kind), b""


def in_full(value: Any, field: Field) -> bytes:
    if field.kind == "list":
        element = field.children[0]
        return b"".join(as_bytes({element.name: each}, field.children) for each in value)
    return value.encode() if field.kind == "string" else value


def simple(value: Any, kind: str) -> bytes:
    if kind == "float":
        return bytes.fromhex("000000000000f87f") if math.isnan(value) else struct.pack("<d", value + 0.0)
    if kind == "uuid":
        return value
    return struct.pack("<?" if kind == "boolean" else "<q", value)
