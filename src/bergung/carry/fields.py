"""The columns of a fingerprint: Iceberg field ids and what kind of value each holds."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from bergung.errors import UsageError

FIELD_ID = b"PARQUET:field_id"

KINDS = {
    "boolean": "boolean",
    "int": "integer",
    "long": "integer",
    "float": "float",
    "double": "float",
    "date": "date",
    "time": "time",
    "timestamp": "timestamp",
    "timestamptz": "timestamptz",
    "timestamp_ns": "timestamp_ns",
    "timestamptz_ns": "timestamptz_ns",
    "string": "string",
    "uuid": "uuid",
    "binary": "binary",
    "unknown": "unknown",
}
"""Iceberg's type names; those that a column can be promoted between are one kind."""

_BYTES = re.compile(r"(fixed|geometry|geography)\b")
_DECIMAL = re.compile(r"decimal\(\s*\d+\s*,\s*(\d+)\s*\)")


@dataclass(frozen=True)
class Field:
    """One column, or one member of a nested one; its name only serves to find it where Arrow carries no ids."""

    id: int
    name: str
    kind: str
    children: tuple["Field", ...] = ()

    def described(self) -> str:
        """What enters the fingerprint: ids and kinds, no names."""
        inner = f"<{described(self.children)}>" if self.children else ""
        return f"{self.id} {self.kind}{inner}"


def described(fields: Iterable[Field]) -> str:
    """All columns in the order in which their values are written."""
    return ", ".join(field.described() for field in fields)


def fields_of_iceberg(schema: Mapping[str, Any]) -> tuple[Field, ...]:
    """The columns of one schema of a metadata file (its JSON, already parsed)."""
    return _by_id(_of_iceberg(each["id"], each["name"], each["type"]) for each in schema["fields"])


def fields_of_arrow(schema: Iterable[pa.Field]) -> tuple[Field, ...]:
    """The columns of Arrow data whose fields carry Iceberg's ids, as Iceberg's Parquet files do."""
    return _by_id(_of_arrow(each) for each in schema)


def field_id(field: pa.Field) -> int | None:
    """Iceberg's id in Arrow's field metadata."""
    found = (field.metadata or {}).get(FIELD_ID)
    return None if found is None else int(found)


def _by_id(fields: Iterable[Field]) -> tuple[Field, ...]:
    return tuple(sorted(fields, key=lambda field: field.id))


def _of_iceberg(number: int, name: str, said: Any) -> Field:
    if said == "variant":
        return Field(number, name, "struct", VARIANT)
    if isinstance(said, str):
        return Field(number, name, _iceberg_kind(said))
    if said["type"] == "struct":
        return Field(number, name, "struct", fields_of_iceberg(said))
    if said["type"] == "list":
        return Field(number, name, "list", (_of_iceberg(said["element-id"], "element", said["element"]),))
    key = _of_iceberg(said["key-id"], "key", said["key"])
    return Field(number, name, "map", (key, _of_iceberg(said["value-id"], "value", said["value"])))


def _iceberg_kind(said: str) -> str:
    decimal = _DECIMAL.fullmatch(said)
    if decimal:
        return f"decimal:{decimal[1]}"
    if _BYTES.match(said):
        return "binary"
    if said not in KINDS:
        raise UsageError(f"a column has the type {said!r}, which has no fingerprint", "update bergung")
    return KINDS[said]


def _of_arrow(field: pa.Field) -> Field:
    number = field_id(field)
    if number is None:
        raise UsageError(f"column {field.name!r} carries no Iceberg field id", "give the fields of the table's schema")
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_struct(kind):
        return Field(number, field.name, "struct", fields_of_arrow(list(kind)))
    if pa.types.is_map(kind):
        return Field(number, field.name, "map", (_of_arrow(kind.key_field), _of_arrow(kind.item_field)))
    if hasattr(kind, "value_field"):
        return Field(number, field.name, "list", (_of_arrow(kind.value_field),))
    return Field(number, field.name, _arrow_kind(kind))


def _arrow_kind(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"decimal:{kind.scale}"
    if pa.types.is_timestamp(kind):
        return ("timestamptz" if kind.tz else "timestamp") + ("_ns" if kind.unit == "ns" else "")
    for test, name in _ARROW_KINDS:
        if test(kind):
            return name
    raise UsageError(f"Arrow's {kind} has no fingerprint", "cast the column to a type that Iceberg knows")


VARIANT = (Field(1, "metadata", "binary"), Field(2, "value", "binary"))
"""A variant is compared by its bytes; Arrow hands it over as these two."""

_ARROW_KINDS = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_signed_integer, "integer"),
    (pa.types.is_floating, "float"),
    (pa.types.is_date, "date"),
    (pa.types.is_time, "time"),
    (pa.types.is_string, "string"),
    (pa.types.is_large_string, "string"),
    (pa.types.is_string_view, "string"),
    (lambda kind: isinstance(kind, pa.UuidType), "uuid"),
    (pa.types.is_binary, "binary"),
    (pa.types.is_large_binary, "binary"),
    (pa.types.is_binary_view, "binary"),
    (pa.types.is_fixed_size_binary, "binary"),
    (pa.types.is_null, "unknown"),
)
