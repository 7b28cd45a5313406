"""Snapshots, and since when their log tells the whole story."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bergung.iceberg.raw import Raw


@dataclass(frozen=True)
class Snapshot:
    """One state of the table's rows."""

    snapshot_id: int
    parent_id: int | None
    sequence_number: int
    """0 when it was made under format version 1."""
    timestamp_ms: int
    operation: str | None
    summary: Mapping[str, str]
    schema_id: int | None
    manifest_list: str | None
    manifests: tuple[str, ...] = ()
    """Named here by old version 1 writers that made no manifest list."""
    key_id: str | None = None


@dataclass(frozen=True)
class SnapshotLogEntry:
    """From this time on the snapshot was the current one."""

    timestamp_ms: int
    snapshot_id: int


@dataclass(frozen=True)
class State:
    """What a plain read of the table saw from this time on; None: no snapshot yet."""

    since_ms: int
    snapshot_id: int | None


def read_snapshot(raw: Raw) -> Snapshot:
    """A snapshot as a metadata file has it."""
    summary = raw.texts("summary")
    manifest_list = raw.maybe_text("manifest-list")
    if manifest_list is None and "manifests" not in raw.values:
        raise raw.corrupt("a snapshot names neither a manifest list nor manifests")
    return Snapshot(
        snapshot_id=raw.number("snapshot-id"),
        parent_id=raw.maybe_number("parent-snapshot-id"),
        sequence_number=raw.maybe_number("sequence-number") or 0,
        timestamp_ms=raw.number("timestamp-ms"),
        operation=summary.get("operation"),
        summary=summary,
        schema_id=raw.maybe_number("schema-id"),
        manifest_list=manifest_list,
        manifests=raw.text_list("manifests") if manifest_list is None else (),
        key_id=raw.maybe_text("key-id"),
    )


def unbroken(log: Sequence[SnapshotLogEntry], snapshots: Sequence[Snapshot], last: int) -> list[SnapshotLogEntry]:
    """The newest stretch of the log that surely misses no entry; `last` is the table's last sequence number.

    Iceberg clears the log before an expired entry, but PyIceberg takes out that entry alone: the one before it then
    seems to have been current for longer than it was.
    """
    held = {snapshot.snapshot_id: snapshot for snapshot in snapshots}
    found: list[SnapshotLogEntry] = []
    for entry in reversed(log):
        if entry.snapshot_id not in held or (found and not _follows((entry, found[-1]), held, last)):
            break
        found.append(entry)
    return found[::-1]


def _follows(two: tuple[SnapshotLogEntry, SnapshotLogEntry], held: Mapping[int, Snapshot], last: int) -> bool:
    """True when no expired snapshot can have been current between these two."""
    before, after = (held[entry.snapshot_id] for entry in two)
    # A commit stands on what was current, and bears its own time; a snapshot that was made current again does not.
    if two[1].timestamp_ms == after.timestamp_ms and before.snapshot_id in ancestors(after, held):
        return True
    # A rollback may have gone to any snapshot, also to one of long ago: certain only when none is gone.
    numbers = {snapshot.sequence_number for snapshot in held.values()}
    return 0 not in numbers and all(number in numbers for number in range(1, last + 1))


def ancestors(snapshot: Snapshot, held: Mapping[int, Snapshot]) -> Iterator[int]:
    """Ids, nearest first; no more than there are snapshots, so that a damaged file cannot lead in circles."""
    for _ in held:
        if snapshot.parent_id is None or snapshot.parent_id not in held:
            return
        snapshot = held[snapshot.parent_id]
        yield snapshot.snapshot_id
