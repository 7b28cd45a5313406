"""Where the tables stood at one instant: pointers are read twice, and what moved between is decided by its own times."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bergung.backup.served import DIFFERS, ONLY, is_other, read_served
from bergung.carry.effects import Effects
from bergung.catalogs.base import Pointer
from bergung.catalogs.select import Selected, pointers
from bergung.clock import to_ms
from bergung.errors import BergungError, MissingObject
from bergung.iceberg.metadata import TableMetadata, file_at, read_metadata
from bergung.model.files import FileKind, ReachedFile
from bergung.stores.access import Access
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
    access: tuple[Access, ...] = field(default=(), repr=False)
    """How its files are reached, as far as its catalog says."""
    served: str | None = None
    """How the record says that the catalog gives out other metadata than a file's."""
    named_file: ReachedFile | None = None
    """The metadata file that the catalog names, where it is not the one that was captured."""

    @property
    def name(self) -> str:
        """As the record has it."""
        return str(self.selected.table)


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
            tables.append(_at_the_cut(effects, each, (first.get(each.table), second.get(each.table)), at))
        except BergungError as error:
            failed[str(each.table)] = error
    return Cut(at, tuple(tables), failed)


def locate_again(effects: Effects, selected: Selected) -> Located:
    """Where a table stands now, after the cut: its files vanished while they were read."""
    pointer = selected.catalog.locate(selected.table)
    return _read(effects, selected, pointer, LATER)


def _at_the_cut(effects: Effects, selected: Selected, seen: tuple[Pointer | None, Pointer | None], at: datetime) -> Located:
    try:
        return _located(effects, selected, seen, at)
    except MissingObject:
        # A table that moves on may delete its old metadata files: then it is taken as it stands now.
        return locate_again(effects, selected)


def _located(effects: Effects, selected: Selected, seen: tuple[Pointer | None, Pointer | None], at: datetime) -> Located:
    first, second = seen
    if second is None:
        # Dropped meanwhile; and where neither look saw it, the catalog knows best why.
        return _read(effects, selected, first or selected.catalog.locate(selected.table), CLOCK)
    if first is not None and first.metadata_location == second.metadata_location:
        return _read(effects, selected, second, EXACT)
    newest = _read(effects, selected, second, CLOCK)
    then = _pointer_at(newest, first, second, at)
    if then is None:
        return replace(newest, cut=LATER)
    return newest if then.metadata_location == second.metadata_location else _read(effects, selected, then, CLOCK)


def _pointer_at(newest: Located, first: Pointer | None, second: Pointer, at: datetime) -> Pointer | None:
    """By the times in the table's own log; never older than what was seen before the cut, whatever a writer's clock said."""
    then = file_at(newest.metadata, second.metadata_location, to_ms(at))
    if first is not None and (then is None or _is_older(newest, then, first.metadata_location)):
        return first
    # What was committed after the cut is not in this version, though it was before the second look.
    return None if then is None else replace(second, metadata_location=then, read_at=at)


def _is_older(newest: Located, one: str, other: str) -> bool:
    log = [entry.path for entry in newest.metadata.metadata_log]
    return one in log and other in log and log.index(one) < log.index(other)


def _read(effects: Effects, selected: Selected, pointer: Pointer, cut: str) -> Located:
    location = pointer.metadata_location
    if not location and pointer.served:
        return _served(effects, selected, pointer, cut)
    access = selected.catalog.access(selected.table)
    store, key = open_path(location, effects.open_store, access)
    try:
        stat = store.head(key)
        data = store.read(key, version=stat.version)
    except MissingObject as error:
        if pointer.served:
            return replace(_served(effects, selected, pointer, cut), served=DIFFERS)
        hint = f"bring it back from the newest point that holds it: bergung restore {selected.table}"
        raise MissingObject(f"{selected.table} names a metadata file that is gone: {location}", hint) from error
    metadata = read_metadata(data, location)
    if pointer.served and is_other(read_served(pointer)[2], metadata):
        return replace(_served(effects, selected, pointer, cut), served=DIFFERS, named_file=_named(location, data))
    return Located(selected, location, pointer.read_at, cut, data, stat.version, metadata, access)


def _served(effects: Effects, selected: Selected, pointer: Pointer, cut: str) -> Located:
    """The metadata as engines get it: no file has it, so it is captured as one."""
    location, data, metadata = read_served(pointer)
    access = selected.catalog.access(selected.table)
    return Located(selected, location, pointer.read_at, cut, data, "", metadata, access, served=ONLY)


def _named(location: str, data: bytes) -> ReachedFile:
    return ReachedFile(location, FileKind.METADATA, len(data))
