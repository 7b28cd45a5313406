"""An Avro file that was written, read again and compared with what was meant; some rows by fastavro too."""

from itertools import pairwise

import pyarrow as pa

from bergung.iceberg.avro import Container, blocks, open_container
from bergung.iceberg.avro_write import long_bytes
from bergung.iceberg.relocate.decoded import Look, Row
from bergung.iceberg.relocate.formats.avro import SLOTS, Rows, joined
from bergung.iceberg.relocate.formats.moved_deletes import MovedDeletes, untouched
from bergung.iceberg.relocate.formats.path_column import PATH, moved_paths
from bergung.iceberg.relocate.otherwise import otherwise
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.rewritten import Rewritten


def check_avro(old: pa.Buffer, new: MovedDeletes, where: str, moves: PathMap) -> None:
    """Rows and their order, the head byte for byte, and what is said of the file."""
    before, after = open_container(bytes(old), where), open_container(new.data, where)
    if before.data[: before.start] != after.data[: after.start]:
        raise otherwise(where, "its head differs")
    rows = Rows(before, moves)
    in_order, meant = _compare(rows, after, _look(before, moves))
    moved = moved_paths(rows.counts(), moves)
    if moved.has_changed and not moved.keeps_order:
        _require_sorted(Rows(after, moves), meant, where)
    elif not (in_order if moved.has_changed else new.data == before.data):
        raise otherwise(where, "a row differs")
    said = Rewritten(len(new.data), bounds=moved.bounds) if moved.has_changed else untouched(old, moved).rewritten
    if new.rewritten != said or new.dangling_count != moved.dangling_count:
        raise otherwise(where, "it is not what its manifest would say of it")


def _compare(rows: Rows, after: Container, look: Look) -> tuple[bool, int]:
    """Whether the new blocks are the old rows moved, in their order; and a number that is equal for the same rows in any order."""
    in_order, total = True, 0
    found = blocks(after)
    for records, meant in rows.moved():
        look.at_some(records, meant)
        total += sum(map(hash, meant))
        in_order = in_order and next(found, None) == (long_bytes(len(meant)), joined(meant))
    look.at_last()
    return in_order and next(found, None) is None, total


def _require_sorted(rows: Rows, meant: int, where: str) -> None:
    total = 0
    last = ("", -1)
    for records in rows.portions():
        total += sum(map(hash, records))
        keys = [last, *map(rows.key, records)]
        if any(one > other for one, other in pairwise(keys)):
            raise otherwise(where, "its rows are not sorted")
        last = keys[-1]
    if total != meant:
        raise otherwise(where, "its rows differ")


def _look(container: Container, moves: PathMap) -> Look:
    def expected(row: Row) -> Row:
        return {**row, PATH[1]: moves.maybe(row[PATH[1]]) or row[PATH[1]]}

    return Look(container, SLOTS, expected)
