"""A restore, from a point to the catalog's entry."""

from dataclasses import dataclass

from bergung.carry.effects import Effects
from bergung.errors import BergungError, Refused, SourceChanged
from bergung.model.record import Record
from bergung.plan.restore import RestorePlan
from bergung.plan.token import token_of
from bergung.restore.giving_back import Restored, give_back, sweep_left_behind
from bergung.restore.planning import OpenCatalog, Planned, plan_restore, refuse_metadata_only
from bergung.restore.request import RestoreRequest
from bergung.vault.journal import Run, begin
from bergung.vault.vault import Vault, read_record, read_state


@dataclass(frozen=True)
class RestoreResult:
    """The plan, its token, and what came of it; nothing yet after a dry run."""

    run: str
    plan: RestorePlan
    token: str
    restored: Restored | None


def run_restore(effects: Effects, vault: Vault, request: RestoreRequest, open_catalog: OpenCatalog) -> RestoreResult:
    """Walk the point, look at the targets, refuse or carry, then register."""
    intent = {"verb": "restore", "words": list(request.words), "point": request.point, "dry_run": request.dry_run}
    run = begin(vault.store, effects.ids.new(effects.clock.now()), effects.clock, **intent)
    try:
        return _run(effects, vault, request, open_catalog, run)
    except BergungError as error:
        run.fail(error)
        raise
    except KeyboardInterrupt:
        run.step("end", status="interrupted")
        raise


def _run(effects: Effects, vault: Vault, request: RestoreRequest, open_catalog: OpenCatalog, run: Run) -> RestoreResult:
    record = read_record(vault, read_state(vault).find(request.point))
    effects.watch.step("look")
    planned = plan_restore(effects, vault, run, request, record, open_catalog)
    token = token_of(planned.plan)
    if request.dry_run:
        run.step("end", status="dry run", plan=token)
        return RestoreResult(run.id, planned.plan, token, None)
    _refuse(request, planned, token)
    return RestoreResult(run.id, planned.plan, token, _restore(effects, run, planned, record))


def _refuse(request: RestoreRequest, planned: Planned, token: str) -> None:
    refuse_metadata_only(planned.plan)
    if request.confirmed_plan is not None and request.confirmed_plan != token:
        raise SourceChanged(f"plan {request.confirmed_plan} does not fit any more", "look again with --dry-run")
    said = planned.plan.needs_word()
    if said and not request.over:
        raise Refused("; ".join(said), f"look with --dry-run; to do it: --confirm={token}")


def _restore(effects: Effects, run: Run, planned: Planned, record: Record) -> Restored:
    effects.watch.step("carry")
    restored = give_back(effects, planned, record)
    for target in planned.targets:
        places = target.root.metadata.write_prefixes
        moves = target.destination.moves
        sweep_left_behind(effects.open_store, places if moves is None else map(moves.of, places), run.started_at)
    status = "complete" if not restored.failed and not restored.damaged else "partial"
    run.step("end", status=status, tables=list(restored.done), damaged=list(restored.damaged))
    return restored
