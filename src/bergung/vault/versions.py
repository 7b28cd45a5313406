"""The metadata file that a table had at an instant: the original where the point has it, else one made anew.

An original of that time says what the table was in all things: schema, partition spec, properties, branches. Snapshots that it
names and that the point has not any more are taken out of it. Without such an original the point's newest file is cut back to the
instant, and of properties and partition spec it says what it said later.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from bergung.errors import DamageFound
from bergung.iceberg.as_of import AsOf, as_of, counters_of, later_specs, made_by, schema_by, with_files
from bergung.iceberg.columns import rows_of
from bergung.iceberg.manifest_list import read_manifest_list
from bergung.iceberg.metadata import TableMetadata, file_at, read_metadata
from bergung.iceberg.snapshots import Snapshot, SnapshotLogEntry, State
from bergung.model.record import MetadataFile, TableEntry
from bergung.stores.base import Store
from bergung.stores.digest import read_verified
from bergung.vault.receipts import read_receipts

Row = Mapping[str, Any]


class Origin(StrEnum):
    """Where the bytes come from."""

    ORIGINAL = "original"
    """As the table's writer wrote them."""
    OF_THEN = "made from the original of then"
    OF_LATER = "made from a later one"


@dataclass(frozen=True)
class Version:
    """A metadata file of a table in a point."""

    path: str
    """Where the original lay, or that which it is made from."""
    file: MetadataFile
    """That one, in the vault."""
    change: AsOf | None
    """What is made of it."""
    origin: Origin
    metadata: TableMetadata


def version_bytes(store: Store, folder: str, version: Version) -> bytes:
    """As the table gets it."""
    data = read_verified(store, folder + version.file.blob_key, version.file.digest)
    return data if version.change is None else as_of(data, version.path, version.change)


def newest_version(store: Store, entry: TableEntry) -> Version:
    """The state that the point was made of."""
    return _original(_read(store, entry, entry.metadata_location, entry.metadata_file))


def version_at(store: Store, entry: TableEntry, state: State, at_ms: int) -> Version:
    """The one that had this state at this instant."""
    newest = _read(store, entry, entry.metadata_location, entry.metadata_file)
    if newest.metadata.last_updated_ms <= at_ms and newest.metadata.current_snapshot_id == state.snapshot_id:
        return _original(newest)
    held = _Held(store, entry, newest)
    last = _entry(state)
    older = held.older(at_ms)
    if older is not None and older.metadata.snapshot_log[-1:] == (last,):
        return _made(older, held.wish(older, last, with_files(older.metadata, held.rows)), Origin.OF_THEN)
    wish = held.wish(newest, last, made_by(newest.metadata, last, at_ms))
    return _made(newest, held.with_schema(wish), Origin.OF_LATER)


@dataclass(frozen=True)
class _Base:
    path: str
    file: MetadataFile
    data: bytes
    metadata: TableMetadata


class _Held:
    """What a point has of a table, as far as its newest metadata file names it."""

    def __init__(self, store: Store, entry: TableEntry, newest: _Base) -> None:
        self.store, self.entry, self.newest = store, entry, newest
        receipts = read_receipts(store, entry.location, newest.file.digest, entry.receipts)
        self.rows: Mapping[str, Row] = {row["path"]: row for row in rows_of(receipts)}

    def older(self, at_ms: int) -> _Base | None:
        """The metadata file that held then."""
        row = self.rows.get(file_at(self.newest.metadata, self.newest.path, at_ms) or "")
        if row is None or row["blob_key"] is None:
            return None
        file = MetadataFile(row["blob_key"], row["digest"], row["size_bytes"], row["source_version"])
        try:
            base = _read(self.store, self.entry, row["path"], file)
        except DamageFound:
            # Lost, or of no use when it was captured: the newest one is enough to make another.
            return None
        return base if base.metadata.uuid == self.newest.metadata.uuid else None

    def wish(self, base: _Base, last: SnapshotLogEntry, snapshots: frozenset[int]) -> AsOf:
        """What is to be made of a metadata file."""
        return AsOf(last, snapshots, frozenset(self.rows), counters_of(self.newest.data, base.path))

    def with_schema(self, wish: AsOf) -> AsOf:
        """The same with the schema of then, unless a partition spec that came later is in use already."""
        schema_id = schema_by(self.newest.metadata, wish.snapshots)
        later = later_specs(self.newest.data, self.newest.path, schema_id)
        if later and any(
            self._may_use(later, each) for each in self.newest.metadata.snapshots if each.snapshot_id in wish.snapshots
        ):
            return wish
        return replace(wish, schema_id=schema_id, without_specs=later)

    def _may_use(self, specs: frozenset[int], snapshot: Snapshot) -> bool:
        """True also when nobody can tell."""
        row = self.rows.get(snapshot.manifest_list or "")
        if row is None or row["blob_key"] is None:
            return True
        try:
            data = read_verified(self.store, self.entry.location + row["blob_key"], row["digest"])
            return any(manifest.partition_spec_id in specs for manifest in read_manifest_list(data, row["path"]))
        except DamageFound:
            return True


def _read(store: Store, entry: TableEntry, path: str, file: MetadataFile) -> _Base:
    data = read_verified(store, entry.location + file.blob_key, file.digest)
    return _Base(path, file, data, read_metadata(data, path))


def _entry(state: State) -> SnapshotLogEntry:
    assert state.snapshot_id is not None, "before its first snapshot a table is as its newest metadata file says"
    return SnapshotLogEntry(state.since_ms, state.snapshot_id)


def _original(base: _Base) -> Version:
    return Version(base.path, base.file, None, Origin.ORIGINAL, base.metadata)


def _made(base: _Base, change: AsOf, origin: Origin) -> Version:
    made = as_of(base.data, base.path, change)
    if made is base.data:
        return _original(base)
    return Version(base.path, base.file, change, origin, read_metadata(made, base.path))
