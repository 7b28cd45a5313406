"""A store around a real one that fails where a test says so, and only there.

    plan = FaultPlan()
    plan.before("put_if_absent", nth=3)                       # the third write is not done, once
    plan.after("put_if_absent", nth=1, prefix="log/")         # the first write below log/ is done, its answer lost
    plan.before("read", nth=2, times=FOREVER)                 # from the second read on, nothing is read any more
    plan.torn("put_if_absent", nth=1, after_bytes=1000)       # the blocks break off
    plan.before("effect", nth=7, error=Crash)                 # stop the program at its seventh change of any store
    …run with open_store=faulty_open(plan)…
    plan.assert_all_fired()

A dry run with an empty plan gives `plan.effects`; then "stop at effect n" for every n is
`for n in range(1, len(plan.effects) + 1)`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import NamedTuple

from bergung.errors import StoreError
from bergung.stores.base import BLOCK_BYTES, Copied, Opened, OpenStore, Stat, Store, Version
from bergung.stores.open import open_store
from bergung.stores.streaming import stream

FOREVER = 1 << 62
EFFECT, ANY = "effect", "any"
CATALOG_EFFECTS = ("register", "replace", "create_namespace")
EFFECTS = ("put_if_absent", "copy", "copy_from", "delete", "lock", "make_durable", *CATALOG_EFFECTS)
OPERATIONS = (*EFFECTS, "head", "read", "blocks", "list", "folders", "list_versions", "locked_until")
STREAMS = ("put_if_absent", "blocks")

MakeError = Callable[[], BaseException]


class Crash(BaseException):
    """The program ends here: nothing that handles errors may handle this."""


def broken() -> BaseException:
    """What a store says when it fails without a known reason."""
    return StoreError("the store failed, as this test wants", "nothing to do")


class Call(NamedTuple):
    """One call of the seam."""

    operation: str
    key: str


@dataclass
class Fault:
    """What goes wrong from the nth matching call on, so many times."""

    operation: str
    moment: str
    nth: int
    error: MakeError
    times: int
    prefix: str
    after_bytes: int = 0
    seen: int = 0
    fired: int = 0

    def strikes(self, call: Call) -> bool:
        """Count the call when it matches; whether it is one that goes wrong."""
        if not call.key.startswith(self.prefix) or not self._is_of(call.operation):
            return False
        self.seen += 1
        return self.nth <= self.seen < self.nth + self.times

    def _is_of(self, operation: str) -> bool:
        return self.operation in (ANY, operation) or (self.operation == EFFECT and operation in EFFECTS)


@dataclass
class FaultPlan:
    """The faults of one test and the calls that were made, over all stores opened with it and all threads."""

    faults: list[Fault] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    _guard: Lock = field(default_factory=Lock)

    @property
    def effects(self) -> list[Call]:
        """The calls that change a store, in their order, with those that were made to fail."""
        return [call for call in self.calls if call.operation in EFFECTS]

    def before(self, operation: str, nth: int = 1, *, error: MakeError = broken, times: int = 1, prefix: str = "") -> Fault:
        """The call is not carried out."""
        return self._add(Fault(operation, "before", nth, error, times, prefix))

    def after(self, operation: str, nth: int = 1, *, error: MakeError = broken, times: int = 1, prefix: str = "") -> Fault:
        """The call is carried out and its answer is lost."""
        return self._add(Fault(operation, "after", nth, error, times, prefix))

    def torn(self, operation: str, nth: int = 1, *, after_bytes: int = 0, error: MakeError = broken, prefix: str = "") -> Fault:
        """The blocks written or read break off after so many bytes; an object that is no longer is not torn."""
        if operation not in STREAMS:
            raise ValueError(f"only {STREAMS} have blocks to tear, not {operation!r}")
        return self._add(Fault(operation, "torn", nth, error, 1, prefix, after_bytes))

    def assert_all_fired(self) -> None:
        """A fault that never happened proves nothing."""
        asleep = [fault for fault in self.faults if fault.fired == 0]
        assert not asleep, f"declared and never fired: {asleep}; calls: {len(self.calls)}, effects: {len(self.effects)}"

    def begin(self, operation: str, key: str) -> "Struck":
        """Note a call; raises when it is not to be carried out, else says how it will end."""
        with self._guard:
            call = Call(operation, key)
            self.calls.append(call)
            struck = Struck([fault for fault in self.faults if fault.strikes(call)])
        struck.fire("before")
        return struck

    def _add(self, fault: Fault) -> Fault:
        if fault.operation not in (*OPERATIONS, EFFECT, ANY):
            raise ValueError(f"no such operation: {fault.operation!r}")
        self.faults.append(fault)
        return fault


@dataclass(frozen=True)
class Struck:
    """The faults of one call that is under way."""

    faults: list[Fault]

    def fire(self, moment: str) -> None:
        """Raise the first fault of that moment, if there is one."""
        for fault in self.faults:
            if fault.moment == moment:
                fault.fired += 1
                raise fault.error()

    def tear(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The blocks, cut within a block where a fault says so."""
        torn = next((fault for fault in self.faults if fault.moment == "torn"), None)
        if torn is None:
            yield from blocks
            return
        left = torn.after_bytes
        for block in blocks:
            if len(block) > left:
                yield block[:left]
                self.fire("torn")
            left -= len(block)
            yield block

    def passed(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """What is read: torn, or its end lost, where a fault says so."""
        yield from self.tear(blocks)
        self.fire("after")


class FaultyStore:
    """Does what the inner store does, except where the plan strikes."""

    def __init__(self, inner: Store, plan: FaultPlan) -> None:
        self.url = inner.url
        self.keeps_versions = inner.keeps_versions
        self.can_lock = inner.can_lock
        self.inner = inner
        self._plan = plan

    def head(self, key: str) -> Stat:
        struck = self._plan.begin("head", key)
        found = self.inner.head(key)
        struck.fire("after")
        return found

    def read(self, key: str, *, start: int = 0, length: int | None = None, version: str | None = None) -> bytes:
        struck = self._plan.begin("read", key)
        content = self.inner.read(key, start=start, length=length, version=version)
        struck.fire("after")
        return content

    def blocks(self, key: str, *, version: str | None = None, block_bytes: int = BLOCK_BYTES) -> Iterator[bytes]:
        struck = self._plan.begin("blocks", key)
        yield from struck.passed(self.inner.blocks(key, version=version, block_bytes=block_bytes))

    def open(self, key: str) -> Opened:
        # Struck as blocks are: that the first of them comes with the facts is the store's own business.
        struck = self._plan.begin("blocks", key)
        opened = self.inner.open(key)
        return Opened(opened.stat, struck.passed(opened.blocks))

    def put_if_absent(self, key: str, blocks: Iterable[bytes]) -> Stat:
        struck = self._plan.begin("put_if_absent", key)
        written = self.inner.put_if_absent(key, struck.tear(blocks))
        struck.fire("after")
        return written

    def list(self, prefix: str) -> Iterator[Stat]:
        struck = self._plan.begin("list", prefix)
        yield from self.inner.list(prefix)
        struck.fire("after")

    def folders(self, prefix: str) -> Iterator[str]:
        struck = self._plan.begin("folders", prefix)
        yield from self.inner.folders(prefix)
        struck.fire("after")

    def list_versions(self, prefix: str) -> Iterator[Version]:
        struck = self._plan.begin("list_versions", prefix)
        yield from self.inner.list_versions(prefix)
        struck.fire("after")

    def copy(self, source_key: str, key: str) -> Stat:
        struck = self._plan.begin("copy", key)
        written = self.inner.copy(source_key, key)
        struck.fire("after")
        return written

    def copies_from(self, source: Store, size_bytes: int | None = None) -> bool:
        return self.inner.copies_from(unwrapped(source), size_bytes)

    def copy_from(
        self, source: Store, source_key: str, key: str, *, version: str | Stat | None = None, digest: str | None = None
    ) -> Copied:
        if not self.copies_from(source):
            # Through this seam, so that its blocks can be torn.
            return stream((source, source_key, version), (self, key), digest)
        struck = self._plan.begin("copy_from", key)
        copied = self.inner.copy_from(unwrapped(source), source_key, key, version=version, digest=digest)
        struck.fire("after")
        return copied

    def lock(self, key: str, version: str, until: datetime) -> None:
        struck = self._plan.begin("lock", key)
        self.inner.lock(key, version, until)
        struck.fire("after")

    def locked_until(self, key: str, version: str) -> datetime | None:
        struck = self._plan.begin("locked_until", key)
        until = self.inner.locked_until(key, version)
        struck.fire("after")
        return until

    def delete(self, key: str, *, version: str | None = None) -> None:
        struck = self._plan.begin("delete", key)
        self.inner.delete(key, version=version)
        struck.fire("after")

    def make_durable(self, keys: Iterable[str]) -> None:
        struck = self._plan.begin("make_durable", "")
        self.inner.make_durable(keys)
        struck.fire("after")


def unwrapped(store: Store) -> Store:
    """The real one below any wrapper: only stores of one kind can copy among themselves."""
    inner = getattr(store, "inner", None)
    return store if inner is None else unwrapped(inner)


def faulty_open(plan: FaultPlan, inner: OpenStore = open_store) -> OpenStore:
    """Opens real stores that fail as the plan says."""
    return lambda url, access=(): FaultyStore(inner(url, access), plan)
