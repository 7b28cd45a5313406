"""What makes a point exist: the record, then its entry in the log (format.md R2, R3, R7)."""

from bergung.clock import to_text
from bergung.errors import SourceChanged
from bergung.model.record import Record
from bergung.vault.documents import put_document
from bergung.vault.journal import Run
from bergung.vault.layout import ADMIN_LOG, LOG, point_key
from bergung.vault.log import Entry, append, read_chain
from bergung.vault.vault import Vault, read_state, seen_mark


def seal(vault: Vault, run: Run, record: Record) -> Entry:
    """Write the record and claim a slot for it; everything below it is durable already."""
    _refuse_stale(vault, run)
    point = record.backup_metadata.backup_id
    digest = put_document(vault.store, point_key(point), record)
    seen = read_state(vault).seen
    marks = {seen_mark(table.identity) for table in record.tables.values()}
    body = {
        "at": to_text(run.clock.now()),
        "run": run.id,
        "point": point,
        "record": digest,
        "tables": len(record.tables),
        "first_seen": sorted(marks - seen),
    }
    return append(vault.store, LOG, "seal", body)


def _refuse_stale(vault: Vault, run: Run) -> None:
    """A prune may have condemned what this run found and re-used."""
    again = "run the backup again; it re-uses what is there"
    if run.age().total_seconds() > vault.grace_seconds / 2:
        raise SourceChanged(f"run {run.id} took longer than half the grace of the vault", again)
    started_at = to_text(run.started_at)
    for entry in read_chain(vault.store, ADMIN_LOG).entries:
        if entry.kind == "prune-begin" and str(entry.body["at"]) > started_at:
            raise SourceChanged(f"a prune began while run {run.id} was on its way", again)
