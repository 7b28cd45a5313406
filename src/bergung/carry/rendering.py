"""Values of Arrow columns as JSON can say them, so that people can tell them apart.

Numbers, texts and truth values stay what they are; decimals, times, bytes and what JSON has no word for become text.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from bergung.carry.canonical import cells_of, pick, plain
from bergung.carry.fields import Field

LONGEST = 1000
"""Letters of a text, or bytes, that are shown."""


def rendered(column: pa.Array, field: Field) -> list[Any]:
    """Each value; null is None."""
    column = plain(column)
    valid = [scalar.is_valid for scalar in column]
    values = _NESTED.get(field.kind, _leaf)(column, field)
    return [value if is_there else None for value, is_there in zip(values, valid, strict=True)]


def _struct(column: pa.Array, field: Field) -> list[Any]:
    places = pick(column.type, field.children)
    members = [column.field(place) for place in places]
    parts = [rendered(member, child) for member, child in zip(members, field.children, strict=True)]
    return [dict(zip([child.name for child in field.children], row, strict=True)) for row in zip(*parts, strict=True)]


def _list(column: pa.Array, field: Field) -> list[Any]:
    return [rendered(scalar.values, field.children[0]) if scalar.is_valid else None for scalar in column]


def _map(column: pa.Array, field: Field) -> list[Any]:
    key, item = field.children
    return [_entries(scalar.values, key, item) if scalar.is_valid else None for scalar in column]


def _entries(entries: pa.StructArray, key: Field, item: Field) -> list[Any]:
    """Pairs: a key need not be a text, and they have no order of their own."""
    pairs = zip(rendered(entries.field(0), key), rendered(entries.field(1), item), strict=True)
    return sorted(map(list, pairs), key=repr)


def _leaf(column: pa.Array, field: Field) -> list[Any]:
    name = field.kind.partition(":")[0]
    if name in _UNITS:
        # Not as Python's own dates, which end with the year 9999.
        unit, zone = _UNITS[name]
        return [f"{number}{zone}" for number in cells_of(column, field).fixed[1].view(f"<M8[{unit}]")]
    if name == "binary" and pa.types.is_struct(column.type):
        column = column.field("wkb")
    told = _single if column.type == pa.float32() else _TOLD.get(name, _as_it_is)
    return [told(scalar.as_py()) if scalar.is_valid else None for scalar in column]


def _as_it_is(value: Any) -> Any:
    return value


def _float(value: float) -> float | str:
    """JSON has no word for some of them."""
    return value if math.isfinite(value) else str(value)


def _single(value: float) -> float | str:
    """With the digits that tell it from its neighbours, not with those of a double."""
    return _float(float(str(np.float32(value))))


def _text(value: str) -> str:
    return value if len(value) <= LONGEST else f"{value[:LONGEST]}… ({len(value)} letters)"


def _hexadecimal(value: bytes) -> str:
    more = f"… ({len(value)} bytes)" if len(value) > LONGEST else ""
    return f"0x{value[:LONGEST].hex()}{more}"


_NESTED: dict[str, Callable[[pa.Array, Field], list[Any]]] = {"struct": _struct, "list": _list, "map": _map}
_UNITS = {
    "date": ("D", ""),
    "timestamp": ("us", ""),
    "timestamptz": ("us", "Z"),
    "timestamp_ns": ("ns", ""),
    "timestamptz_ns": ("ns", "Z"),
}
_TOLD: dict[str, Callable[[Any], Any]] = {
    "float": _float,
    "decimal": str,
    "string": _text,
    "binary": _hexadecimal,
    "time": str,
    "uuid": lambda value: value if isinstance(value, str) else value.hex(),
}
