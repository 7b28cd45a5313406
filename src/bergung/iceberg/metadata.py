"""Metadata files: what a table version says of itself."""

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from bergung.errors import UnsupportedTable
from bergung.iceberg.raw import Raw, read_json
from bergung.iceberg.snapshots import Snapshot, SnapshotLogEntry, State, read_snapshot, unbroken
from bergung.model.files import FileKind, ReachedFile

__all__ = ["MetadataLogEntry", "Ref", "Snapshot", "SnapshotLogEntry", "TableMetadata", "file_at", "read_metadata"]

NEWEST_FORMAT = 3

WRITE_PATHS = ("write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path")
"""Properties that send a table's files elsewhere than below its location."""


@dataclass(frozen=True)
class MetadataLogEntry:
    """An older metadata file, and since when it held."""

    timestamp_ms: int
    path: str


@dataclass(frozen=True)
class Ref:
    """A branch or a tag."""

    snapshot_id: int
    kind: str


@dataclass(frozen=True)
class TableMetadata:
    """The facts of one metadata file; unknown fields are left where they are."""

    format_version: int
    uuid: str | None
    identity: str
    """The uuid; `sha256:…` for a table that has none. Readers invent a new uuid for such a table at each load."""
    location: str
    last_updated_ms: int
    last_sequence_number: int
    current_snapshot_id: int | None
    snapshots: tuple[Snapshot, ...]
    snapshot_log: tuple[SnapshotLogEntry, ...]
    metadata_log: tuple[MetadataLogEntry, ...]
    refs: Mapping[str, Ref]
    statistics: tuple[ReachedFile, ...]
    partition_statistics: tuple[ReachedFile, ...]
    properties: Mapping[str, str]
    schemas: tuple[Mapping[str, Any], ...]
    schema_id: int
    encrypted: bool

    @property
    def schema(self) -> Mapping[str, Any]:
        """The current schema, as it is written."""
        current = (schema for schema in self.schemas if schema.get("schema-id", 0) == self.schema_id)
        return next(current, self.schemas[-1])

    @property
    def current_snapshot(self) -> Snapshot | None:
        """The snapshot that a plain read of the table sees."""
        return next((each for each in self.snapshots if each.snapshot_id == self.current_snapshot_id), None)

    @property
    def total_rows(self) -> int | None:
        """Rows in the data files of the current snapshot, deleted ones too, when its writer counted them."""
        if self.current_snapshot_id is None:
            return 0
        total = self.current_snapshot.summary.get("total-records", "") if self.current_snapshot else ""
        return int(total) if total.isdecimal() else None

    @property
    def write_prefixes(self) -> tuple[str, ...]:
        """Where the table says that its files lie."""
        named = (self.properties.get(name) for name in WRITE_PATHS)
        return tuple(dict.fromkeys((self.location, *filter(None, named))))

    def states(self) -> tuple[State, ...]:
        """Those known without a gap, in the order of the log: each snapshot is retained, and so are all later ones."""
        known = unbroken(self.snapshot_log, self.snapshots, self.last_sequence_number)
        if not known or known[-1].snapshot_id != self.current_snapshot_id:
            return (State(self.last_updated_ms, self.current_snapshot_id),)
        return tuple(State(entry.timestamp_ms, entry.snapshot_id) for entry in known)

    def answers(self) -> int:
        """Since when (ms) every state of the table is known."""
        return self.states()[0].since_ms


