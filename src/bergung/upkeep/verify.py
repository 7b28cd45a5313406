"""Is everything that the sealed points need there, and is it what it was."""

from collections.abc import Iterator
from dataclasses import dataclass

from bergung.carry.effects import Effects
from bergung.errors import BergungError, DamageFound, Refused
from bergung.model.record import Count
from bergung.stores.digest import read_verified
from bergung.upkeep.damage import Damage
from bergung.upkeep.looking import Depth, look_through
from bergung.upkeep.tampering import Tampered, tampered, tampered_of
from bergung.vault.journal import Run, begin
from bergung.vault.layout import VAULT_DOCUMENT
from bergung.vault.vault import State, Vault, read_record, read_state

NAMED = 1000
"""So many tries are named; all are counted."""


@dataclass(frozen=True)
class VerifyRequest:
    """The words of the command: one point or all, and how much of the data is read."""

    point: str | None = None
    share: float = 1.0
    budget_bytes: int | None = None
    expect_head: str | None = None


@dataclass(frozen=True)
class VerifyResult:
    """What was looked at, and what is wrong."""

    run: str
    points: int
    checked: Count
    """Files that are there with the length that the receipts name."""
    read: Count
    """Those of them whose bytes were read and have their digest."""
    damages: tuple[Damage, ...]
    damaged_count: int
    void_slots: tuple[int, ...]
    head: str
    tampered: tuple[Tampered, ...]
    """What others tried, the first of it; what it harmed is among the damages."""
    tampered_count: int


def run_verify(effects: Effects, vault: Vault, request: VerifyRequest) -> VerifyResult:
    """Log, records, receipts, blobs, in the order in which a restore would need them."""
    run = begin(vault.store, effects.ids.new(effects.clock.now()), effects.clock, verb="verify", point=request.point)
    try:
        result = _run(effects, vault, request, run)
    except BergungError as error:
        run.fail(error)
        raise
    except KeyboardInterrupt:
        run.step("end", status="interrupted")
        raise
    run.step("end", status="damaged" if result.damages else "complete", files=result.checked.files)
    return result


def _run(effects: Effects, vault: Vault, request: VerifyRequest, run: Run) -> VerifyResult:
    state = read_state(vault)
    _expect(state, request.expect_head)
    points = [state.find(request.point)] if request.point else list(state.points)
    words = _first_words(vault, state)
    seen = look_through(effects, vault, run.id, points, Depth(request.share, request.budget_bytes))
    tries, count = _tries(vault, state, request)
    return VerifyResult(
        run=run.id,
        points=len(points),
        checked=seen.checked,
        read=seen.read,
        damages=(*words, *seen.damages),
        damaged_count=len(words) + seen.damaged_count,
        void_slots=state.chain.void,
        head=state.head,
        tampered=tries,
        tampered_count=count,
    )


def _tries(vault: Vault, state: State, request: VerifyRequest) -> tuple[tuple[Tampered, ...], int]:
    named, count = [], 0
    for each in _found(vault, state, request.point):
        count += 1
        if count <= NAMED:
            named.append(each)
    return tuple(named), count


def _found(vault: Vault, state: State, word: str | None) -> Iterator[Tampered]:
    if word is None:
        return tampered(vault)
    point = state.find(word)
    try:
        folders = {entry.location for entry in read_record(vault, point).tables.values()}
    except DamageFound:
        # It is named among the damages; without it nobody knows the folders.
        folders = set()
    return tampered_of(vault, point, folders)


def _expect(state: State, head: str | None) -> None:
    if head is not None and all(entry.digest != head for entry in state.chain.entries):
        raise DamageFound(f"the log does not hold {head}: its end was cut off or another log was put in its place",
                          "compare with a copy of the vault; do not forget or prune anything")  # fmt: skip


def _first_words(vault: Vault, state: State) -> list[Damage]:
    """vault.json has no parent but the first slot, which names its digest (format.md L1)."""
    first = state.chain.entries[0]
    try:
        read_verified(vault.store, VAULT_DOCUMENT, str(first.body.get("vault")))
    except (DamageFound, Refused) as error:
        return [Damage(VAULT_DOCUMENT, error.message, (), (), ())]
    return []
