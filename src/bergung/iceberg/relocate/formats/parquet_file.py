"""A Parquet file as column chunks and a footer: chunks go from file to file as they are, and the footer says where they are now."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from bergung.errors import UnsupportedTable
from bergung.iceberg.avro import BROKEN, corrupt
from bergung.iceberg.relocate.formats import thrift
from bergung.iceberg.relocate.formats.parquet_chunk import LZ4_OF_HADOOP, META, UNCOMPRESSED, Chunk, packed_for_hadoop, place_of
from bergung.iceberg.relocate.formats.thrift import I64, LIST, STRUCT, Struct

_MAGIC = b"PAR1"
_ENCRYPTED = (b"PARE", b"AGS1")
_TAIL_BYTES = 8

# Numbers of fields in Parquet's own definition (parquet.thrift).
_SCHEMA, _GROUPS, _ENCRYPTION = 2, 4, 8
_COLUMNS, _GROUP_BYTES, _ROWS, _GROUP_START, _GROUP_PACKED = 1, 2, 3, 5, 6
_ELSEWHERE, _CRYPTO, _SECRET = 1, 8, 9
_TYPE, _TYPE_LENGTH, _REPETITION, _NAME, _CHILDREN, _FIELD_ID = 1, 2, 3, 4, 5, 9


@dataclass(frozen=True)
class Leaf:
    """A column that has chunks."""

    names: tuple[str, ...]
    field_id: int | None
    type: int
    repetition: int


@dataclass(frozen=True)
class ParquetFile:
    """A footer, and the bytes that it speaks of."""

    where: str
    data: memoryview
    footer: Struct

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        elements = iter(self._elements)
        return tuple(_leaves(elements, next(elements)[_CHILDREN][1], ()))

    @property
    def shape(self) -> list[tuple[Any, ...]]:
        """What decides how values lie in pages, without names and meanings."""
        keys = (_TYPE, _TYPE_LENGTH, _REPETITION, _CHILDREN)
        return [tuple(element[key][1] if key in element else 0 for key in keys) for element in self._elements[1:]]

    @cached_property
    def groups(self) -> list[Struct]:
        """Without those of no rows, of which some writers say where they are not."""
        return [group for group in self.footer[_GROUPS][1][1] if group[_ROWS][1]]

    @property
    def row_counts(self) -> list[int]:
        return [group[_ROWS][1] for group in self.groups]

    @property
    def codecs(self) -> list[int]:
        """Of each leaf; all row groups have the same."""
        return [self.chunk(0, place).codec if self.groups else UNCOMPRESSED for place in range(len(self.leaves))]

    @property
    def column_sizes(self) -> dict[int, int]:
        """Bytes on disk by field id, as Iceberg's writers count them."""
        ids = {place: leaf.field_id for place, leaf in enumerate(self.leaves) if leaf.field_id is not None}
        groups = range(len(self.groups))
        return {field_id: sum(len(self.chunk(group, place).data) for group in groups) for place, field_id in ids.items()}

    @property
    def split_offsets(self) -> tuple[int, ...]:
        return tuple(self.chunk(group, 0).start for group in range(len(self.groups)))

    @property
    def _elements(self) -> list[Struct]:
        elements: list[Struct] = self.footer[_SCHEMA][1][1]
        return elements

    def place(self, field_id: int, name: str) -> int:
        """Which of the leaves is that column of the uppermost level; by its name only where no id says so."""
        tops = {place: leaf for place, leaf in enumerate(self.leaves) if len(leaf.names) == 1}
        by_id = [place for place, leaf in tops.items() if leaf.field_id == field_id]
        by_name = [place for place, leaf in tops.items() if leaf.field_id is None and leaf.names == (name,)]
        found = by_id or by_name
        if len(found) != 1:
            raise corrupt(self.where, f"it has {len(found)} columns {name}")
        return found[0]

    def chunk(self, group: int, place: int) -> Chunk:
        meta = self.groups[group][_COLUMNS][1][1][place][META][1]
        start, size = place_of(meta)
        if not len(_MAGIC) <= start <= start + size <= len(self.data) - _TAIL_BYTES:
            raise corrupt(self.where, f"a column of {size} bytes at {start} does not lie in it")
        return Chunk(meta, self.data[start : start + size])


