"""A manifest list of a table that moves."""

from collections.abc import Mapping

from bergung.errors import BergungError
from bergung.iceberg.avro import Container, open_container
from bergung.iceberg.avro_write import long_bytes, text_bytes
from bergung.iceberg.relocate.decoded import Look
from bergung.iceberg.relocate.expected import expected_listed
from bergung.iceberg.relocate.fields import FAULT, LISTED, MANIFEST_LENGTH, MANIFEST_PATH
from bergung.iceberg.relocate.files import changed, check
from bergung.iceberg.relocate.moving import Moving
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.splice.layout import Pieces, layout_of
from bergung.iceberg.relocate.splice.values import text_of


def relocate_manifest_list(data: bytes, where: str, moves: PathMap, lengths: Mapping[str, int]) -> bytes:
    """Every manifest's path moved, its length that of `lengths`, by its old path; nothing else differs.

    UnmappedPath when a manifest has no place. What comes out was read again and compared.
    """
    old = open_container(data, where)
    return changed(old, _Listed(old, moves, lengths))


def check_manifest_list(old: bytes, new: bytes, where: str, moves: PathMap, lengths: Mapping[str, int]) -> None:
    """DamageFound when `new` is anything else than what relocating `old` makes, however it is packed."""
    container = open_container(old, where)
    check(container, new, _Listed(container, moves, lengths))


class _Listed:
    """The rows of one manifest list."""

    def __init__(self, container: Container, moves: PathMap, lengths: Mapping[str, int]) -> None:
        self.layout = layout_of(container, LISTED)
        self.moving = Moving(moves, container.where)
        self.look = Look(container, LISTED, lambda row: expected_listed(row, moves, lengths))
        self._lengths = lengths

    def moved(self, records: list[Pieces]) -> list[Pieces]:
        return list(map(self._row, records))

    def _row(self, record: Pieces) -> Pieces:
        path = text_of(self.layout.value(record, MANIFEST_PATH) or b"")
        length = self._lengths.get(path)
        if length is None:
            raise BergungError(f"{path} was not made anew before its manifest list", FAULT)
        new = list(record)
        (moved,) = self.moving.many([path], [True])
        self.layout.put(new, MANIFEST_PATH, text_bytes(moved.encode()))
        self.layout.put(new, MANIFEST_LENGTH, long_bytes(length))
        return tuple(new)
