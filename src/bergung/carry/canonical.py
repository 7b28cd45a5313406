"""Arrow columns as bytes of one form, so that equal values are equal bytes whoever wrote them (docs/fingerprint.md).

Values are read from Arrow's buffers: `to_numpy`, `fill_null` and `pa.scalar` would import pandas in every worker.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from dataclasses import field as member
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bergung.carry.fields import Field, field_id
from bergung.carry.totals import per_group
from bergung.errors import UsageError

Numbers = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Cells:
    """The values of some columns: what has one width, and what has any."""

    fixed: list[Numbers] = member(default_factory=list)
    variable: list[pa.Array] = member(default_factory=list)

    def extend(self, other: "Cells") -> None:
        """The other columns after these."""
        self.fixed.extend(other.fixed)
        self.variable.extend(other.variable)


def rows_as_bytes(columns: Sequence[pa.Array], fields: Sequence[Field], prefix: bytes = b"") -> pa.Array:
    """One binary value per row: the prefix, all that is fixed, then all that is variable."""
    cells = Cells([np.full(len(columns[0]), np.void(prefix))] if prefix else [])
    for column, each in zip(columns, fields, strict=True):
        cells.extend(cells_of(column, each))
    block = _block(cells.fixed)
    return pc.binary_join_element_wise(block, *cells.variable, _NOTHING) if cells.variable else block


def pick(members: Iterable[pa.Field], fields: Sequence[Field]) -> list[int]:
    """Where each field stands among Arrow's: by id when all of them carry one, else by name."""
    members = list(members)
    ids = [field_id(each) for each in members]
    by_name = None in ids
    places = {each.name if by_name else field_id(each): place for place, each in enumerate(members)}
    wanted = [each.name if by_name else each.id for each in fields]
    missing = [str(key) for key in wanted if key not in places]
    if missing:
        raise UsageError(f"columns are missing: {', '.join(missing)}", "give the fields of the schema that was read")
    return [places[key] for key in wanted]


def cells_of(column: pa.Array, field: Field) -> Cells:
    """One column: first whether there is a value, then the values, zeros where there is none."""
    column = plain(column)
    valid = _numbers(pc.is_valid(column).cast(pa.uint8()), np.uint8)
    cells = _NESTED.get(field.kind, _leaf)(column.drop_null() if column.null_count else column, field)
    if column.null_count:
        cells = _spread(cells, valid)
    return Cells([valid, *cells.fixed], cells.variable)


def _spread(cells: Cells, valid: Numbers) -> Cells:
    """Zeros and empty values where the column has nulls."""
    places = valid.view(np.bool_)
    fixed = [np.zeros(len(valid), part.dtype) for part in cells.fixed]
    for whole, part in zip(fixed, cells.fixed, strict=True):
        whole[places] = part
    return Cells(fixed, [_spread_binary(values, places) for values in cells.variable])


def _spread_binary(values: pa.Array, places: Numbers) -> pa.Array:
    lengths = np.zeros(len(places), np.int64)
    lengths[places] = np.diff(_offsets(values))
    return _binary(_ends(lengths) + _offsets(values)[0], values.buffers()[2])


def _leaf(column: pa.Array, field: Field) -> Cells:
    name, _, scale = field.kind.partition(":")
    try:
        values = _LEAVES[name](column, int(scale or 0))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError, KeyError) as problem:
        raise UsageError(
            f"column {field.name!r} is {field.kind} in the table and comes as {column.type}: {problem}",
            "read it with the schema of its snapshot",
        ) from problem
    return _variable(values) if isinstance(values, pa.Array) else Cells([values])


def _struct(column: pa.Array, field: Field) -> Cells:
    cells = Cells()
    members = column.flatten()
    for child, place in zip(field.children, pick(column.type, field.children), strict=True):
        cells.extend(cells_of(members[place], child))
    return cells


def _list(column: pa.Array, field: Field) -> Cells:
    ends = _ends_of_lists(column)
    elements = rows_as_bytes([_part(column.values, ends)], field.children)
    return _variable(_binary(_offsets(elements)[ends - ends[0]], elements.buffers()[2]))


def _map(column: pa.Array, field: Field) -> Cells:
    # A map's entries have no order: they are summed like the rows of a table.
    ends = _ends_of_lists(column)
    entries = rows_as_bytes([_part(column.keys, ends), _part(column.items, ends)], field.children)
    return Cells([np.diff(ends), per_group(entries, ends - ends[0])])


def _ends_of_lists(column: pa.Array) -> Numbers:
    return _numbers(column.offsets, np.int64 if pa.types.is_large_list(column.type) else np.int32).astype(np.int64)


def _part(values: pa.Array, ends: Numbers) -> pa.Array:
    # Not cast and flatten(): together they abort the process on some slices of nested lists (pyarrow 26).
    return values.slice(ends[0], ends[-1] - ends[0])


