"""One recovery point: its record, and its files when they are wanted."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from bergung.cli import words
from bergung.cli.calls import counts
from bergung.cli.door import Door
from bergung.cli.tables import shown
from bergung.cli.telling import Grid, Part, Result
from bergung.cli.work import open_vault
from bergung.model.files import FileKind
from bergung.model.record import Record, TableEntry
from bergung.upkeep.showing import files_of
from bergung.vault.vault import Point, Vault, read_record, read_state

METADATA_KINDS = frozenset({FileKind.METADATA, FileKind.MANIFEST_LIST, FileKind.MANIFEST})
Files = dict[str, list[dict[str, Any]]]


def show(door: Door, wanted: str, with_files: bool) -> Result:
    """The record as it is stored; `files` are the receipts, folded in."""
    vault = open_vault(door)
    point = read_state(vault).find(wanted)
    record = read_record(vault, point)
    files = {name: _files(vault, entry) for name, entry in record.tables.items()} if with_files else {}
    facts = {"point": point.id, "record_digest": point.record, "record": _record_facts(record, files)}
    return Result(record.backup_metadata.status, facts, list(_parts(point, record, files)))


def _files(vault: Vault, entry: TableEntry) -> Files:
    found: Files = {"metadata": [], "data": []}
    for file in files_of(vault, entry):
        found["metadata" if file["kind"] in METADATA_KINDS else "data"].append(file)
    return found


def _record_facts(record: Record, files: Mapping[str, Files]) -> Any:
    facts = msgspec.to_builtins(record)
    for name, found in files.items():
        facts["tables"][name]["files"] = found
    return facts


def _parts(point: Point, record: Record, files: Mapping[str, Files]) -> Iterator[Part]:
    metadata = record.backup_metadata
    kept = f", kept for {words.many(metadata.retention_days, 'day')}" if metadata.retention_days else ""
    yield f"point {point.id} is {metadata.status}, as of {words.time(metadata.cut.at)} UTC{kept}"
    head = ("table", "status", "cut", "format", "files", "bytes", "rows", "answers (UTC)")
    yield Grid(head, [_row(name, entry) for name, entry in record.tables.items()], frozenset({3, 4, 5, 6}))
    for name, entry in record.tables.items():
        if entry.missing.count:
            yield f"{shown(name)} lacks {words.many(entry.missing.count, 'file')}:"
            yield from counts.named_files(entry.missing.files, entry.missing.count)
    for name, error in metadata.failed.items():
        yield f"{shown(name)} is not in it: {error}"
    if metadata.not_captured:
        yield f"not captured: {', '.join(metadata.not_captured)}"
    for name, found in files.items():
        yield ""
        yield shown(name)
        yield _file_grid(found)


def _row(name: str, entry: TableEntry) -> tuple[str, ...]:
    return (
        shown(name),
        entry.status if entry.captured == "all" else f"{entry.status} ({entry.captured} only)",
        entry.cut,
        f"v{entry.table_format_version}",
        words.number(entry.total_files),
        "-" if entry.total_size_bytes is None else words.size(entry.total_size_bytes),
        words.number(entry.total_rows),
        counts.span((entry.answers["from"], entry.answers["to"])),
    )


def _file_grid(found: Files) -> Grid:
    rows = [_file_row(file) for files in found.values() for file in files]
    return Grid(("kind", "state", "bytes", "rows", "checksum", "path"), rows, frozenset({2, 3}))


def _file_row(file: Mapping[str, Any]) -> tuple[str, ...]:
    rows, size = words.number(file["row_count"]), words.number(file["size"])
    return str(file["kind"]), file["state"], size, rows, file["checksum"] or "-", file["path"]
