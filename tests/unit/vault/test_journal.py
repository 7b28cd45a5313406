"""The journal: what every run did, told by itself, whatever others leave among it (format.md R6)."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from bergung.clock import SystemClock
from bergung.errors import Interrupted, ObjectExists, StoreError, UsageError
from bergung.stores.memory import MemoryStore
from bergung.vault import journal
from tests.faults.faulty_store import FaultPlan, FaultyStore


class Ticking(SystemClock):
    """A second passes with every look."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment


@pytest.fixture
def clock() -> Ticking:
    return Ticking()


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(uuid.uuid4().hex, versioned=True)


def test_a_run_tells_what_it_did_in_the_order_of_time(store: MemoryStore, clock: Ticking) -> None:
    run = journal.begin(store, "r1", clock, verb="backup", words=["lake"])
    run.step("surveyed", tables=2)
    run.step("located")
    assert [name for name, _ in journal.documents(store, "r1")] == ["start", "surveyed", "located"]
    assert journal.read_run(store, "r1").status == "not ended"
    run.step("end", status="complete")
    facts = journal.read_run(store, "r1")
    assert (facts.verb, facts.status, facts.steps) == ("backup", "complete", ("start", "surveyed", "located", "end"))
    assert (facts.started_at, facts.ended_at) == ("2026-01-01T00:00:01.000000Z", "2026-01-01T00:00:04.000000Z")


def test_its_intent_is_durable_before_anything_else(store: MemoryStore, clock: Ticking) -> None:
    plan = FaultPlan()
    journal.begin(FaultyStore(store, plan), "r1", clock, verb="backup")
    assert [call.operation for call in plan.calls] == ["put_if_absent", "make_durable"]
    assert plan.calls[0].key == "runs/r1/start.json"


def test_a_name_is_used_once(store: MemoryStore, clock: Ticking) -> None:
    run = journal.begin(store, "r1", clock, verb="backup")
    with pytest.raises(ObjectExists):
        run.step("start")
    with pytest.raises(ObjectExists):
        journal.begin(store, "r1", clock, verb="restore")
    assert journal.read_run(store, "r1").verb == "backup"


def test_how_old_it_is(store: MemoryStore, clock: Ticking) -> None:
    run = journal.begin(store, "r1", clock, verb="backup")
    clock.moment += timedelta(hours=1)
    assert run.age() > timedelta(hours=1)


@pytest.mark.parametrize(("error", "status"), [(Interrupted("stopped"), "interrupted"), (StoreError("no"), "failed")])
def test_how_it_failed(store: MemoryStore, clock: Ticking, error: StoreError | Interrupted, status: str) -> None:
    journal.begin(store, "r1", clock, verb="backup").fail(error)
    assert journal.read_run(store, "r1").status == status
    assert dict(journal.documents(store, "r1"))["end"]["error"] == error.message


def test_where_nothing_can_be_written_any_more_the_first_error_is_what_counts(store: MemoryStore, clock: Ticking) -> None:
    plan = FaultPlan()
    run = journal.begin(FaultyStore(store, plan), "r1", clock, verb="backup")
    plan.before("put_if_absent")
    run.fail(StoreError("the cause"))
    plan.assert_all_fired()
    assert journal.read_run(store, "r1").status == "not ended"


def test_somebody_asks_it_to_stop(store: MemoryStore, clock: Ticking) -> None:
    run = journal.begin(store, "r1", clock, verb="backup")
    assert not run.is_cancelled()
    journal.ask_to_cancel(store, "r1", clock)
    journal.ask_to_cancel(store, "r1", clock)
    assert (run.is_cancelled(), journal.read_run(store, "r1").status) == (True, "cancelled")
    run.step("end", status="interrupted")
    with pytest.raises(UsageError, match="has ended: interrupted"):
        journal.ask_to_cancel(store, "r1", clock)
    with pytest.raises(UsageError, match="no run 'r9'"):
        journal.ask_to_cancel(store, "r9", clock)


def test_runs_are_listed_newest_first_and_their_news_told_once(store: MemoryStore, clock: Ticking) -> None:
    first, second = (journal.begin(store, run, clock, verb="backup") for run in ("20260101-b", "20260102-a"))
    assert [run.id for run in journal.runs(store)] == ["20260102-a", "20260101-b"]
    seen: set[str] = set()
    assert [(run, step) for run, step, _ in journal.news(store, seen)] == [("20260101-b", "start"), ("20260102-a", "start")]
    second.step("located", tables=3)
    first.step("end", status="complete")
    told = [(run, step, facts.get("tables")) for run, step, facts in journal.news(store, seen)]
    assert told == [("20260102-a", "located", 3), ("20260101-b", "end", None)]
    assert journal.news(store, seen) == []


@pytest.mark.parametrize(
    "junk", [b"", b"junk", b"[]", b"{}", b'{"at": 5}', b'{"at": "yesterday"}', b'{"at": "2026-01-01T00:00:00"}']
)
def test_junk_of_others_hides_and_stops_nothing(store: MemoryStore, clock: Ticking, junk: bytes) -> None:
    run = journal.begin(store, "r1", clock, verb="backup")
    for key in ("runs/r1/note.json", "runs/r2/start.json", "runs/r3/tasks/x.parquet", "runs/note.json"):
        store.overwrite(key, junk)
    run.step("end", status="complete")
    assert [(found.id, found.status) for found in journal.runs(store)] == [("r1", "complete")]
    assert [step for _, step, _ in journal.news(store, set())] == ["start", "end"]


def test_what_was_there_first_counts(store: MemoryStore, clock: Ticking) -> None:
    journal.begin(store, "r1", clock, verb="backup").step("end", status="complete")
    store.overwrite("runs/r1/end.json", b'{"at": "2026-01-01T00:00:00Z", "status": "failed"}')
    store.put_marker("runs/r1/start.json")
    assert [(run.verb, run.status) for run in journal.runs(store)] == [("backup", "complete")]
