"""A table's columns and its folder as a metastore shows them to Hive; engines read the metadata file instead."""

import gzip
import json
import re
from dataclasses import dataclass
from typing import Any

from bergung.errors import CorruptFile

_GZIP = b"\x1f\x8b"
_PARAMETERS = re.compile(r"\(.*|\[.*")
_TYPES = {
    "boolean": "boolean",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "date": "date",
    "time": "string",
    "timestamp": "timestamp",
    "timestamp_ns": "timestamp",
    "timestamptz": "timestamp with local time zone",
    "timestamptz_ns": "timestamp with local time zone",
    "string": "string",
    "uuid": "string",
    "unknown": "void",
}
"""As Iceberg's Java library has them; everything else is bytes to Hive."""


@dataclass(frozen=True)
class Shown:
    """Name, type and comment of each column; where the table lies."""

    location: str
    columns: tuple[tuple[str, str, str | None], ...]


def shown(content: bytes, path: str) -> Shown:
    """From a metadata file."""
    try:
        metadata = json.loads(gzip.decompress(content) if content.startswith(_GZIP) else content)
        fields = _schema(metadata)["fields"]
        columns = tuple((field["name"], hive_type(field["type"]), field.get("doc")) for field in fields)
        return Shown(metadata["location"], columns)
    except (ValueError, KeyError, TypeError, OSError, EOFError, StopIteration) as error:
        raise CorruptFile(f"not a metadata file: {path}", "bergung verify tells which files of a vault are damaged") from error


def _schema(metadata: dict[str, Any]) -> dict[str, Any]:
    if "schemas" not in metadata:
        old: dict[str, Any] = metadata["schema"]
        return old
    return next(each for each in metadata["schemas"] if each["schema-id"] == metadata["current-schema-id"])


def hive_type(kind: Any) -> str:
    """Hive's word for a type of Iceberg's JSON."""
    if isinstance(kind, str):
        if kind.startswith("decimal"):
            return kind.replace(" ", "")
        return _TYPES.get(_PARAMETERS.sub("", kind), "binary")
    if kind["type"] == "struct":
        inner = ",".join(f"{field['name']}:{hive_type(field['type'])}" for field in kind["fields"])
        return f"struct<{inner}>"
    if kind["type"] == "list":
        return f"array<{hive_type(kind['element'])}>"
    if kind["type"] == "map":
        return f"map<{hive_type(kind['key'])},{hive_type(kind['value'])}>"
    return "binary"