def read_metadata(data: bytes, where: str) -> TableMetadata:
    """Facts from a metadata file's bytes, gzip or not; UnsupportedTable when its format is too new."""
    raw = read_json(data, where)
    version = _version(raw)
    schemas = _schemas(raw)
    snapshots = tuple(read_snapshot(each) for each in raw.objects("snapshots"))
    current = _current(raw)
    return TableMetadata(
        format_version=version,
        uuid=raw.maybe_text("table-uuid"),
        identity=_identity(raw, schemas, snapshots),
        location=raw.text("location"),
        last_updated_ms=raw.number("last-updated-ms"),
        last_sequence_number=raw.number("last-sequence-number") if version > 1 else 0,
        current_snapshot_id=current,
        snapshots=snapshots,
        snapshot_log=tuple(_logged_snapshot(each) for each in raw.objects("snapshot-log")),
        metadata_log=tuple(_logged_file(each) for each in raw.objects("metadata-log")),
        refs=_refs(raw, current),
        statistics=tuple(_reached(raw, "statistics", FileKind.STATISTICS)),
        partition_statistics=tuple(_reached(raw, "partition-statistics", FileKind.PARTITION_STATISTICS)),
        properties=raw.texts("properties"),
        schemas=schemas,
        schema_id=raw.maybe_number("current-schema-id") or 0,
        encrypted=_is_encrypted(raw, snapshots),
    )


def file_at(metadata: TableMetadata, own_path: str, at_ms: int) -> str | None:
    """The metadata file that held at an instant; None when the log does not reach back so far."""
    known = (*metadata.metadata_log, MetadataLogEntry(metadata.last_updated_ms, own_path))
    return next((entry.path for entry in reversed(known) if entry.timestamp_ms <= at_ms), None)


def _version(raw: Raw) -> int:
    if "view-uuid" in raw.values or "view-version-id" in raw.values:
        raise raw.corrupt("it describes a view, not a table")
    version = raw.number("format-version")
    if version > NEWEST_FORMAT:
        known = f"this Bergung knows format versions 1 to {NEWEST_FORMAT}; look for a newer one"
        raise UnsupportedTable(f"{raw.where} has Iceberg format version {version}", known)
    return version


def _schemas(raw: Raw) -> tuple[Mapping[str, Any], ...]:
    found = tuple(each.values for each in raw.objects("schemas")) or (raw.object("schema").values,)
    if any("fields" not in schema for schema in found):
        raise raw.corrupt("it has no schema")
    return found


def _current(raw: Raw) -> int | None:
    """Java writes -1 where there is no snapshot yet."""
    current = raw.maybe_number("current-snapshot-id")
    return None if current == -1 else current


def _logged_snapshot(raw: Raw) -> SnapshotLogEntry:
    return SnapshotLogEntry(raw.number("timestamp-ms"), raw.number("snapshot-id"))


def _logged_file(raw: Raw) -> MetadataLogEntry:
    return MetadataLogEntry(raw.number("timestamp-ms"), raw.text("metadata-file"))


def _refs(raw: Raw, current: int | None) -> Mapping[str, Ref]:
    refs = {name: Ref(each.number("snapshot-id"), each.text("type")) for name, each in raw.named("refs")}
    return refs if refs or current is None else {"main": Ref(current, "branch")}


def _reached(raw: Raw, key: str, kind: FileKind) -> Iterator[ReachedFile]:
    for each in raw.objects(key):
        yield ReachedFile(each.text("statistics-path"), kind, each.maybe_number("file-size-in-bytes"))


def _is_encrypted(raw: Raw, snapshots: tuple[Snapshot, ...]) -> bool:
    keys = raw.values.get("encryption-keys") or "encryption.key-id" in raw.texts("properties")
    return bool(keys) or any(snapshot.key_id is not None for snapshot in snapshots)


def _identity(raw: Raw, schemas: tuple[Mapping[str, Any], ...], snapshots: tuple[Snapshot, ...]) -> str:
    text = raw.maybe_text("table-uuid")
    if text is None:
        oldest = min(snapshots, key=lambda each: (each.timestamp_ms, each.snapshot_id), default=None)
        first = min(schemas, key=lambda schema: schema.get("schema-id", 0))
        return _digest([raw.text("location"), first, oldest and oldest.snapshot_id])
    try:
        return str(uuid.UUID(text))
    except ValueError:
        # It names a folder of the vault later: only what is surely a uuid may go there as it is.
        return _digest(text)


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode()).hexdigest()}"
