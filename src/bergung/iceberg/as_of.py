"""A table's metadata as it was at an instant, made from a metadata file of that time or of a later one.

What began later goes, and what there are no files of. The numbers that count up are never lowered, so that nothing new gets a
number that was given before.
"""

import gzip
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bergung.iceberg.metadata import TableMetadata, read_metadata
from bergung.iceberg.raw import read_json
from bergung.iceberg.snapshots import Snapshot, SnapshotLogEntry, ancestors

Json = dict[str, Any]

COUNTERS = ("last-sequence-number", "next-row-id", "last-column-id", "last-partition-id")
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class AsOf:
    """What a metadata file is to say."""

    entry: SnapshotLogEntry
    """That of the log that becomes the last; its snapshot is the current one."""
    snapshots: frozenset[int]
    """Those that stay."""
    files: Collection[str]
    """What there is: statistics whose file is not among it go."""
    counters: Mapping[str, int]
    """How far they have come in the newest metadata file that is known."""
    schema_id: int | None = None
    """The schema that becomes current; None leaves it."""
    without_specs: frozenset[int] = frozenset()
    """Partition specs that go: they have a column that this schema has not, and no manifest is of them."""


def counters_of(data: bytes, where: str) -> Mapping[str, int]:
    """The numbers of a metadata file that only ever rise."""
    raw = read_json(data, where)
    return {name: number for name in COUNTERS if (number := raw.maybe_number(name)) is not None}


def made_by(metadata: TableMetadata, entry: SnapshotLogEntry, at_ms: int) -> frozenset[int]:
    """Of the snapshots of a later metadata file those that were there at the instant.

    Clocks differ, so their own times are not all: what the entry stands on and what was current before it was there too.
    """
    held = {snapshot.snapshot_id: snapshot for snapshot in metadata.snapshots}
    log = metadata.snapshot_log
    logged = [each.snapshot_id for each in log[: len(log) - log[::-1].index(entry)]]
    older = [each.snapshot_id for each in metadata.snapshots if each.timestamp_ms <= at_ms]
    return frozenset(id_ for id_ in (*logged, *ancestors(held[entry.snapshot_id], held), *older) if id_ in held)


def with_files(metadata: TableMetadata, files: Collection[str]) -> frozenset[int]:
    """The snapshots of which there is more than the entry."""
    return frozenset(each.snapshot_id for each in metadata.snapshots if all(path in files for path in _named_by(each)))


def schema_by(metadata: TableMetadata, snapshots: Collection[int]) -> int | None:
    """The current schema when the youngest of these was made: a rollback takes no schema back."""
    made = [each for each in metadata.snapshots if each.snapshot_id in snapshots and each.schema_id is not None]
    return max(made, key=lambda each: (each.sequence_number, each.timestamp_ms)).schema_id if made else None


def later_specs(data: bytes, where: str, schema_id: int | None) -> frozenset[int]:
    """Partition specs with a column that the current schema has and this one has not: engines cannot write beside them."""
    values = read_json(data, where).values
    then, now = (_schema_of(values, each) for each in (schema_id, values.get("current-schema-id")))
    added = set(_field_ids(now)) - set(_field_ids(then)) if then and now else set()
    return frozenset(each["spec-id"] for each in values.get("partition-specs") or () if added & set(_sources(each)))


def as_of(data: bytes, where: str, wanted: AsOf) -> bytes:
    """The very same bytes where nothing has to change."""
    values = read_json(data, where).values
    changes = _changes(values, wanted)
    if all(values.get(name) == value for name, value in changes.items()):
        return data
    counted = {name: max(number, wanted.counters.get(name, 0)) for name, number in counters_of(data, where).items()}
    # Its own older files need not be there, and are not those of the file that is written now.
    text = json.dumps({**values, **changes, **counted, "metadata-log": []}, ensure_ascii=False, separators=(",", ":")).encode()
    # No time in its head: the same wish always makes the same bytes.
    made = gzip.compress(text, mtime=0) if data.startswith(_GZIP) else text
    read_metadata(made, where)
    return made


