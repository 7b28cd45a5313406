"""The kinds of files that an Iceberg table is made of."""

from dataclasses import dataclass
from enum import StrEnum


class FileKind(StrEnum):
    """What a file is to its table."""

    METADATA = "metadata"
    MANIFEST_LIST = "manifest_list"
    MANIFEST = "manifest"
    DATA = "data"
    POSITION_DELETES = "position_deletes"
    EQUALITY_DELETES = "equality_deletes"
    DELETION_VECTORS = "deletion_vectors"
    STATISTICS = "statistics"
    PARTITION_STATISTICS = "partition_statistics"


NOTED_KINDS = frozenset({FileKind.STATISTICS, FileKind.PARTITION_STATISTICS, FileKind.METADATA})
"""Kinds whose loss is noted and is no damage: every retained snapshot still reads the same.

METADATA here are the older files of the metadata log; the current one is never optional.
"""


@dataclass(frozen=True)
class ReachedFile:
    """A file that something in the table names, as it is named there."""

    path: str
    kind: FileKind
    declared_bytes: int | None = None
    row_count: int | None = None
