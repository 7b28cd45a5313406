"""A backup, from the words of the user to the seal."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from bergung.backup.attempt import Attempt, Captured
from bergung.backup.locating import Located, locate_again, locate_all
from bergung.backup.locking import Locking
from bergung.backup.recording import record_of
from bergung.backup.request import BackupRequest
from bergung.carry.effects import Effects
from bergung.catalogs.select import Selected
from bergung.errors import BergungError
from bergung.model.record import Record
from bergung.stores.together import at_once, both
from bergung.vault.journal import Run, begin
from bergung.vault.locking import refuse_without_locks, span
from bergung.vault.seal import seal
from bergung.vault.vault import Vault, read_state

LOOKS = 3
"""So often is a table located whose files vanish while they are read."""


@dataclass(frozen=True)
class BackupResult:
    """A sealed point, the head of the log after it, and the errors of tables that are not in it."""

    run: str
    record: Record
    head: str
    failed: dict[str, BergungError]
    opened_manifests: int


def run_backup(effects: Effects, vault: Vault, request: BackupRequest, selected: Sequence[Selected]) -> BackupResult:
    """Locate, survey, carry, bind, record, seal. What fails for one table does not stop the others."""
    run = begin(vault.store, effects.ids.new(effects.clock.now()), effects.clock, **_intent(request))
    try:
        return _run(effects, vault, request, selected, run)
    except BergungError as error:
        run.fail(error)
        raise
    except KeyboardInterrupt:
        run.step("end", status="interrupted")
        raise


def _run(effects: Effects, vault: Vault, request: BackupRequest, selected: Sequence[Selected], run: Run) -> BackupResult:
    state = read_state(vault)
    if request.lock_days is not None:
        refuse_without_locks(vault.store)
    effects.watch.step("locate")
    cut = locate_all(effects, selected)
    attempt = Attempt(effects, vault, state, request, run)
    facts = {"tables": len(cut.tables), "failed": {name: error.message for name, error in cut.failed.items()}}
    _, known = both(at_once(vault.url), partial(run.step, "located", **facts), partial(attempt.known, cut.tables))
    captured = attempt.capture(cut.tables, known)
    captured = _look_again(effects, attempt, captured)
    failed = {**cut.failed, **captured.failed}
    if not captured.entries:
        raise _nothing(failed)
    locks = None if request.lock_days is None else Locking(effects, vault, run, span(effects.clock.now(), request.lock_days))
    if locks is not None:
        captured = replace(captured, entries=locks.lock(state, captured))
    record = record_of(run, request, cut, captured, selected)
    effects.watch.step("seal")
    entry = seal(vault, run, record, state)
    if locks is not None:
        locks.lock_point(state, captured)
    run.step("end", status=record.backup_metadata.status, point=record.backup_metadata.backup_id)
    return BackupResult(run.id, record, entry.digest, failed, captured.opened_manifests)


def _look_again(effects: Effects, attempt: Attempt, captured: Captured) -> Captured:
    """Tables whose files vanished because they moved on are taken as they stand now; the record says `later`."""
    for _ in range(LOOKS):
        moved = [again for again in (_moved(effects, located) for located in captured.lossy) if again is not None]
        if not moved:
            return captured
        captured = captured.over(attempt.capture(moved, attempt.known(moved)))
    return captured


def _moved(effects: Effects, located: Located) -> Located | None:
    try:
        again = locate_again(effects, located.selected)
    except BergungError:
        # Dropped meanwhile: what could be had of it is what there is.
        return None
    return again if again.metadata_location != located.metadata_location else None


def _nothing(failed: dict[str, BergungError]) -> BergungError:
    """No table at all: the error of the only one, or of the first with word of the others."""
    name, first = next(iter(sorted(failed.items())))
    if len(failed) == 1:
        return first
    return type(first)(f"none of {len(failed)} tables could be backed up; {name}: {first.message}", first.hint)


def _intent(request: BackupRequest) -> dict[str, object]:
    return {
        "verb": "backup",
        "words": list(request.words),
        "exclude": list(request.exclude),
        "captured": request.captured,
    }
