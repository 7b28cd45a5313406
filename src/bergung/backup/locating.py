"""Where the tables stood at one instant: pointers are read twice, and what moved between is decided by its own times."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bergung.carry.effects import Effects
from bergung.catalogs.base import Pointer
from bergung.catalogs.select import Selected, pointers
from bergung.clock import to_ms
from bergung.errors import BergungError, MissingObject
from bergung.iceberg.metadata import TableMetadata, file_at, read_metadata
from bergung.stores.open import open_path

EXACT, CLOCK, LATER = "exact", "clock", "later"


@dataclass(frozen=True)
class Located:
    """A table and the metadata file that was its state at the cut."""

    selected: Selected
    metadata_location: str
    located_at: datetime
    cut: str
    data: bytes
    source_version: str
    metadata: TableMetadata


@dataclass(frozen=True)
class Cut:
    """The instant, the tables as they stood then, and those that could not be read."""

    at: datetime
    tables: tuple[Located, ...]
    failed: dict[str, BergungError]


def locate_all(effects: Effects, selected: Sequence[Selected]) -> Cut:
    """Read every pointer, note the time, read every pointer again: what did not move coexisted at that time."""
    first = pointers(selected)
    at = effects.clock.now()
    second = pointers(selected)
    tables: list[Located] = []
    failed: dict[str, BergungError] = {}
    for each in selected:
        try:
            tables.append(_located(effects, each, (first.get(each.table), second.get(each.table)), at))
        except BergungError as error:
            failed[str(each.table)] = error
    return Cut(at, tuple(tables), failed)


def locate_again(effects: Effects, selected: Selected) -> Located:
    """Where a table stands now, after the cut: its files vanished while they were read."""
    pointer = selected.catalog.locate(selected.table)
    return _read(effects, selected, pointer, pointer.metadata_location, LATER)


def _located(effects: Effects, selected: Selected, seen: tuple[Pointer | None, Pointer | None], at: datetime) -> Located:
    first, second = seen
    if second is None or first is None:
        return _came_or_went(effects, selected, first or second)
    if first.metadata_location == second.metadata_location:
        return _read(effects, selected, second, second.metadata_location, EXACT)
    newest = _read(effects, selected, second, second.metadata_location, CLOCK)
    then = file_at(newest.metadata, second.metadata_location, to_ms(at))
    return _read(effects, selected, second, then or first.metadata_location, CLOCK)


def _came_or_went(effects: Effects, selected: Selected, pointer: Pointer | None) -> Located:
    if pointer is None:
        # The catalog knows best why: the entry is gone, or names no file.
        pointer = selected.catalog.locate(selected.table)
    return _read(effects, selected, pointer, pointer.metadata_location, CLOCK)


def _read(effects: Effects, selected: Selected, pointer: Pointer, location: str, cut: str) -> Located:
    store, key = open_path(location, effects.open_store)
    try:
        stat = store.head(key)
        data = store.read(key, version=stat.version)
    except MissingObject as error:
        hint = f"bring it back with bergung restore {selected.table}, or look for it with bergung salvage find"
        raise MissingObject(f"{selected.table} names a metadata file that is gone: {location}", hint) from error
    metadata = read_metadata(data, location)
    return Located(selected, location, pointer.read_at, cut, data, stat.version, metadata)
