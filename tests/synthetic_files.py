"""The files of synthetic tables: manifests, manifest lists, Parquet files of two columns."""

import io
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from tests import synthetic_avro

Json = dict[str, Any]

EXISTING, ADDED, DELETED = 0, 1, 2
CONTENT = {"data": 0, "position_deletes": 1, "deletion_vectors": 1, "equality_deletes": 2}

SCHEMA = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": 1, "name": "id", "required": True, "type": "long"},
        {"id": 2, "name": "name", "required": False, "type": "string"},
    ],
}
EMPTY_FILE = {
    "file_format": "PARQUET",
    "partition": {},
    "record_count": 1,
    "file_size_in_bytes": 1,
    "block_size_in_bytes": 1,
    "first_row_id": None,
}


@dataclass(frozen=True)
class Shape:
    """What kind of table."""

    format_version: int = 2
    location: str | None = None
    """As written; by default the folder as `file:///…`; another one is only written, the files lie in the folder."""
    with_data: bool = True
    """Real Parquet files; without, manifests name files that are not there."""
    with_uuid: bool = True
    embedded_manifests: bool = False
    """Format version 1 as it was before manifest lists."""
    gzip: bool = False
    codec: str = "deflate"
    rows_per_file: int = 3
    columns_with_statistics: int = 0
    more: Json = field(default_factory=dict)
    """Laid over the metadata file: whatever else it should say."""


@dataclass(frozen=True)
class Manifest:
    """What a manifest list says of it, and its entries."""

    path: str
    length: int
    content: int
    snapshot_id: int
    sequence_number: int
    entries: tuple[Json, ...]
    first_row_id: int | None = None

    def live(self) -> list[Json]:
        return [entry for entry in self.entries if entry["status"] != DELETED]

    def totals(self, status: int) -> tuple[int, int]:
        """Files and rows."""
        rows = [entry["data_file"]["record_count"] for entry in self.entries if entry["status"] == status]
        return len(rows), sum(rows)


class TableFiles:
    """Writes the files of one table; names count up."""

    def __init__(self, folder: Path, shape: Shape) -> None:
        self.folder = folder
        self.shape = shape
        self.location = shape.location or f"file://{folder}"
        self._count = 0
        for name in ("metadata", "data"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def write(self, name: str, content: bytes) -> tuple[str, int]:
        """A file of this table with a name that counts up; its path and size."""
        self._count += 1
        folder, _, rest = name.rpartition("/")
        path = f"{folder}/{self._count:05d}-{rest}"
        (self.folder / path).write_bytes(content)
        return f"{self.location}/{path}", len(content)

    def data_file(self, ids: Sequence[int]) -> Json:
        """A Parquet file with these ids, as a manifest describes it."""
        statistics = _statistics(self.shape.columns_with_statistics, len(ids))
        if self.shape.with_data:
            path, size = self.write("data/part.parquet", _parquet(ids))
        else:
            self._count += 1
            path, size = f"{self.location}/data/{self._count:08d}-part.parquet", 1000 + len(ids)
        own = {"file_path": path, "record_count": len(ids), "file_size_in_bytes": size}
        return {**EMPTY_FILE, **own, **statistics}

    def manifest(self, entries: Sequence[Json], snapshot_id: int, sequence_number: int) -> Manifest:
        """A manifest of these entries."""
        content = int(any(entry["data_file"]["content"] for entry in entries))
        version = self.shape.format_version
        properties = {
            "schema": json.dumps(SCHEMA),
            "schema-id": "0",
            "partition-spec": "[]",
            "partition-spec-id": "0",
            "format-version": str(version),
            "content": ("data", "deletes")[content],
        }
        data = self._avro(synthetic_avro.manifest_entry(version), entries, properties)
        path, size = self.write("metadata/m.avro", data)
        return Manifest(path, size, content, snapshot_id, sequence_number, tuple(entries))

    def manifest_list(self, manifests: Sequence[Manifest], snapshot_id: int) -> str:
        """The path of a manifest list."""
        version = self.shape.format_version
        schema = synthetic_avro.manifest_list(version)
        names = [each["name"] for each in schema["fields"]]
        properties = {"snapshot-id": str(snapshot_id), "format-version": str(version)}
        rows = [{name: value for name, value in _listed(each).items() if name in names} for each in manifests]
        return self.write(f"metadata/snap-{snapshot_id}.avro", self._avro(schema, rows, properties))[0]

    def _avro(self, schema: Json, rows: Sequence[Json], properties: dict[str, str]) -> bytes:
        target = io.BytesIO()
        marker = uuid.UUID(int=self._count).bytes
        fastavro.writer(target, schema, rows, codec=self.shape.codec, metadata=properties, sync_interval=64_000, sync_marker=marker)
        return target.getvalue()


def _listed(manifest: Manifest) -> Json:
    """A row of a manifest list with the names of all format versions."""
    row: Json = {
        "manifest_path": manifest.path,
        "manifest_length": manifest.length,
        "partition_spec_id": 0,
        "content": manifest.content,
        "sequence_number": manifest.sequence_number,
        "min_sequence_number": min((entry["sequence"] for entry in manifest.entries), default=manifest.sequence_number),
        "added_snapshot_id": manifest.snapshot_id,
        "partitions": [],
        "key_metadata": None,
        "first_row_id": manifest.first_row_id,
    }
    for name, status in (("added", ADDED), ("existing", EXISTING), ("deleted", DELETED)):
        files, rows = manifest.totals(status)
        row |= {f"{name}_files_count": files, f"{name}_data_files_count": files, f"{name}_rows_count": rows}
    return row


def _parquet(ids: Sequence[int]) -> bytes:
    fields = [
        pa.field("id", pa.int64(), nullable=False, metadata={"PARQUET:field_id": "1"}),
        pa.field("name", pa.string(), metadata={"PARQUET:field_id": "2"}),
    ]
    target = pa.BufferOutputStream()
    pq.write_table(pa.table([list(ids), [f"name {id_}" for id_ in ids]], schema=pa.schema(fields)), target)
    return target.getvalue().to_pybytes()


def _statistics(columns: int, rows: int) -> Json:
    if not columns:
        return {}
    numbers = [{"key": id_, "value": rows} for id_ in range(1, columns + 1)]
    bounds = [{"key": id_, "value": id_.to_bytes(8, "little")} for id_ in range(1, columns + 1)]
    counts = dict.fromkeys(("column_sizes", "value_counts", "null_value_counts"), numbers)
    return {**counts, **dict.fromkeys(("lower_bounds", "upper_bounds"), bounds), "split_offsets": [4]}
