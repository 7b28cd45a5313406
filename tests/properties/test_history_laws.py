"""Which snapshot stood at an instant: whatever a table went through, no point's word is taken beyond what it can know."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from bergung.iceberg.metadata import TableMetadata, read_metadata
from bergung.iceberg.snapshots import Snapshot, SnapshotLogEntry, State
from bergung.plan.history import LATE_MS, Found, Gap, History, Span, find, worth_reading

STEP = LATE_MS + 1
"""Commits lie so far apart that none can be taken for a late one."""


@dataclass
class Life:
    """A table that commits, rolls back, stages, expires, is set back to an older metadata file, and is backed up."""

    now: int = 0
    snapshots: list[Snapshot] = field(default_factory=list)
    log: list[SnapshotLogEntry] = field(default_factory=list)
    number: int = 0
    truth: list[State] = field(default_factory=list)
    histories: list[History] = field(default_factory=list)
    files: list[tuple[list[Snapshot], list[SnapshotLogEntry], int]] = field(default_factory=list)

    def do(self, what: str, number: int) -> None:
        self.now += STEP
        getattr(self, what)(number)
        if what != "back_up":
            self.files.append((list(self.snapshots), list(self.log), self.number))
            if not self.truth or self.truth[-1].snapshot_id != self.current:
                self.truth.append(State(self.now, self.current))

    @property
    def current(self) -> int | None:
        return self.log[-1].snapshot_id if self.log else None

    def commit(self, _: int) -> None:
        self.stage(0)
        self.log.append(SnapshotLogEntry(self.now, self.snapshots[-1].snapshot_id))

    def stage(self, _: int) -> None:
        self.number += 1
        self.snapshots.append(Snapshot(self.now, self.current, self.number, self.now, "append", {}, 0, "list"))

    def roll_back(self, number: int) -> None:
        if self.snapshots:
            self.log.append(SnapshotLogEntry(self.now, self.snapshots[number % len(self.snapshots)].snapshot_id))

    def expire(self, number: int) -> None:
        """Any snapshot but the current; Iceberg's own rule for the log, or PyIceberg's."""
        old = [each.snapshot_id for each in self.snapshots if each.snapshot_id != self.current]
        gone = set(old[: number % 4])
        self.snapshots = [each for each in self.snapshots if each.snapshot_id not in gone]
        kept = [place for place, entry in enumerate(self.log) if entry.snapshot_id in gone]
        if number % 2:
            self.log = [entry for entry in self.log if entry.snapshot_id not in gone]
        else:
            self.log = self.log[max(kept, default=-1) + 1 :]

    def set_back(self, number: int) -> None:
        """The catalog's pointer goes to an older file, and no log says so."""
        if self.files:
            snapshots, log, self.number = self.files[number % len(self.files)]
            self.snapshots, self.log = list(snapshots), list(log)

    def back_up(self, number: int) -> None:
        metadata = metadata_of(self)
        span = Span(f"point {len(self.histories)}", metadata.answers(), self.now, is_whole=number % 3 > 0)
        self.histories.append(History(span, metadata.states()))

    def at(self, at_ms: int) -> int | None:
        return next((state.snapshot_id for state in reversed(self.truth) if state.since_ms <= at_ms), None)


def metadata_of(life: Life) -> TableMetadata:
    """As its metadata file is read."""
    file = {
        "format-version": 2,
        "location": "/t",
        "last-updated-ms": life.truth[-1].since_ms,
        "last-sequence-number": life.number,
        "schemas": [{"fields": []}],
        "current-snapshot-id": life.current,
        "snapshots": [
            {
                "snapshot-id": each.snapshot_id,
                "parent-snapshot-id": each.parent_id,
                "sequence-number": each.sequence_number,
                "timestamp-ms": each.timestamp_ms,
                "manifest-list": "list",
            }
            for each in life.snapshots
        ],
        "snapshot-log": [{"timestamp-ms": each.timestamp_ms, "snapshot-id": each.snapshot_id} for each in life.log],
    }
    return read_metadata(json.dumps(file).encode(), "/t/metadata/x.json")


def lives(*kinds: str) -> st.SearchStrategy[Life]:
    steps = st.lists(st.tuples(st.sampled_from(kinds), st.integers(0, 99)), max_size=25)
    return steps.map(lived)


def lived(steps: Sequence[tuple[str, int]]) -> Life:
    life = Life()
    for what, number in (("commit", 0), *steps, ("back_up", 1)):
        life.do(what, number)
    return life


PLAIN = ("commit", "commit", "stage", "roll_back", "expire", "back_up")
instants = st.integers(0, 30 * STEP)


@given(lives(*PLAIN), instants)
def test_what_is_told_was_so(life: Life, at_ms: int) -> None:
    found = find(life.histories, at_ms)
    assert isinstance(found, Gap) or found.state.snapshot_id == life.at(at_ms)


@given(lives(*PLAIN), instants)
def test_what_a_point_knows_is_told(life: Life, at_ms: int) -> None:
    able = [history for history in life.histories if history.span.holds(at_ms)]
    found = find(life.histories, at_ms)
    assert isinstance(found, Found) == bool(able)
    if isinstance(found, Found):
        (taken,) = (history for history in able if history.span.point == found.point)
        assert taken.span.is_whole or not any(history.span.is_whole for history in able)


@given(lives(*PLAIN, "set_back"))
def test_what_a_point_saw_is_told_whatever_the_log_says_later(life: Life) -> None:
    for history in life.histories:
        found = find(life.histories, history.span.until_ms)
        assert isinstance(found, Found) and found.state == history.last_seen()
        assert found.state.snapshot_id == life.at(history.span.until_ms)


@given(lives(*PLAIN, "set_back"), instants)
def test_a_pointer_set_back_between_two_points_hides_nothing_that_the_first_saw(life: Life, at_ms: int) -> None:
    """Until something new is logged nobody knows how long the first state lasted."""
    before = [history for history in life.histories if history.span.until_ms < at_ms]
    found = find(life.histories, at_ms)
    if isinstance(found, Found) and before and found.state.since_ms <= before[-1].span.until_ms:
        seen = before[-1].last_seen()
        assert seen == found.state or at_ms in [history.span.until_ms for history in life.histories]


@given(lives(*PLAIN, "set_back"), instants)
def test_neighbours_can_be_asked_for(life: Life, at_ms: int) -> None:
    gap = find(life.histories, at_ms)
    if isinstance(gap, Gap):
        assert gap.before is None or gap.before.at_ms < at_ms
        assert gap.after is None or gap.after.at_ms > at_ms
        for neighbour in filter(None, (gap.before, gap.after)):
            found = find(life.histories, neighbour.at_ms)
            assert isinstance(found, Found) and found.state.snapshot_id == neighbour.snapshot_id
        assert gap.before is not None or gap.after is not None


def few(life: Life, at_ms: int) -> list[History]:
    points = {span.point for span in worth_reading([history.span for history in life.histories], at_ms)}
    assert len(points) <= 5
    return [history for history in life.histories if history.span.point in points]


@given(lives(*PLAIN), instants)
def test_few_points_decide(life: Life, at_ms: int) -> None:
    assert find(few(life, at_ms), at_ms) == find(life.histories, at_ms)


@given(lives(*PLAIN, "set_back"), instants)
def test_few_points_decide_the_state_whatever_happened(life: Life, at_ms: int) -> None:
    one, other = find(few(life, at_ms), at_ms), find(life.histories, at_ms)
    assert one == other or (isinstance(one, Found) and isinstance(other, Found) and one.state == other.state)
