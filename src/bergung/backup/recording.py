"""The record of a point, from what was located and captured."""

from collections.abc import Iterable, Mapping, Sequence

from bergung import version
from bergung.backup.attempt import Captured
from bergung.backup.entry import DAMAGED
from bergung.backup.locating import CLOCK, EXACT, LATER, Cut
from bergung.backup.request import BackupRequest
from bergung.catalogs.select import Selected
from bergung.clock import to_text
from bergung.errors import BergungError
from bergung.model.names import join_levels
from bergung.model.record import BackupMetadata, Record, Statistics, TableEntry
from bergung.model.record import Cut as CutFacts
from bergung.vault.journal import Run

PARTIAL = "partial"
NOT_CAPTURED = ("grants", "views")


def record_of(run: Run, request: BackupRequest, cut: Cut, captured: Captured, selected: Sequence[Selected]) -> Record:
    """Everything that the point says of itself."""
    failed = {**cut.failed, **captured.failed}
    metadata = BackupMetadata(
        backup_id=run.id,
        run_id=run.id,
        backup_type="incremental" if captured.bases else "full",
        base_backup_id=max(captured.bases.values(), default=None),
        timestamp=to_text(cut.at),
        databases=_databases(selected),
        retention_days=request.keep_days,
        tool_version=version.VERSION,
        status=_status(captured, failed),
        failed={name: error.message for name, error in sorted(failed.items())},
        cut=_cut(cut, captured.entries.values()),
        not_captured=NOT_CAPTURED,
    )
    entries = dict(sorted(captured.entries.items()))
    return Record(metadata, entries, _namespaces(selected), _statistics(entries, captured))


def _databases(selected: Sequence[Selected]) -> tuple[str, ...]:
    return tuple(sorted({join_levels((each.table.catalog, *each.table.namespace)) for each in selected}))


def _status(captured: Captured, failed: Mapping[str, BergungError]) -> str:
    if any(entry.status == DAMAGED for entry in captured.entries.values()):
        return DAMAGED
    return PARTIAL if failed else "complete"


def _cut(cut: Cut, entries: Iterable[TableEntry]) -> CutFacts:
    kinds = [entry.cut for entry in entries]
    return CutFacts(to_text(cut.at), kinds.count(EXACT), kinds.count(CLOCK), kinds.count(LATER))


def _namespaces(selected: Sequence[Selected]) -> dict[str, dict[str, str]]:
    """Properties of every namespace that a selected table lies in, and of those above it."""
    catalogs = {each.table.catalog: each.catalog for each in selected}
    wanted = {
        (each.table.catalog, each.table.namespace[:depth]) for each in selected for depth in range(1, len(each.table.namespace) + 1)
    }
    found = {
        (name, namespace.levels): namespace.properties for name, catalog in catalogs.items() for namespace in catalog.namespaces()
    }
    return {join_levels((name, *levels)): found.get((name, levels), {}) for name, levels in sorted(wanted)}


def _statistics(entries: Mapping[str, TableEntry], captured: Captured) -> Statistics:
    tables = entries.values()
    new = [count for entry in tables for count in entry.new_files.values()]
    # What a killed run had left was not stored again.
    found_there = captured.totals.bytes - captured.totals.moved_bytes
    return Statistics(
        total_tables=len(entries),
        total_files=sum(entry.total_files or 0 for entry in tables),
        total_size_bytes=sum(entry.total_size_bytes or 0 for entry in tables),
        total_rows=sum(entry.total_rows or 0 for entry in tables),
        new_file_count=sum(count.files for count in new),
        new_size_bytes=sum(count.bytes for count in new),
        stored_bytes=sum(count.bytes for count in new) - found_there,
    )
