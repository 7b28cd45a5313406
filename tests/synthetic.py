"""Valid Iceberg tables in a folder without an engine: real Avro and JSON, and small real Parquet files when wanted.

    table = SyntheticTable(tmp_path / "t", Shape(format_version=3))
    table.append(200, manifests=4)
    metadata_path = table.commit()

`reached` is what the table knows of itself: every file that its retained snapshots live on, by kind.
Everything is the same at each run: ids count up, time goes a minute per commit.
"""

import gzip
import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from tests.synthetic_files import (
    ADDED,
    CONTENT,
    DELETED,
    EMPTY_FILE,
    EXISTING,
    SCHEMA,
    Json,
    Manifest,
    Shape,
    TableFiles,
)

__all__ = ["Shape", "SyntheticTable"]

START_MS = 1_700_000_000_000
MINUTE_MS = 60_000
PLAIN = Shape()


class SyntheticTable:
    """Stage with append, add_files, delete and merge; commit makes one snapshot and one metadata file of all that."""

    def __init__(self, folder: Path, shape: Shape = PLAIN) -> None:
        self.folder = folder
        self.shape = shape
        self.files = TableFiles(folder, shape)
        self.location = self.files.location
        self.uuid = str(uuid.uuid5(uuid.NAMESPACE_URL, self.location))
        self.metadata_path: str | None = None
        self.current: int | None = None
        self.snapshots: list[Json] = []
        self.snapshot_log: list[Json] = []
        self.metadata_log: list[Json] = []
        self.statistics: list[Json] = []
        self.partition_statistics: list[Json] = []
        self._manifests: list[Manifest] = []
        self._of_snapshot: dict[int, list[Manifest]] = {}
        self._ids = self._rows = self._sequence = 0
        self._now = START_MS

    @property
    def reached(self) -> dict[str, str]:
        """Path to kind, of all that the retained snapshots and the metadata file itself name."""
        found = {entry["metadata-file"]: "metadata" for entry in self.metadata_log}
        found |= {entry["statistics-path"]: "statistics" for entry in self.statistics}
        found |= {entry["statistics-path"]: "partition_statistics" for entry in self.partition_statistics}
        for snapshot in self.snapshots:
            if "manifest-list" in snapshot:
                found[snapshot["manifest-list"]] = "manifest_list"
            for manifest in self._of_snapshot[snapshot["snapshot-id"]]:
                found[manifest.path] = "manifest"
                found |= {entry["data_file"]["file_path"]: entry["kind"] for entry in manifest.live()}
        return found

    def local(self, path: str) -> Path:
        """Where the file of a path of this table really lies."""
        return self.folder / path.removeprefix(self.location + "/")

    def live_paths(self, kind: str = "data") -> list[str]:
        """What the next commit would keep."""
        entries = (entry for manifest in self._manifests for entry in manifest.live())
        return [entry["data_file"]["file_path"] for entry in entries if entry["kind"] == kind]

    def append(self, files: int | Sequence[Sequence[int]], manifests: int = 1) -> None:
        """So many data files, or one for each list of ids, spread over so many new manifests."""
        ids = [self._new_ids() for _ in range(files)] if isinstance(files, int) else files
        entries = [self._added(self.files.data_file(each), "data") for each in ids]
        size = -(-len(entries) // manifests)
        self._manifests += [self._manifest(entries[at : at + size]) for at in range(0, len(entries), size)]

    def add_files(self, files: Iterable[Json], kind: str = "data") -> None:
        """One new manifest of files made elsewhere, given as fields of data_file."""
        self._manifests.append(self._manifest([self._added({**EMPTY_FILE, **each}, kind) for each in files]))

    def delete(self, paths: Iterable[str]) -> None:
        """Manifests with these files are written anew: DELETED entries for them, EXISTING ones for the others."""
        gone = set(paths)
        self._manifests = [self._without(manifest, gone) for manifest in self._manifests]

    def merge(self, count: int) -> None:
        """The first so many manifests become one of EXISTING entries."""
        kept = [_moved(entry, EXISTING) for manifest in self._manifests[:count] for entry in manifest.live()]
        self._manifests = [self._manifest(kept), *self._manifests[count:]]

    def expire(self, keep: int) -> None:
        """The oldest snapshots go from the metadata as in Iceberg, with the next commit; no file is deleted."""
        self.snapshots = self.snapshots[-keep:]
        held = {snapshot["snapshot-id"] for snapshot in self.snapshots}
        gone = [place for place, entry in enumerate(self.snapshot_log, 1) if entry["snapshot-id"] not in held]
        self.snapshot_log = self.snapshot_log[max(gone, default=0) :]
        self.statistics = [entry for entry in self.statistics if entry["snapshot-id"] in held]
        self.partition_statistics = [entry for entry in self.partition_statistics if entry["snapshot-id"] in held]

    def add_statistics(self, blob: str = "apache-datasketches-theta-v1") -> None:
        """Both kinds of statistics for the newest snapshot. They take effect with the next commit."""
        of = {"snapshot-id": self.snapshots[-1]["snapshot-id"]}
        path, size = self.files.write("metadata/table.stats", b"PFA1PFA1")
        blobs = [{"type": blob, "sequence-number": 1, "fields": [1], **of}]
        sizes = {"file-size-in-bytes": size, "file-footer-size-in-bytes": 4}
        self.statistics.append({**of, "statistics-path": path, **sizes, "blob-metadata": blobs})
        path, size = self.files.write("metadata/partition-stats.parquet", b"PAR1PAR1")
        self.partition_statistics.append({**of, "statistics-path": path, "file-size-in-bytes": size})

    def roll_back(self, snapshot_id: int) -> None:
        """Make it the current one again, with the next commit, which makes no snapshot of its own."""
        self.current = snapshot_id
        self._manifests = list(self._of_snapshot[snapshot_id])
        self.snapshot_log.append({"snapshot-id": snapshot_id, "timestamp-ms": self._now + MINUTE_MS})

    def commit(self, *, snapshot: bool = True, staged: bool = False) -> str:
        """Write the manifest list and the next metadata file; its path, as a catalog would name it.

        What is staged is no part of the table: the next commit does not stand on it.
        """
        if self.metadata_path is not None:
            self.metadata_log.append({"metadata-file": self.metadata_path, "timestamp-ms": self._now})
        self._now += MINUTE_MS
        if snapshot:
            self._add_snapshot(staged)
        text = json.dumps({**self._metadata(), **self.shape.more}).encode()
        ending = "gz.metadata.json" if self.shape.gzip else "metadata.json"
        content = gzip.compress(text, mtime=0) if self.shape.gzip else text
        self.metadata_path, _ = self.files.write(f"metadata/{self.uuid}.{ending}", content)
        return self.metadata_path

    def metadata_bytes(self) -> bytes:
        """The newest metadata file as it lies there."""
        assert self.metadata_path is not None, "nothing is committed yet"
        return self.local(self.metadata_path).read_bytes()

    def _add_snapshot(self, staged: bool) -> None:
        self._sequence += 1
        id_ = self._snapshot_id()
        first = self._rows
        self._manifests = [self._with_row_ids(manifest) for manifest in self._manifests]
        self._of_snapshot[id_] = list(self._manifests)
        rows = sum(entry["data_file"]["record_count"] for each in self._manifests for entry in each.live())
        summary = {"operation": "append", "total-records": str(rows)}
        schema_id = self.shape.more.get("current-schema-id", 0)
        snapshot: Json = {"snapshot-id": id_, "timestamp-ms": self._now, "summary": summary, "schema-id": schema_id}
        if self.current is not None:
            snapshot["parent-snapshot-id"] = self.current
        if self.shape.format_version > 1:
            snapshot["sequence-number"] = self._sequence
        if self.shape.format_version > 2:
            snapshot |= {"first-row-id": first, "added-rows": self._rows - first}
        if self.shape.embedded_manifests:
            snapshot["manifests"] = [manifest.path for manifest in self._manifests]
        else:
            snapshot["manifest-list"] = self.files.manifest_list(self._manifests, id_)
        self.snapshots.append(snapshot)
        if staged:
            self._manifests = list(self._of_snapshot[self.current]) if self.current is not None else []
        else:
            self.current = id_
            self.snapshot_log.append({"snapshot-id": id_, "timestamp-ms": self._now})

    def _snapshot_id(self) -> int:
        return 1000 + self._sequence

    def _with_row_ids(self, manifest: Manifest) -> Manifest:
        """Format version 3: rows of new data files get ids at the commit, by their place."""
        if self.shape.format_version < 3 or manifest.content or manifest.first_row_id is not None:
            return manifest
        manifest = replace(manifest, first_row_id=self._rows)
        for entry in manifest.live():
            if entry["data_file"]["first_row_id"] is None:
                entry["row_id"] = self._rows
                self._rows += entry["data_file"]["record_count"]
        return manifest

    def _new_ids(self) -> Sequence[int]:
        first, self._ids = self._ids, self._ids + self.shape.rows_per_file
        return range(first, self._ids)

    def _added(self, data_file: Json, kind: str) -> Json:
        numbers = {"snapshot_id": self._snapshot_id() + 1, "sequence_number": None, "file_sequence_number": None}
        data_file["content"] = CONTENT[kind]
        return {"status": ADDED, **numbers, "data_file": data_file, "kind": kind, "sequence": self._sequence + 1}

    def _without(self, manifest: Manifest, gone: set[str]) -> Manifest:
        live = manifest.live()
        if not any(entry["data_file"]["file_path"] in gone for entry in live):
            return manifest
        kept = [_moved(entry, EXISTING) for entry in live if entry["data_file"]["file_path"] not in gone]
        lost = [_moved(entry, DELETED) for entry in live if entry["data_file"]["file_path"] in gone]
        return self._manifest([*kept, *({**entry, "snapshot_id": self._snapshot_id() + 1} for entry in lost)])

    def _manifest(self, entries: Sequence[Json]) -> Manifest:
        return self.files.manifest(entries, self._snapshot_id() + 1, self._sequence + 1)

    def _metadata(self) -> Json:
        version = self.shape.format_version
        metadata: Json = {
            "format-version": version,
            "location": self.location,
            "last-updated-ms": self._now,
            "last-column-id": 2,
            "current-schema-id": 0,
            "schemas": [SCHEMA],
            "default-spec-id": 0,
            "partition-specs": [{"spec-id": 0, "fields": []}],
            "last-partition-id": 999,
            "default-sort-order-id": 0,
            "sort-orders": [{"order-id": 0, "fields": []}],
            "properties": {},
            "current-snapshot-id": -1 if self.current is None else self.current,
            "snapshots": self.snapshots,
            "snapshot-log": self.snapshot_log,
            "metadata-log": self.metadata_log,
            "statistics": self.statistics,
            "partition-statistics": self.partition_statistics,
        }
        if self.shape.with_uuid:
            metadata["table-uuid"] = self.uuid
        if version == 1:
            return {**metadata, "schema": SCHEMA, "partition-spec": []}
        rows = {"next-row-id": self._rows} if version > 2 else {}
        return {**metadata, "last-sequence-number": self._sequence, **rows}


def _moved(entry: Json, status: int) -> Json:
    """In a new manifest: numbers that were inherited are written out now."""
    numbers = {"sequence_number": entry["sequence"], "file_sequence_number": entry["sequence"]}
    return {
        **entry,
        **numbers,
        "status": status,
        "data_file": {**entry["data_file"], "first_row_id": entry.get("row_id")},
    }
