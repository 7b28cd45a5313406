"""Are the rows of a written file those that were meant: each with its path moved, all in the order that readers expect."""

import numpy as np
import pyarrow as pa

from bergung.iceberg.relocate.formats.path_column import MovedPaths, Numbers, PathColumn, column_of, numbers_of
from bergung.iceberg.relocate.otherwise import otherwise

_BITS = {pa.float16(): pa.int16(), pa.float32(): pa.int32(), pa.float64(): pa.int64()}


def require_rows(old: pa.Table, new: pa.Table, names: tuple[str, str], moved: MovedPaths, where: str) -> None:
    """DamageFound when they are not the same but for the paths; `names` are those of the columns of paths and positions."""
    path, position = names
    if new.num_rows != old.num_rows or new.schema.names != old.schema.names:
        raise otherwise(where, "its rows are more or fewer than they were, or have other columns")
    kept = MovedPaths({name: name for name in moved.names}, 0)
    ranks, positions = path_column(old, path, where).ranks(moved), _numbers(old, position, where)
    order = None if moved.keeps_order else np.lexsort((positions, ranks))
    found = path_column(new, path, where)
    if not found.counts().keys() <= kept.targets.keys() or not np.array_equal(_taken(ranks, order), found.ranks(kept)):
        raise otherwise(where, "its paths are not the ones that were meant")
    for name in set(old.schema.names) - {path}:
        before = old.column(name) if order is None else old.column(name).take(column_of(order))
        if not _equal(before, new.column(name)):
            raise otherwise(where, f"its column {name} differs")


def path_column(table: pa.Table, name: str, where: str) -> PathColumn:
    """The paths of a table whose column of paths has a dictionary."""
    column = PathColumn(where)
    column.add_group(table.column(name).chunks)
    return column


def _numbers(table: pa.Table, name: str, where: str) -> Numbers:
    parts = [numbers_of(chunk, where) for chunk in table.column(name).chunks]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _taken(numbers: Numbers, order: Numbers | None) -> Numbers:
    return numbers if order is None else numbers[order]


def _equal(one: pa.ChunkedArray, other: pa.ChunkedArray) -> bool:
    """Bit by bit: no number equals a NaN, and 0.0 equals -0.0."""
    bits = _bits(one.type)
    views = [pa.chunked_array([chunk.view(bits) for chunk in each.chunks], bits) for each in (one, other)]
    return bool(one.type == other.type and views[0].equals(views[1]))


def _bits(type_: pa.DataType) -> pa.DataType:
    """The same type with integers in place of floats, on every level."""
    if pa.types.is_struct(type_):
        return pa.struct([field.with_type(_bits(field.type)) for field in type_])
    if pa.types.is_map(type_):
        return pa.map_(type_.key_field.with_type(_bits(type_.key_type)), type_.item_field.with_type(_bits(type_.item_type)))
    if pa.types.is_large_list(type_):
        return pa.large_list(type_.value_field.with_type(_bits(type_.value_type)))
    if pa.types.is_list(type_):
        return pa.list_(type_.value_field.with_type(_bits(type_.value_type)))
    return _BITS.get(type_, type_)
