"""A manifest of a table that moves."""

from collections.abc import Mapping
from dataclasses import dataclass

from bergung.iceberg.avro import open_container
from bergung.iceberg.manifests import ADDED, DELETED, EXISTING
from bergung.iceberg.relocate.entries import Entries
from bergung.iceberg.relocate.files import changed, check
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.rewritten import Rewritten


@dataclass(frozen=True)
class MovedManifest:
    """A manifest as it must be, and what it holds."""

    data: bytes
    existing_count: int
    added_count: int
    deleted_count: int
    unmoved_count: int
    """Paths of deleted entries that lie below no folder that moves: they stay as they were."""


def relocate_manifest(data: bytes, where: str, moves: PathMap, rewritten: Mapping[str, Rewritten]) -> MovedManifest:
    """Every path moved, and said of delete files what `rewritten` says of them, by their old paths; nothing else differs.

    UnmappedPath when the path of a live file has no place. What comes out was read again and compared.
    """
    old = open_container(data, where)
    entries = Entries(old, moves, rewritten)
    new = changed(old, entries)
    counts = entries.counts
    return MovedManifest(new, counts[EXISTING], counts[ADDED], counts[DELETED], entries.moving.kept_count)


def check_manifest(old: bytes, new: bytes, where: str, moves: PathMap, rewritten: Mapping[str, Rewritten]) -> None:
    """DamageFound when `new` is anything else than what relocating `old` makes, however it is packed."""
    container = open_container(old, where)
    check(container, new, Entries(container, moves, rewritten))
