"""A Parquet file that was written, read again by Arrow alone and compared with what was meant."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from bergung.iceberg.relocate.formats.moved_deletes import MovedDeletes, untouched
from bergung.iceberg.relocate.formats.parquet import path_place
from bergung.iceberg.relocate.formats.parquet_file import ParquetFile, open_file
from bergung.iceberg.relocate.formats.parquet_reader import Reader
from bergung.iceberg.relocate.formats.path_column import POSITION, moved_paths
from bergung.iceberg.relocate.formats.reading import reading
from bergung.iceberg.relocate.formats.row_check import require_rows
from bergung.iceberg.relocate.otherwise import otherwise
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.rewritten import Rewritten


def check_parquet(old: pa.Buffer, new: MovedDeletes, where: str, moves: PathMap) -> None:
    """Rows, schema with its field ids, metadata, codecs, statistics, and what is said of the file."""
    file = open_file(old, where)
    place, position = path_place(file), file.place(*POSITION)
    names = (file.leaves[place].names[0], file.leaves[position].names[0])
    before, after = (Reader(data, names[0], place, where) for data in (old, new.data))
    moved = moved_paths(before.paths().counts(), moves)
    for one, other in _pieces(before, after, moved.keeps_order):
        require_rows(one, other, names, moved, where)
    with reading(where):
        _require_metadata(before, after, place, where)
        said = _said(file, after, place, len(new.data)) if moved.has_changed else untouched(old, moved).rewritten
    if new.rewritten != said or new.dangling_count != moved.dangling_count:
        raise otherwise(where, "it is not what its manifest would say of it")


def _pieces(before: Reader, after: Reader, keeps_order: bool) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Row groups one by one where they hold the same rows, else all at once."""
    if keeps_order and before.row_counts == after.row_counts:
        pairs = zip(before.groups, after.groups, strict=True)
        yield from ((before.table(group), after.table(other)) for group, other in pairs)
    elif before.groups or after.groups:
        yield _whole(before), _whole(after)


def _whole(reader: Reader) -> pa.Table:
    schema = reader.file.schema_arrow
    return pa.concat_tables([reader.table(group) for group in reader.groups] or [schema.empty_table()])


def _require_metadata(before: Reader, after: Reader, place: int, where: str) -> None:
    if _schema(before) != _schema(after):
        raise otherwise(where, "its schema differs")
    if before.file.metadata.metadata != after.file.metadata.metadata:
        raise otherwise(where, "its metadata differ")
    if _codecs(before) != _codecs(after):
        raise otherwise(where, "it is packed in another way")
    if not all(column[place].is_stats_set for column in _columns(after)):
        raise otherwise(where, "its paths have no statistics")


def _said(old: ParquetFile, after: Reader, place: int, size_bytes: int) -> Rewritten:
    """By Arrow's reading of the footer, and the bounds of its statistics."""
    groups = _columns(after)
    ids = {at: leaf.field_id for at, leaf in enumerate(old.leaves) if leaf.field_id is not None}
    sizes = {field_id: sum(group[at].total_compressed_size for group in groups) for at, field_id in ids.items()}
    starts = [(group[0].dictionary_page_offset, group[0].data_page_offset) for group in groups]
    bounds = [group[place].statistics for group in groups]
    lowest, highest = min(each.min_raw for each in bounds), max(each.max_raw for each in bounds)
    return Rewritten(size_bytes, sizes or None, tuple(min(filter(None, each)) for each in starts), (lowest, highest))


def _columns(reader: Reader) -> list[list[pq.ColumnChunkMetaData]]:
    """What the footer says of each column, by row group."""
    groups = (reader.file.metadata.row_group(group) for group in reader.groups)
    return [[group.column(at) for at in range(group.num_columns)] for group in groups]


def _schema(reader: Reader) -> str:
    """Names, types, their meanings, field ids; the first line is an address in memory."""
    return str(reader.file.schema).partition("\n")[2]


def _codecs(reader: Reader) -> set[tuple[str, str]]:
    return {(column.path_in_schema, column.compression) for group in _columns(reader) for column in group}
