"""Python lists to Arrow and back without pandas, which pyarrow's own conversions import at 1.1 s a process."""

from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa

_CODES = {pa.int64(): "q", pa.int32(): "i", pa.int8(): "b"}


def table(schema: pa.Schema, columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """A table of strings and integers; a column that is not given is all null."""
    rows = len(next(iter(columns.values()), ()))
    arrays = [_array(field.type, columns[field.name]) if field.name in columns else _nulls(field.type, rows) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def table_of(schema: pa.Schema, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """A table of rows; a key that a row has not is null."""
    return table(schema, {name: [row.get(name) for row in rows] for name in schema.names})


def batch_of(schema: pa.Schema, rows: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    """The same as one record batch."""
    arrays = [_array(field.type, [row.get(field.name) for row in rows]) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def values(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """A column as Python values."""
    return [scalar.as_py() for scalar in column]


def rows_of(data: pa.Table | pa.RecordBatch) -> list[dict[str, Any]]:
    """Rows as dictionaries."""
    names = data.schema.names
    return [dict(zip(names, row, strict=True)) for row in zip(*(values(data.column(name)) for name in names), strict=True)]


def where(data: pa.Table, column: str, wanted: Any) -> pa.Table:
    """The rows with that value; Arrow's own comparison with a Python value would import pandas."""
    places = [place for place, value in enumerate(values(data.column(column))) if value == wanted]
    return data.take(_array(pa.int64(), places))


def _array(type_: pa.DataType, items: Sequence[Any]) -> pa.Array:
    valid = _bitmap(items)
    if type_ == pa.string():
        return _strings(items, valid)
    numbers = array(_CODES[type_], [0 if item is None else item for item in items])
    return pa.Array.from_buffers(type_, len(items), [valid, pa.py_buffer(numbers)])


def _strings(items: Sequence[str | None], valid: pa.Buffer | None) -> pa.Array:
    encoded = [b"" if item is None else item.encode() for item in items]
    offsets = array("i", accumulate(map(len, encoded), initial=0))
    return pa.Array.from_buffers(pa.string(), len(items), [valid, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))])


def _nulls(type_: pa.DataType, count: int) -> pa.Array:
    return _array(type_, [None] * count)


def _bitmap(items: Sequence[Any]) -> pa.Buffer | None:
    if None not in items:
        return None
    bits = bytearray((len(items) + 7) // 8)
    for position, item in enumerate(items):
        if item is not None:
            bits[position >> 3] |= 1 << (position & 7)
    return pa.py_buffer(bytes(bits))
