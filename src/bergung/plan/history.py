"""Which snapshot a table had at an instant, by what all points know of it.

Two clocks meet here. A state begins by the clock of the writer that committed it; a point's knowledge ends when its pointer
was read, by ours. What an earlier point saw is held against what a later one's log says: a table whose pointer was set back
(a restore does that) has a log that knows nothing of the states it left, and would tell a story that never was.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bergung.iceberg.snapshots import State

LATE_MS = 10 * 60 * 1000
"""A commit bears the time at which it began: it may be seen so much later, clocks that differ included."""


@dataclass(frozen=True)
class Span:
    """From when until when a point knows the states of a table."""

    point: str
    since_ms: int
    until_ms: int
    is_whole: bool = True
    """It has all files of the table."""

    @property
    def is_usable(self) -> bool:
        """False where the writer's clock is ahead of ours by more than all that is known."""
        return self.since_ms <= self.until_ms

    def holds(self, at_ms: int) -> bool:
        """True for an instant that it can answer for."""
        return self.since_ms <= at_ms <= self.until_ms


@dataclass(frozen=True)
class History:
    """A point's states of a table, in the order of its log."""

    span: Span
    states: tuple[State, ...]

    def at(self, at_ms: int) -> State | None:
        """As Iceberg's own readers take it: the last of the log that began by then."""
        begun = self._begun(at_ms)
        return self.states[begun - 1] if begun and self.span.holds(at_ms) else None

    def after(self, at_ms: int) -> State | None:
        """The one that followed."""
        return next(iter(self.states[self._begun(at_ms) :]), None)

    def last_seen(self) -> State | None:
        """When the pointer was read; nothing where the writer's clock is ahead."""
        return self.at(self.span.until_ms)

    def _begun(self, at_ms: int) -> int:
        """How far the log had come."""
        return max((place for place, state in enumerate(self.states, 1) if state.since_ms <= at_ms), default=0)


@dataclass(frozen=True)
class Found:
    """The state at the instant, and the point that has it."""

    point: str
    state: State
    until_ms: int | None
    """When the next began; None when nobody saw another."""


@dataclass(frozen=True)
class Neighbour:
    """A state that is known, and the instant nearest to the wanted one for which it is."""

    point: str
    snapshot_id: int | None
    at_ms: int


@dataclass(frozen=True)
class Gap:
    """No point knows the instant: what stood last before it, and first after it."""

    before: Neighbour | None
    after: Neighbour | None


def worth_reading(spans: Sequence[Span], at_ms: int) -> list[Span]:
    """The few that decide: the last before, the first two that hold it and the first whole one of these, the next."""
    usable = sorted((span for span in spans if span.is_usable), key=lambda span: span.until_ms)
    before = [span for span in usable if span.until_ms < at_ms]
    able = [span for span in usable if span.holds(at_ms)]
    whole = [span for span in able if span.is_whole]
    after = sorted((span for span in usable if span.since_ms > at_ms), key=lambda span: span.since_ms)
    return list(dict.fromkeys((*before[-1:], *able[:2], *whole[:1], *after[:1])))


def find(histories: Sequence[History], at_ms: int) -> Found | Gap:
    """The first point after the instant decides, unless the next one has a commit before it that came late."""
    ordered = sorted(histories, key=lambda history: history.span.until_ms)
    before = next((history for history in reversed(ordered) if history.span.until_ms < at_ms), None)
    able = [history for history in ordered if history.at(at_ms) and _is_believed(before, history, at_ms)]
    if not able:
        return _gap(ordered, before, at_ms)
    told = able[0]
    if len(able) > 1 and _goes_on(told, able[1]):
        told = able[1]
    state = told.at(at_ms)
    assert state is not None
    alike = [history for history in able if history.at(at_ms) == state]
    best = next((history for history in alike if history.span.is_whole), alike[0])
    later = told.after(at_ms)
    return Found(best.span.point, state, later.since_ms if later else None)


def _is_believed(before: History | None, history: History, at_ms: int) -> bool:
    """A state that should have stood when an earlier point looked must be what that point saw."""
    state = history.at(at_ms)
    if before is None or state is None or state.since_ms > before.span.until_ms or at_ms == history.span.until_ms:
        return True
    return _goes_on(before, history)


def _goes_on(earlier: History, later: History) -> bool:
    """What the earlier one saw last stands in the later one's log, and what follows there by then came late."""
    seen, end = earlier.last_seen(), earlier.span.until_ms
    if seen is None:
        return True
    if seen in later.states:
        added = later.states[len(later.states) - later.states[::-1].index(seen) :]
    elif later.states[0].since_ms > seen.since_ms:
        added = later.states
    else:
        return False
    return all(end - LATE_MS <= state.since_ms for state in added)


def joined(one: Gap, other: Gap) -> Gap:
    """The nearest of both on each side."""
    before = sorted(filter(None, (one.before, other.before)), key=lambda found: -found.at_ms)
    after = sorted(filter(None, (one.after, other.after)), key=lambda found: found.at_ms)
    return Gap(next(iter(before), None), next(iter(after), None))


def _gap(ordered: Sequence[History], before: History | None, at_ms: int) -> Gap:
    following = sorted(filter(None, (_following(history, at_ms) for history in ordered)), key=lambda found: found.at_ms)
    seen = before and before.last_seen()
    last = Neighbour(before.span.point, seen.snapshot_id, before.span.until_ms) if before and seen else None
    return Gap(last, following[0] if following else None)


def _following(history: History, at_ms: int) -> Neighbour | None:
    """The first that it surely knows after the instant; when nothing began, what it saw itself."""
    end = history.span.until_ms
    state, seen = history.after(at_ms), history.last_seen()
    if state is not None and state.since_ms <= end:
        return Neighbour(history.span.point, state.snapshot_id, state.since_ms)
    return Neighbour(history.span.point, seen.snapshot_id, end) if seen is not None and end > at_ms else None
