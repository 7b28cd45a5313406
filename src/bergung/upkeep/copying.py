"""A second copy of a vault: points in their order, each whole before its seal, then what the logs say besides."""

from collections.abc import Iterator
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from bergung.carry.effects import Effects
from bergung.errors import BergungError, DamageFound, SourceChanged
from bergung.model.record import Count, Record
from bergung.plan.copying import CopyPlan, is_full
from bergung.upkeep.copying_batch import Batch, Brought, Copying, bring_batch, look_batch, plan_batch
from bergung.upkeep.copying_known import Ledger
from bergung.upkeep.damage import Damage
from bergung.upkeep.looking import Depth, Known, Seen, look_through
from bergung.vault.journal import Run, begin
from bergung.vault.second import is_there, make_second, open_second, refuse_itself
from bergung.vault.second_log import Logs, begin_log, compare
from bergung.vault.vault import Point, Vault, read_record, read_state

AGAIN = "run the same command again: it goes on where it stopped"


@dataclass(frozen=True)
class CopyRequest:
    """Where to; how much of what was brought is read again there."""

    to: str
    share: float = 0.0
    trust_size: bool = False
    """Believe what lies there by its length."""
    mend: bool = False
    """Look at everything, also what an earlier copy brought."""


@dataclass(frozen=True)
class CopyResult:
    """What the copy has now that it had not before, and how it was found when it was looked through."""

    run: str
    plan: CopyPlan
    brought: Brought
    verified: Seen
    verify_run: str
    points: int
    head: str

    @property
    def checked(self) -> Count:
        """Files that are there; the points' own metadata files among them, which verify counts with the records."""
        return self.verified.checked + self.verified.roots

    @property
    def read(self) -> Count:
        """Those of them that were read again there."""
        return self.verified.read + self.verified.roots

    @property
    def own(self) -> tuple[Damage, ...]:
        """Damage of the copy alone."""
        if self.brought.lost_count > len(self.brought.lost):
            return ()
        return tuple(damage for damage in self.verified.damages if damage.file not in self.brought.lost)


def run_copy(effects: Effects, source: Vault, request: CopyRequest) -> CopyResult:
    """Compare, carry what is missing, write the slots, look through what came."""
    store = effects.open_store(request.to)
    refuse_itself(source, store)
    is_new = not is_there(store)
    if is_new:
        make_second(source, read_state(source), store)
    target = open_second(source, request.to, effects.open_store)
    run = begin(target.store, effects.ids.new(effects.clock.now()), effects.clock, verb="vault copy", source=source.url)
    try:
        result = _run(effects, _Copy(source, target, request, run), is_new=is_new)
    except BergungError as error:
        run.fail(error)
        raise
    except KeyboardInterrupt:
        run.step("end", status="interrupted")
        raise
    run.step("end", status="damaged" if result.verified.damages else "complete", points=list(result.plan.points))
    return result


def plan_copy(effects: Effects, source: Vault, request: CopyRequest) -> CopyPlan:
    """What a copy would carry; nothing is written, in neither vault."""
    store = effects.open_store(request.to)
    refuse_itself(source, store)
    target = open_second(source, request.to, effects.open_store) if is_there(store) else None
    logs, new = _compared(source, target, request)
    batch = Batch()
    for point in logs.missing:
        batch.add(point, _record(source, point))
    with TemporaryDirectory(prefix="bergung-") as lists:
        copying = Copying(effects, source, request.to, lists, "plan", request.trust_size)
        ledger = Ledger(target or source, logs.there, asks=target is not None and not request.mend)
        bring = look_batch(copying, plan_batch(copying, ledger, batch))
    return CopyPlan(new, bring, logs.slots)


def _compared(source: Vault, target: Vault | None, request: CopyRequest) -> tuple[Logs, tuple[str, ...]]:
    """The logs, and the points that are new to the copy."""
    logs = compare(source, target)
    new = tuple(point.id for point in logs.missing)
    if request.mend:
        logs.forget_there()
    return logs, new


@dataclass(frozen=True)
class _Copy:
    source: Vault
    target: Vault
    request: CopyRequest
    run: Run


def _run(effects: Effects, copy: _Copy, *, is_new: bool) -> CopyResult:
    effects.watch.step("logs")
    source, target, run = copy.source, copy.target, copy.run
    begun = begin_log(source, target)
    logs, new = _compared(source, target, copy.request)
    slots = begun + logs.slots
    copying = Copying(effects, source, target.url, target.url, run.id, copy.request.trust_size)
    ledger, brought, changed = Ledger(target, logs.there, asks=not is_new and not copy.request.mend), Brought(), set[str]()
    for batch in _batches(source, logs):
        planned = plan_batch(copying, ledger, batch)
        bring_batch(copying, planned, batch, brought)
        _refuse_stale(copy, logs, brought)
        logs.write(target, batch.points[-1][0].slot + 1)
        changed |= {entry.location for entry in planned.new}
        ledger.take(planned.new)
        ledger.asks = not copy.request.mend
    logs.write(target, logs.state.chain.next_slot)
    verify, seen = _look_through(effects, copy, logs, changed)
    plan = CopyPlan(new, brought.moved, slots)
    return CopyResult(run.id, plan, brought, seen, verify, len(logs.state.points), logs.state.head)


def _batches(source: Vault, logs: Logs) -> Iterator[Batch]:
    """Small points together; those that were forgotten when their seal was copied come first and by themselves."""
    batch = Batch()
    for point in logs.missing:
        if batch.points and (is_full(len(batch.points), batch.new) or logs.is_sealed(batch.points[-1][0]) != logs.is_sealed(point)):
            yield batch
            batch = Batch()
        batch.add(point, _record(source, point))
    if batch.points:
        yield batch


def _record(source: Vault, point: Point) -> Record | None:
    try:
        return read_record(source, point)
    except DamageFound:
        return None


def _refuse_stale(copy: _Copy, logs: Logs, brought: Brought) -> None:
    """Nothing is sealed that a prune may have taken away meanwhile, here or there (format.md R7)."""
    if copy.run.age().total_seconds() > copy.target.grace_seconds / 2:
        raise SourceChanged(f"run {copy.run.id} took longer than half the grace of the vault", AGAIN)
    if brought.lost_count and logs.has_moved_on():
        raise SourceChanged(f"files of {copy.source.url} went while it was copied: points were forgotten there", AGAIN)


def _look_through(effects: Effects, copy: _Copy, logs: Logs, changed: set[str]) -> tuple[str, Seen]:
    """As verify would, in a run of its own; what lay there before is left out."""
    before = Ledger(copy.target, logs.there, asks=False)
    before.meet(changed)
    known = Known(before.known(changed), before.numbers, before.has)
    run = begin(copy.target.store, effects.ids.new(effects.clock.now()), effects.clock, verb="verify", after=copy.run.id)
    try:
        seen = look_through(effects, copy.target, run.id, logs.missing, Depth(copy.request.share), known)
    except BergungError as error:
        run.fail(error)
        raise
    run.step("end", status="damaged" if seen.damages else "complete", files=seen.checked.files)
    return run.id, seen
