"""Arrow's reader over a file in memory: paths by their dictionaries, so that each is decoded once and not for each row."""

from collections.abc import Iterator
from functools import cached_property

import pyarrow as pa
import pyarrow.parquet as pq

from bergung.iceberg.relocate.formats.path_column import PathColumn
from bergung.iceberg.relocate.formats.reading import reading

_NOT_BY_DICTIONARY = {"DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"}
"""Arrow has no reader of such pages that makes dictionaries."""
_BATCH_ROWS = 128 * 1024


class Reader:
    """Row groups without rows are passed over; pages that have a checksum are held against it."""

    def __init__(self, data: bytes | pa.Buffer, path_name: str, place: int, where: str) -> None:
        self.where = where
        self._path_name = path_name
        with reading(where):
            metadata = pq.read_metadata(pa.BufferReader(data))
            self.groups = [group for group in range(metadata.num_row_groups) if metadata.row_group(group).num_rows]
            packed = {name for group in self.groups for name in metadata.row_group(group).column(place).encodings}
            self._by_dictionary = not packed & _NOT_BY_DICTIONARY
            dictionaries = [path_name] if self._by_dictionary else None
            settings = {"page_checksum_verification": True, "arrow_extensions_enabled": False}
            self.file = pq.ParquetFile(pa.BufferReader(data), metadata=metadata, read_dictionary=dictionaries, **settings)

    @property
    def names(self) -> list[str]:
        names: list[str] = self.file.schema_arrow.names
        return names

    @cached_property
    def row_counts(self) -> list[int]:
        return [self.file.metadata.row_group(group).num_rows for group in self.groups]

    def paths(self) -> PathColumn:
        """The column of paths, by row group."""
        column = PathColumn(self.where)
        for group, count in zip(self.groups, self.row_counts, strict=True):
            with reading(self.where):
                chunks = list(self._path_chunks(group))
                if sum(map(len, chunks)) != count:
                    raise ValueError("a row group has other rows than it says")
            column.add_group(chunks)
        return column

    def table(self, group: int) -> pa.Table:
        """All columns of a row group; paths as in `paths`."""
        with reading(self.where):
            others = [name for name in self.names if name != self._path_name]
            table = self.file.read_row_group(group, columns=others)
            paths = pa.chunked_array(self._path_chunks(group), pa.dictionary(pa.int32(), self._path_type))
            return table.add_column(self.names.index(self._path_name), self._path_name, paths)

    @property
    def _path_type(self) -> pa.DataType:
        type_ = self.file.schema_arrow.field(self._path_name).type
        return type_.value_type if pa.types.is_dictionary(type_) else type_

    def _path_chunks(self, group: int) -> Iterator[pa.DictionaryArray]:
        if self._by_dictionary:
            yield from self.file.read_row_group(group, columns=[self._path_name]).column(0).chunks
            return
        for batch in self.file.iter_batches(_BATCH_ROWS, row_groups=[group], columns=[self._path_name]):
            yield batch.column(0).dictionary_encode()