def open_file(content: bytes | pa.Buffer, where: str) -> ParquetFile:
    """Read the footer; CorruptFile when these bytes are no whole Parquet file, UnsupportedTable when they are encrypted."""
    data = memoryview(content).cast("B")
    if data[-4:] in _ENCRYPTED or data[:4] in _ENCRYPTED:
        raise _encrypted(where)
    if data[:4] != _MAGIC or data[-4:] != _MAGIC or len(data) < len(_MAGIC) + _TAIL_BYTES:
        raise corrupt(where, "it is no Parquet file, or is cut off" if len(data) else "it is empty")
    start = len(data) - _TAIL_BYTES - int.from_bytes(data[-_TAIL_BYTES:-4], "little")
    if start < len(_MAGIC):
        raise corrupt(where, "its footer is longer than the file")
    try:
        footer, end = thrift.read(data[:-_TAIL_BYTES], start)
        file = ParquetFile(where, data, footer)
        _require_fit(file, end)
    except BROKEN as error:
        raise corrupt(where, "its footer makes no sense") from error
    return file


def grafted(old: ParquetFile, fresh: ParquetFile, places: Mapping[int, int]) -> bytes:
    """The old file with columns of the fresh one; `places` says which of the old is which of the fresh.

    Row groups are the old ones, which the fresh ones must equal in length; where every column is new they are the fresh ones.
    """
    groups = fresh.groups if len(places) == len(old.leaves) else old.groups
    parts: list[bytes | memoryview] = [_MAGIC]
    position = len(_MAGIC)
    moved = []
    for number, group in enumerate(groups):
        chunks = [_chunk(old, fresh, number, place, places.get(place)) for place in range(len(old.leaves))]
        moved.append(_group(group, chunks, old.leaves, position))
        parts += (chunk.data for chunk in chunks)
        position += sum(len(chunk.data) for chunk in chunks)
    footer = thrift.written({**old.footer, _GROUPS: (LIST, (STRUCT, moved))})
    return b"".join((*parts, footer, len(footer).to_bytes(4, "little"), _MAGIC))


def _chunk(old: ParquetFile, fresh: ParquetFile, group: int, place: int, fresh_place: int | None) -> Chunk:
    if fresh_place is None:
        return old.chunk(group, place)
    chunk = fresh.chunk(group, fresh_place)
    wants_hadoop = old.codecs[place] == LZ4_OF_HADOOP and chunk.codec == UNCOMPRESSED
    return packed_for_hadoop(chunk) if wants_hadoop else chunk


def _group(group: Struct, chunks: list[Chunk], leaves: tuple[Leaf, ...], start: int) -> Struct:
    columns = []
    position = start
    for chunk, leaf in zip(chunks, leaves, strict=True):
        columns.append(chunk.column(leaf.names, position))
        position += len(chunk.data)
    sizes = {_GROUP_BYTES: (I64, sum(chunk.unpacked_bytes for chunk in chunks)), _GROUP_PACKED: (I64, position - start)}
    return {**group, **sizes, _GROUP_START: (I64, start), _COLUMNS: (LIST, (STRUCT, columns))}


def _leaves(elements: Iterator[Struct], count: int, above: tuple[str, ...]) -> Iterator[Leaf]:
    for _ in range(count):
        element = next(elements, None)
        if element is None:
            raise ValueError("the schema ends early")
        names = (*above, element[_NAME][1].decode())
        if _TYPE in element:
            field_id = element[_FIELD_ID][1] if _FIELD_ID in element else None
            yield Leaf(names, field_id, element[_TYPE][1], element[_REPETITION][1])
        else:
            yield from _leaves(elements, element[_CHILDREN][1], names)


def _require_fit(file: ParquetFile, end: int) -> None:
    columns = [column for group in file.footer[_GROUPS][1][1] for column in group[_COLUMNS][1][1]]
    if _ENCRYPTION in file.footer or any(key in column for column in columns for key in (_CRYPTO, _SECRET)):
        raise _encrypted(file.where)
    if end != len(file.data) - _TAIL_BYTES or any(_ELSEWHERE in column for column in columns):
        raise ValueError("bytes after the footer, or columns in another file")
    if any(len(group[_COLUMNS][1][1]) != len(file.leaves) for group in file.groups):
        raise ValueError("a row group has other columns than the schema")
    if min(file.row_counts, default=0) < 0:
        raise ValueError("a row group has a negative number of rows")
    chunks = [file.chunk(group, place) for group in range(len(file.groups)) for place in range(len(file.leaves))]
    if any(min(chunk.unpacked_bytes, chunk.codec) < 0 for chunk in chunks):
        raise ValueError("a column has a negative size")


def _encrypted(where: str) -> UnsupportedTable:
    return UnsupportedTable(f"{where} is encrypted", "such a file cannot be opened without its keys")
