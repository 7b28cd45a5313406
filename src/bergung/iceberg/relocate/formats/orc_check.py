"""An ORC file that was written, read again and compared with what was meant."""

import pyarrow as pa

from bergung.iceberg.relocate.formats.moved_deletes import MovedDeletes, untouched
from bergung.iceberg.relocate.formats.orc import CODECS
from bergung.iceberg.relocate.formats.orc_file import OrcFile
from bergung.iceberg.relocate.formats.path_column import PATH, POSITION, moved_paths
from bergung.iceberg.relocate.formats.row_check import path_column, require_rows
from bergung.iceberg.relocate.otherwise import otherwise
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.rewritten import Rewritten


def check_orc(old: pa.Buffer, new: MovedDeletes, where: str, moves: PathMap) -> None:
    """Rows, types with Iceberg's attributes, metadata, codec, statistics, and what is said of the file."""
    before, after = OrcFile(old, where), OrcFile(new.data, where)
    names = (before.column(PATH), before.column(POSITION))
    rows = before.rows(names[0])
    moved = moved_paths(path_column(rows, names[0], where).counts(), moves)
    if after.types != before.types:
        raise otherwise(where, "its schema differs")
    if after.kept != before.kept:
        raise otherwise(where, "its metadata differ")
    if CODECS[after.compression] != CODECS[before.compression]:
        raise otherwise(where, "it is packed in another way")
    require_rows(rows, after.rows(names[0]), names, moved, where)
    if moved.has_changed and after.bounds(names[0]) != moved.bounds:
        raise otherwise(where, "the statistics of its paths differ")
    changed = Rewritten(len(new.data), split_offsets=after.stripe_offsets, bounds=moved.bounds if moved.targets else None)
    said = changed if moved.has_changed else untouched(old, moved).rewritten
    if new.rewritten != said or new.dangling_count != moved.dangling_count:
        raise otherwise(where, "it is not what its manifest would say of it")
