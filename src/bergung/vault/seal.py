"""What makes a point exist: the record, then its entry in the log (format.md R2, R3, R7)."""

from functools import partial

from bergung.clock import to_text
from bergung.errors import SourceChanged
from bergung.model.record import Record
from bergung.stores.together import at_once, both
from bergung.vault.documents import put_document
from bergung.vault.journal import Run
from bergung.vault.layout import ADMIN_LOG, LOG, point_key
from bergung.vault.log import Chain, Entry, append, read_chain
from bergung.vault.vault import State, Vault, seen_mark

AGAIN = "run the backup again; it re-uses what is there"


def seal(vault: Vault, run: Run, record: Record, state: State) -> Entry:
    """Write the record and claim a slot for it; everything below it is durable. `state` is what the run began with.

    The slot is claimed when the record is durable and the log shows no prune; those need nothing of each other.
    """
    point, most = record.backup_metadata.backup_id, at_once(vault.url)
    read = partial(both, most, partial(_refuse_stale, vault, run, state.admin), partial(read_chain, vault.store, LOG, state.chain))
    (_, chain), digest = both(most, read, partial(put_document, vault.store, point_key(point), record))
    marks = {seen_mark(table.identity) for table in record.tables.values()}
    body = {
        "at": to_text(run.clock.now()),
        "run": run.id,
        "point": point,
        "record": digest,
        "tables": len(record.tables),
        "first_seen": sorted(marks - state.seen),
    }
    return append(vault.store, LOG, "seal", body, chain)


def _refuse_stale(vault: Vault, run: Run, admin: Chain) -> None:
    """A prune may have condemned what this run found and re-used."""
    if run.age().total_seconds() > vault.grace_seconds / 2:
        raise SourceChanged(f"run {run.id} took longer than half the grace of the vault", AGAIN)
    now = read_chain(vault.store, ADMIN_LOG, admin)
    ended = {entry.body.get("begin") for entry in now.entries if entry.kind == "prune-end"}
    for entry in now.entries:
        if entry.kind == "prune-begin" and (entry.slot >= admin.next_slot or entry.slot not in ended):
            raise SourceChanged(f"a prune is on its way beside run {run.id}", AGAIN)
