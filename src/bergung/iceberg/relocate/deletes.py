"""Position delete files name their data files row by row: each path goes the way of the data file itself."""

from collections.abc import Callable
from typing import TypeVar

import pyarrow as pa

from bergung.errors import UnsupportedTable
from bergung.iceberg.relocate.formats.avro import relocate_avro
from bergung.iceberg.relocate.formats.avro_check import check_avro
from bergung.iceberg.relocate.formats.moved_deletes import MovedDeletes
from bergung.iceberg.relocate.formats.orc import relocate_orc
from bergung.iceberg.relocate.formats.orc_check import check_orc
from bergung.iceberg.relocate.formats.parquet import relocate_parquet
from bergung.iceberg.relocate.formats.parquet_check import check_parquet
from bergung.iceberg.relocate.path_map import PathMap

_RELOCATE: dict[str, Callable[[pa.Buffer, str, PathMap], MovedDeletes]] = {
    "PARQUET": relocate_parquet,
    "AVRO": relocate_avro,
    "ORC": relocate_orc,
}
_CHECK: dict[str, Callable[[pa.Buffer, MovedDeletes, str, PathMap], None]] = {
    "PARQUET": check_parquet,
    "AVRO": check_avro,
    "ORC": check_orc,
}
_Way = TypeVar("_Way")


def relocate_position_deletes(data: bytes | pa.Buffer, file_format: str, where: str, moves: PathMap) -> MovedDeletes:
    """A file of the same rows under new paths, sorted by path and position as before; `file_format` as in the manifest."""
    return _of(_RELOCATE, file_format, where)(pa.py_buffer(data), where, moves)


def check_position_deletes(old: bytes | pa.Buffer, new: MovedDeletes, file_format: str, where: str, moves: PathMap) -> None:
    """DamageFound when the new file, read again, is not the old one with its paths moved, or not what is said of it."""
    _of(_CHECK, file_format, where)(pa.py_buffer(old), new, where, moves)


def _of(ways: dict[str, _Way], file_format: str, where: str) -> _Way:
    if file_format.upper() not in ways:
        raise UnsupportedTable(f"{where} is of a format that is not known: {file_format}", "restore this table to its own place")
    return ways[file_format.upper()]
