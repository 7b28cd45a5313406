"""What is in a point, read from the vault alone: the snapshots of a table, and every file that they reach."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from bergung.clock import from_ms, to_text
from bergung.iceberg.columns import rows_of
from bergung.iceberg.metadata import TableMetadata, read_metadata
from bergung.iceberg.snapshots import Snapshot
from bergung.model.files import FileKind
from bergung.model.record import TableEntry
from bergung.stores.digest import read_verified
from bergung.stores.together import at_once, together
from bergung.vault.receipts import HELD, RECEIPT, read_receipts
from bergung.vault.vault import Vault

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """One column of a schema; nested types are written out."""

    id: int
    name: str
    type: str
    required: bool


@dataclass(frozen=True)
class SnapshotFacts:
    """What a restore to this snapshot would bring back."""

    snapshot_id: int
    parent_id: int | None
    at: str
    operation: str | None
    rows: int | None
    files: int | None
    bytes: int | None
    schema_id: int
    schema: tuple[Column, ...]
    is_current: bool
    refs: tuple[str, ...]
    """Branches and tags that point here."""


def preview(vault: Vault, entry: TableEntry) -> list[SnapshotFacts]:
    """Every retained snapshot, oldest first."""
    key = entry.location + entry.metadata_file.blob_key
    metadata = read_metadata(read_verified(vault.store, key, entry.metadata_file.digest), entry.metadata_location)
    schemas = {schema.get("schema-id", 0): _columns(schema) for schema in metadata.schemas}
    return [_facts(metadata, schemas, snapshot) for snapshot in sorted(metadata.snapshots, key=lambda each: each.timestamp_ms)]


def _facts(metadata: TableMetadata, schemas: Mapping[int, tuple[Column, ...]], snapshot: Snapshot) -> SnapshotFacts:
    # Old writers named no schema: readers take the table's own.
    schema_id = metadata.schema_id if snapshot.schema_id is None else snapshot.schema_id
    return SnapshotFacts(
        snapshot_id=snapshot.snapshot_id,
        parent_id=snapshot.parent_id,
        at=to_text(from_ms(snapshot.timestamp_ms)),
        operation=snapshot.operation,
        rows=_number(snapshot, "total-records"),
        files=_number(snapshot, "total-data-files"),
        bytes=_number(snapshot, "total-files-size"),
        schema_id=schema_id,
        schema=schemas.get(schema_id, ()),
        is_current=snapshot.snapshot_id == metadata.current_snapshot_id,
        refs=tuple(sorted(name for name, ref in metadata.refs.items() if ref.snapshot_id == snapshot.snapshot_id)),
    )


def _number(snapshot: Snapshot, name: str) -> int | None:
    text = snapshot.summary.get(name, "")
    return int(text) if text.isdecimal() else None


def _columns(schema: Mapping[str, Any]) -> tuple[Column, ...]:
    return tuple(
        Column(field["id"], field["name"], type_text(field["type"]), bool(field.get("required"))) for field in schema["fields"]
    )


def type_text(type_: Any) -> str:
    """A type as SQL writes it; one that is not known as it stands."""
    if not isinstance(type_, Mapping):
        return str(type_)
    if type_.get("type") == "struct":
        fields = (f"{field['name']}: {type_text(field['type'])}" for field in type_["fields"])
        return f"struct<{', '.join(fields)}>"
    if type_.get("type") == "list":
        return f"list<{type_text(type_['element'])}>"
    if type_.get("type") == "map":
        return f"map<{type_text(type_['key'])}, {type_text(type_['value'])}>"
    return str(type_.get("type"))


def files_of(vault: Vault, entry: TableEntry) -> Iterator[dict[str, Any]]:
    """Every file of a table in a point, each once: path, kind, state, size, checksum, row_count."""
    file = entry.metadata_file
    own = {"path": entry.metadata_location, "kind": FileKind.METADATA, "state": HELD, "row_count": None}
    root = {**own, "size_bytes": file.size_bytes, "digest": file.digest, "receipts": entry.receipts}
    return _below(vault, entry, [root], set())


def _below(vault: Vault, entry: TableEntry, rows: Iterable[Row], seen: set[tuple[str, str | None]]) -> Iterator[dict[str, Any]]:
    """These and, after each, what it names; the receipts of the next ones are read meanwhile."""
    wanted = (row for row in rows if _key(row) not in seen)
    for row, receipts in together(at_once(vault.url), lambda row: (row, _receipts(vault, entry, row)), wanted):
        # It may have come below another since.
        if _key(row) not in seen:
            seen.add(_key(row))
            yield _file(row)
            yield from _below(vault, entry, rows_of(receipts), seen)


def _key(row: Row) -> tuple[str, str | None]:
    return row["path"], row["digest"]


def _receipts(vault: Vault, entry: TableEntry, row: Row) -> pa.Table:
    if row["receipts"] is None:
        return RECEIPT.empty_table()
    return read_receipts(vault.store, entry.location, row["digest"], row["receipts"])


def _file(row: Row) -> dict[str, Any]:
    names = {
        "path": "path",
        "kind": "kind",
        "state": "state",
        "size": "size_bytes",
        "checksum": "digest",
        "row_count": "row_count",
    }
    return {name: row[key] for name, key in names.items()}
