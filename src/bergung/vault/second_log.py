"""The logs of a vault and of its copy: compared, and written on slot by slot, byte for byte."""

from dataclasses import dataclass, field

from bergung.errors import Refused
from bergung.vault import checkpoints
from bergung.vault.layout import ADMIN_LOG, LOG, slot_key
from bergung.vault.log import Chain, Entry, read_chain
from bergung.vault.second import ELSEWHERE, oldest, put_same
from bergung.vault.vault import Point, State, Vault, read_state


def begin_log(source: Vault, target: Vault) -> int:
    """The slots up to the first that is valid, which is the init, and how many that were; after it the copy is a vault."""
    if any(target.store.list_versions(LOG)):
        return 0
    chain = read_chain(source.store, LOG)
    slots = range(chain.entries[0].slot + 1)
    _extend(source, target, (LOG, chain), slots)
    return len(slots)


@dataclass
class Logs:
    """What the copy's logs lack; `position` is how far they are now."""

    source: Vault
    state: State
    there: tuple[Point, ...] = ()
    """Points that the copy had when the logs were compared."""
    sealed_until: int = 0
    position: dict[str, int] = field(default_factory=dict)

    @property
    def missing(self) -> list[Point]:
        """The points that are kept and that the copy has not, oldest first."""
        known = {point.id for point in self.there}
        return [point for point in self.state.points if point.id not in known]

    def forget_there(self) -> None:
        """As if the copy had no point: all are missing, though their slots are not."""
        self.there = ()

    @property
    def slots(self) -> int:
        """How many slots are still to be written."""
        return sum(chain.next_slot - self.position.get(log, 0) for log, chain in self._chains())

    def is_sealed(self, point: Point) -> bool:
        """Whether the copy has the seal already: the point was forgotten when that came, and is not any more."""
        return point.slot < self.sealed_until

    def has_moved_on(self) -> bool:
        """Whether an operator wrote something into the vault since."""
        return read_chain(self.source.store, ADMIN_LOG, self.state.admin).next_slot > self.state.admin.next_slot

    def write(self, target: Vault, until: int) -> None:
        """The log up to that slot, whose points lie there whole; before it all that an operator wrote.

        So a point that was forgotten is never seen without its forgetting, and one that is kept again not before it is whole.
        """
        if until >= self.sealed_until:
            self._write(target, ADMIN_LOG, self.state.admin, self.state.admin.next_slot)
            self._write(target, LOG, self.state.chain, until)

    def _write(self, target: Vault, log: str, chain: Chain, until: int) -> None:
        _extend(self.source, target, (log, chain), range(self.position.get(log, 0), until))
        self.position[log] = max(until, self.position.get(log, 0))

    def _chains(self) -> tuple[tuple[str, Chain], ...]:
        return (LOG, self.state.chain), (ADMIN_LOG, self.state.admin)


def compare(source: Vault, target: Vault | None) -> Logs:
    """Refused when the copy has what the vault has not. The copy is read first: the vault has only more since then."""
    if target is None or not any(target.store.list_versions(LOG)):
        return Logs(source, read_state(source))
    there, state = read_state(target), read_state(source)
    refuse_fork((source.url, state.chain), (target.url, there.chain))
    refuse_fork((source.url, state.admin), (target.url, there.admin))
    position = {LOG: there.chain.next_slot, ADMIN_LOG: there.admin.next_slot}
    return Logs(source, state, there.points, there.chain.next_slot, position)


def _extend(source: Vault, target: Vault, log: tuple[str, Chain], slots: range) -> None:
    """Slot by slot: who reads meanwhile, or after a power cut, sees a beginning of the log and no hole (format.md L7)."""
    name, chain = log
    entries = {entry.slot: entry for entry in chain.entries}
    for slot in slots:
        entry, key = entries.get(slot), slot_key(name, slot)
        # A void slot that is gone is as void when it is empty.
        put_same(target.store, key, oldest(source.store, key) if entry is None else entry.text)
        target.store.make_durable([key])
        if entry is not None and slot % checkpoints.SLOTS == 0:
            checkpoints.write_due(target.store, name, [each for each in chain.entries if each.slot <= slot])


def refuse_fork(source: tuple[str, Chain], target: tuple[str, Chain]) -> None:
    """Refused when the copy's log is not a beginning of the vault's."""
    (url, chain), (copy_url, copy) = source, target
    own, other = ({entry.slot: entry for entry in each.entries} for each in (chain, copy))
    for slot in range(min(chain.next_slot, copy.next_slot)):
        mine, theirs = own.get(slot), other.get(slot)
        if (mine and mine.digest) != (theirs and theirs.digest):
            fact = f"{url} and {copy_url} went apart at slot {slot}: {_told(mine)} here, {_told(theirs)} there"
            raise Refused(fact, f"keep both, each has what the other has not; {ELSEWHERE}")
    if copy.next_slot > chain.next_slot:
        beyond = (_told(other[slot]) for slot in range(chain.next_slot, copy.next_slot) if slot in other)
        fact = f"{copy_url} has what {url} has not: {next(beyond, 'a void slot')}"
        hint = f"if {url} was put back, or {copy_url} is the vault now: bergung vault copy {url} --vault {copy_url}"
        raise Refused(fact, hint)


def _told(entry: Entry | None) -> str:
    if entry is None:
        return "a void slot"
    if entry.kind == "seal":
        return f"point {entry.body['point']}, sealed at {entry.body['at']}"
    return f"an entry {entry.kind!r} of {entry.body.get('at')}"
