"""Working lists that stay at hand: as the store has them, within their room, and in one process only."""

import pickle
import uuid

import pyarrow as pa
import pytest

from bergung.carry.at_hand import AtHand
from bergung.carry.job import Job, lend_part, read_part, write_named_part
from bergung.stores.memory import MemoryStore
from bergung.vault.layout import run_key
from tests.faults.counting_store import Counts, counting_open

ROWS, OTHERS = (pa.table({"path": pa.array([name], pa.string())}) for name in ("ours", "others"))


@pytest.fixture
def counts() -> Counts:
    return Counts()


@pytest.fixture
def job(counts: Counts) -> Job:
    return Job(MemoryStore(uuid.uuid4().hex).url, "run", {}, open=counting_open(counts))


def test_what_was_written_is_not_asked_for(job: Job, counts: Counts) -> None:
    write_named_part(job, "list", ROWS)
    assert read_part(job, "list").equals(ROWS)
    assert (counts.requests("put_if_absent"), counts.requests("read")) == (1, 0)


def test_what_another_try_wrote_counts(job: Job, counts: Counts) -> None:
    write_named_part(Job(job.vault_url, "run", {}), "list", OTHERS)
    write_named_part(job, "list", ROWS)
    assert read_part(job, "list").equals(OTHERS)
    assert counts.keys("read") == {run_key("run", "list")}


def test_other_processes_ask_the_store(job: Job) -> None:
    write_named_part(job, "list", ROWS)
    lend_part(job, "lent", ROWS)
    there = pickle.loads(pickle.dumps(Job(job.vault_url, "run", {}, at_hand=job.at_hand)))
    assert there.at_hand.get("list") is None and there.at_hand.get("lent") is None


def test_what_is_lent_is_stored_where_there_is_no_room(job: Job, counts: Counts) -> None:
    lend_part(job, "lent", ROWS)
    assert counts.requests("put_if_absent") == 0 and read_part(job, "lent").equals(ROWS)
    full = Job(job.vault_url, "run", {}, open=job.open, at_hand=AtHand(10))
    lend_part(full, "stored", OTHERS)
    assert counts.keys("put_if_absent") == {run_key("run", "stored")} and read_part(full, "stored").equals(OTHERS)


def test_there_is_room_for_so_much() -> None:
    kept = AtHand(10)
    assert kept.put("a", b"12345") and kept.put("b", b"12345")
    assert kept.put("a", b"12345"), "it is there already"
    assert not kept.put("c", b"x") and kept.get("c") is None
