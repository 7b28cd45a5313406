"""Position deletes in ORC: all columns are written anew by Arrow, and the footer gets back what Arrow leaves out.

Types whose values Arrow would not keep exactly, timestamps among them, are refused; positions and paths have none.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.orc as orc

from bergung.errors import UnsupportedTable
from bergung.iceberg.relocate.formats.moved_deletes import MovedDeletes, untouched
from bergung.iceberg.relocate.formats.orc_file import OrcFile, with_kept
from bergung.iceberg.relocate.formats.path_column import (
    PATH,
    POSITION,
    MovedPaths,
    PathColumn,
    column_of,
    dictionary_of,
    moved_paths,
    numbers_of,
)
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.rewritten import Rewritten

_EXACT = {*range(9), 10, 11, 12, 14, 15}
"""Kinds of types: not timestamps (9, 18), unions (13), and text of a largest length (16, 17)."""
LZO = 3
CODECS = {0: "uncompressed", 1: "zlib", 2: "snappy", LZO: "zlib", 4: "lz4", 5: "zstd"}
"""Nobody but Java writes LZO; those files come out in the codec that every reader knows."""
_WRITE_ROWS = 128 * 1024
_STRIDE, _BLOCK_BYTES = 10_000, 256 * 1024
"""Where the old file has none."""
_DISTINCT = 0.8
"""A column with more distinct values than this share of its rows has no dictionary, as Java has it."""


def relocate_orc(data: pa.Buffer, where: str, moves: PathMap) -> MovedDeletes:
    """CorruptFile for what no reader would take, UnsupportedTable for what cannot be kept as it is."""
    old = OrcFile(data, where)
    name = old.column(PATH)
    paths = old.paths(name)
    moved = moved_paths(paths.counts(), moves)
    if not moved.has_changed:
        return untouched(data, moved)
    if not old.kinds <= _EXACT:
        raise _inexact(where)
    rows = _in_order(old, name, paths, moved) if moved.keeps_order else _sorted(old, name, paths, moved)
    new = with_kept(_file_of(old, rows), old)
    facts = OrcFile(new, where)
    if facts.types != old.types:
        raise _inexact(where)
    return MovedDeletes(new, Rewritten(len(new), split_offsets=facts.stripe_offsets, bounds=moved.bounds), moved.dangling_count)


def _in_order(old: OrcFile, name: str, paths: PathColumn, moved: MovedPaths) -> Iterator[pa.Table]:
    place = old.schema.get_field_index(name)
    for stripe, column in enumerate(paths.groups(moved)):
        others = old.others(stripe, name)
        for start in range(0, len(column), _WRITE_ROWS):
            yield _with_paths(others.slice(start, _WRITE_ROWS), place, column.slice(start, _WRITE_ROWS))


def _sorted(old: OrcFile, name: str, paths: PathColumn, moved: MovedPaths) -> Iterator[pa.Table]:
    place, ranks = old.schema.get_field_index(name), paths.ranks(moved)
    table = pa.concat_tables([old.others(stripe, name) for stripe in range(old.arrow.nstripes)])
    positions = np.concatenate([numbers_of(chunk, old.where) for chunk in table.column(old.column(POSITION)).chunks])
    order = np.lexsort((positions, ranks))
    for start in range(0, len(order), _WRITE_ROWS):
        rows = order[start : start + _WRITE_ROWS]
        yield _with_paths(table.take(column_of(rows)), place, dictionary_of(ranks[rows], moved.names))


def _with_paths(others: pa.Table, place: int, column: pa.DictionaryArray) -> pa.Table:
    """Arrow's writer of ORC takes no dictionaries; it makes its own."""
    return others.add_column(place, "paths", column.dictionary.take(column.indices))


def _file_of(old: OrcFile, tables: Iterator[pa.Table]) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    writer = orc.ORCWriter(
        sink,
        compression=CODECS[old.compression],
        compression_block_size=old.arrow.compression_size or _BLOCK_BYTES,
        row_index_stride=old.arrow.row_index_stride or _STRIDE,
        dictionary_key_size_threshold=_DISTINCT,
    )
    schema = old.schema
    place = schema.get_field_index(old.column(PATH))
    schema = schema.set(place, schema.field(place).with_type(pa.string()))
    with writer:
        for table in tables:
            writer.write(pa.Table.from_arrays(table.columns, schema=schema))
    return sink.getvalue()


def _inexact(where: str) -> UnsupportedTable:
    hint = "restore this table to its own place, or compact its deletes first (rewrite_position_delete_files)"
    return UnsupportedTable(f"{where} holds rows whose values cannot be written again exactly in ORC", hint)