def _named_by(snapshot: Snapshot) -> tuple[str, ...]:
    return snapshot.manifests if snapshot.manifest_list is None else (snapshot.manifest_list,)


def _changes(values: Json, wanted: AsOf) -> Json:
    """Only of what is there: old writers leave much out."""
    changes: Json = {name: _staying(values[name], wanted) for name in _OF_SNAPSHOTS if values.get(name)}
    changes["current-snapshot-id"] = wanted.entry.snapshot_id
    if "snapshot-log" in values:
        changes["snapshot-log"] = _log(values["snapshot-log"], wanted)
    if values.get("refs"):
        changes["refs"] = _refs(values["refs"], wanted)
    return {**changes, **_schema(values, wanted)}


_OF_SNAPSHOTS = ("snapshots", "statistics", "partition-statistics")


def _staying(entries: Iterable[Json], wanted: AsOf) -> list[Json]:
    kept = (entry for entry in entries if entry["snapshot-id"] in wanted.snapshots)
    return [entry for entry in kept if "statistics-path" not in entry or entry["statistics-path"] in wanted.files]


def _log(log: list[Json], wanted: AsOf) -> list[Json]:
    """Up to the state; an entry whose snapshot is gone clears everything before it, as in Iceberg itself."""
    last = {"timestamp-ms": wanted.entry.timestamp_ms, "snapshot-id": wanted.entry.snapshot_id}
    ends = [place for place, entry in enumerate(log, 1) if {name: entry[name] for name in last} == last]
    kept = log[: ends[-1]] if ends else [last]
    gone = [place for place, entry in enumerate(kept, 1) if entry["snapshot-id"] not in wanted.snapshots]
    return kept[gone[-1] if gone else 0 :]


def _refs(refs: Json, wanted: AsOf) -> Json:
    main = {"type": "branch", **refs.get("main", {}), "snapshot-id": wanted.entry.snapshot_id}
    kept = {name: ref for name, ref in refs.items() if ref["snapshot-id"] in wanted.snapshots}
    return {**kept, "main": main}


def _schema(values: Json, wanted: AsOf) -> Json:
    """The schema, and the newest partition spec and sort order that it can have."""
    schema = _schema_of(values, wanted.schema_id)
    if schema is None or values.get("current-schema-id") == wanted.schema_id:
        return {}
    ids = set(_field_ids(schema))
    specs = [each for each in values["partition-specs"] if each["spec-id"] not in wanted.without_specs]
    spec = _newest(specs, "spec-id", values.get("default-spec-id"), ids)
    order = _newest(values.get("sort-orders") or [], "order-id", values.get("default-sort-order-id"), ids)
    if spec is None or order is None:
        return {}
    changes = {"current-schema-id": wanted.schema_id, "partition-specs": specs}
    changes |= {"default-spec-id": spec["spec-id"], "default-sort-order-id": order["order-id"]}
    # Format version 1 says both once more, for readers of old.
    old = {"schema": schema, "partition-spec": spec["fields"]}
    return {**changes, **{name: value for name, value in old.items() if name in values}}


def _schema_of(values: Json, schema_id: int | None) -> Json | None:
    return next((each for each in values.get("schemas") or () if each.get("schema-id") == schema_id), None)


def _newest(listed: Iterable[Json], own: str, default: int | None, ids: set[int]) -> Json | None:
    """The default one when it fits, else the last that does."""
    fitting = [each for each in listed if ids.issuperset(_sources(each))]
    return next((each for each in fitting if each[own] == default), max(fitting, key=lambda each: int(each[own]), default=None))


def _sources(spec: Json) -> Iterator[int]:
    for field in spec.get("fields") or ():
        yield from field.get("source-ids") or [field["source-id"]]


def _field_ids(type_: Any) -> Iterator[int]:
    """Of a schema and of all types in it."""
    if isinstance(type_, dict):
        yield from (value for name, value in type_.items() if name in ("id", "element-id", "key-id", "value-id"))
        for value in type_.values():
            yield from _field_ids(value)
    elif isinstance(type_, list):
        for each in type_:
            yield from _field_ids(each)
