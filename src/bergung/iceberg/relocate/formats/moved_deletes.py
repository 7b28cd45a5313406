"""What came of a position delete file."""

from dataclasses import dataclass

import pyarrow as pa

from bergung.iceberg.relocate.formats.path_column import MovedPaths
from bergung.iceberg.relocate.rewritten import Rewritten


@dataclass(frozen=True)
class MovedDeletes:
    """Its new bytes, and what its manifests must say of it."""

    data: bytes
    rewritten: Rewritten
    dangling_count: int
    """Rows that name a file without a new place; their paths are kept."""


def untouched(data: bytes | pa.Buffer, moved: MovedPaths) -> MovedDeletes:
    """A file none of whose paths changes. Bounds are given where a path has no place, since nobody could move those either."""
    bounds = moved.bounds if moved.dangling_count else None
    return MovedDeletes(bytes(data), Rewritten(len(data), bounds=bounds), moved.dangling_count)
