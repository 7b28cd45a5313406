"""Position deletes in Parquet: the chunks of paths are made anew and grafted into the file.

All else goes along as bytes, whatever it is. Only where the new paths sort otherwise are all columns written anew, in that order.
"""

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bergung.errors import UnsupportedTable
from bergung.iceberg.avro import corrupt
from bergung.iceberg.relocate.formats.moved_deletes import MovedDeletes, untouched
from bergung.iceberg.relocate.formats.parquet_chunk import LZ4_OF_HADOOP, UNCOMPRESSED
from bergung.iceberg.relocate.formats.parquet_file import ParquetFile, grafted, open_file
from bergung.iceberg.relocate.formats.parquet_reader import Reader
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

_BYTE_ARRAY = 6
_OPTIONAL, _REPEATED = 1, 2
_CODECS = {UNCOMPRESSED: "none", 1: "snappy", 2: "gzip", 4: "brotli", LZ4_OF_HADOOP: "none", 6: "zstd", 7: "lz4"}
_MOST_ROWS = 64 * 1024 * 1024
"""Arrow writes no longer row groups."""
_DICTIONARY_BYTES = 1024 * 1024
_SETTINGS: tuple[dict[str, Any], ...] = ({"store_decimal_as_integer": True}, {"store_decimal_as_integer": False})
"""Iceberg's Java writer has small decimals as integers, others do not."""


def relocate_parquet(data: pa.Buffer, where: str, moves: PathMap) -> MovedDeletes:
    """CorruptFile for what no reader would take, UnsupportedTable for what cannot be kept as it is."""
    old = open_file(data, where)
    place = path_place(old)
    reader = Reader(data, old.leaves[place].names[0], place, where)
    column = reader.paths()
    moved = moved_paths(column.counts(), moves)
    if not moved.has_changed:
        return untouched(data, moved)
    if moved.keeps_order and max(old.row_counts) <= _MOST_ROWS:
        new = grafted(old, _fresh_paths(old, place, column, moved), {place: 0})
    else:
        new = grafted(old, _fresh_rows(old, place, reader, column, moved), {at: at for at in range(len(old.leaves))})
    facts = open_file(new, where)
    return MovedDeletes(
        new, Rewritten(len(new), facts.column_sizes or None, facts.split_offsets, moved.bounds), moved.dangling_count
    )


def path_place(file: ParquetFile) -> int:
    """Which of its columns holds the paths."""
    place = file.place(*PATH)
    leaf = file.leaves[place]
    if leaf.type != _BYTE_ARRAY or leaf.repetition == _REPEATED:
        raise corrupt(file.where, "its paths are no strings")
    return place


def _fresh_paths(old: ParquetFile, place: int, column: PathColumn, moved: MovedPaths) -> ParquetFile:
    """A file of the new paths alone."""
    schema = pa.schema([_path_field(old, place)])
    groups = (pa.Table.from_arrays([group], schema=schema) for group in column.groups(moved))
    return _file_of(schema, groups, _settings(old, moved, [place]), old.where)


def _fresh_rows(old: ParquetFile, place: int, reader: Reader, paths: PathColumn, moved: MovedPaths) -> ParquetFile:
    """A file of all columns, in the order of the new paths."""
    table = pa.concat_tables([reader.table(group) for group in reader.groups])
    positions = [numbers_of(chunk, old.where) for chunk in table.column(old.leaves[old.place(*POSITION)].names[0]).chunks]
    ranks = paths.ranks(moved)
    order = np.arange(len(ranks)) if moved.keeps_order else np.lexsort((np.concatenate(positions), ranks))
    column = table.schema.get_field_index(old.leaves[place].names[0])
    schema = table.schema.set(column, _path_field(old, place)).remove_metadata()

    def groups() -> Iterator[pa.Table]:
        for end, count in zip(accumulate(old.row_counts), old.row_counts, strict=True):
            rows = order[end - count : end]
            taken = table.take(column_of(rows))
            yield taken.set_column(column, schema.field(column), dictionary_of(ranks[rows], moved.names)).cast(schema)

    settings = _settings(old, moved, list(range(len(old.leaves))))
    for more in _SETTINGS:
        if _file_of(schema, (), {**settings, **more}, old.where).shape == old.shape:
            return _file_of(schema, groups(), {**settings, **more}, old.where)
    raise UnsupportedTable(
        f"{old.where} has rows of a kind that cannot be written in another order", "move the table below one folder"
    )


def _settings(old: ParquetFile, moved: MovedPaths, places: list[int]) -> dict[str, Any]:
    unknown = {old.codecs[place] for place in places} - _CODECS.keys()
    if unknown:
        raise UnsupportedTable(
            f"{old.where} is packed in a way that is not known ({unknown})", "restore this table to its own place"
        )
    names = {place: ".".join(old.leaves[place].names) for place in places}
    return {
        "compression": {names[place]: _CODECS[old.codecs[place]] for place in places},
        "use_dictionary": [names[place] for place in places if old.chunk(0, place).has_dictionary or place == path_place(old)],
        "dictionary_pagesize_limit": max(_DICTIONARY_BYTES, 2 * sum(map(len, moved.names))),
        "write_page_checksum": True,
        "store_schema": False,
    }


def _file_of(schema: pa.Schema, groups: Iterable[pa.Table], settings: dict[str, Any], where: str) -> ParquetFile:
    """Each table is a row group."""
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema, **settings) as writer:
        for group in groups:
            writer.write_table(group, row_group_size=group.num_rows)
    return open_file(sink.getvalue(), where)


def _path_field(old: ParquetFile, place: int) -> pa.Field:
    leaf = old.leaves[place]
    return pa.field(leaf.names[0], pa.dictionary(pa.int32(), pa.string()), nullable=leaf.repetition == _OPTIONAL)