def plain(column: pa.Array) -> pa.Array:
    """Without extension, dictionary or view: kernels do not know all of these."""
    kind = column.type
    if isinstance(column, pa.ExtensionArray):
        return plain(column.storage)
    if pa.types.is_dictionary(kind):
        return plain(column.dictionary_decode())
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    if pa.types.is_binary_view(kind):
        return column.cast(pa.large_binary())
    if hasattr(kind, "value_field") and not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return column.cast(pa.large_list(kind.value_field))
    return column


def _boolean(column: pa.Array, _: int) -> Numbers:
    return _numbers(column.cast(pa.bool_()).cast(pa.uint8()), np.uint8)


def _float(column: pa.Array, _: int) -> Numbers:
    values = _numbers(column.cast(pa.float64()), np.float64) + 0.0  # −0.0 becomes 0.0
    values[np.isnan(values)] = np.nan
    return values


def _decimal(column: pa.Array, scale: int) -> Numbers:
    return _numbers(column.cast(pa.decimal128(38, scale)), "V16")


def _counted(*through: pa.DataType) -> Callable[[pa.Array, int], Numbers]:
    """Whole numbers, and what is counted from an epoch."""

    def encode(column: pa.Array, _: int) -> Numbers:
        for step in (*through, pa.int64()):
            column = column.cast(step)
        return _numbers(column, np.int64)

    return encode


def _timestamp(unit: str, *, zoned: bool) -> Callable[[pa.Array, int], Numbers]:
    def encode(column: pa.Array, _: int) -> Numbers:
        zone = getattr(column.type, "tz", None)
        if pa.types.is_timestamp(column.type) and bool(zone) != zoned:
            raise ValueError("only one of them has a time zone")
        return _numbers(column.cast(pa.timestamp(unit, zone)).cast(pa.int64()), np.int64)

    return encode


def _bytes(column: pa.Array, _: int) -> pa.Array:
    if pa.types.is_struct(column.type):
        # Spark hands a geometry over with its reference system, which the type names already.
        column = column.field("wkb")
    return column.cast(pa.large_binary())


def _uuid(column: pa.Array, _: int) -> Numbers:
    # Spark hands a uuid over as text.
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    values = (pc.replace_substring(column, "-", "") if is_text else column).cast(pa.large_binary())
    if (np.diff(_offsets(values)) != (32 if is_text else 16)).any():
        raise ValueError("not 16 bytes each")
    content = _content(values)
    return np.frombuffer(bytes.fromhex(content.decode("ascii")) if is_text else content, "V16")


def _unknown(column: pa.Array, _: int) -> Numbers:
    if len(column):
        raise ValueError("this type holds nulls only")
    return np.zeros(0, np.uint8)


def _numbers(column: pa.Array, dtype: Any) -> Numbers:
    if not len(column):
        return np.zeros(0, dtype)
    width = np.dtype(dtype).itemsize
    return np.frombuffer(column.buffers()[1], dtype, len(column), column.offset * width)


def _variable(values: pa.Array) -> Cells:
    return Cells([np.diff(_offsets(values))], [values])


def _offsets(values: pa.Array) -> Numbers:
    if not len(values):
        return np.zeros(1, np.int64)
    return np.frombuffer(values.buffers()[1], np.int64, len(values) + 1, values.offset * 8)


def _content(values: pa.Array) -> bytes:
    offsets = _offsets(values)
    return bytes(memoryview(values.buffers()[2] or b"")[offsets[0] : offsets[-1]])


def _binary(offsets: Numbers, content: pa.Buffer | None) -> pa.Array:
    # Arrow's kernels abort the process on a binary array without a content buffer.
    buffers = [None, pa.py_buffer(offsets), content or pa.py_buffer(b"")]
    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)


def _ends(lengths: Numbers) -> Numbers:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def _block(parts: list[Numbers]) -> pa.Array:
    count = len(parts[0])
    block = np.empty(count, np.dtype([(f"f{place}", part.dtype) for place, part in enumerate(parts)]))
    for place, part in enumerate(parts):
        block[f"f{place}"] = part
    ends = np.arange(count + 1, dtype=np.int64) * block.dtype.itemsize
    return _binary(ends, pa.py_buffer(block.view(np.uint8)))


_NOTHING = _binary(np.zeros(2, np.int64), pa.py_buffer(b""))[0]
_NESTED = {"struct": _struct, "list": _list, "map": _map}
_LEAVES: dict[str, Callable[[pa.Array, int], Numbers | pa.Array]] = {
    "boolean": _boolean,
    "integer": _counted(),
    "float": _float,
    "decimal": _decimal,
    "date": _counted(pa.date32(), pa.int32()),
    "time": _counted(pa.time64("us")),
    "timestamp": _timestamp("us", zoned=False),
    "timestamptz": _timestamp("us", zoned=True),
    "timestamp_ns": _timestamp("ns", zoned=False),
    "timestamptz_ns": _timestamp("ns", zoned=True),
    "string": _bytes,
    "binary": _bytes,
    "uuid": _uuid,
    "unknown": _unknown,
}
