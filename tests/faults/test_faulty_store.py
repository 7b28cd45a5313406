"""The wrappers of the fault tests are themselves stores, and fail exactly where they are told to."""

import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from bergung.errors import MissingObject, ObjectExists, StoreError
from bergung.stores.base import Store
from bergung.stores.local import LocalStore
from bergung.stores.memory import MemoryStore
from tests.contract.stores.contract import StoreContract
from tests.faults.counting_store import CountingStore, Counts, counting_open
from tests.faults.faulty_store import CATALOG_EFFECTS, EFFECTS, FOREVER, Crash, FaultPlan, FaultyStore, faulty_open


class TestBothAroundFilesAreStores(StoreContract):
    @pytest.fixture
    def inner(self, tmp_path: Path) -> LocalStore:
        return LocalStore(tmp_path)

    @pytest.fixture
    def store(self, inner: LocalStore) -> Store:
        return FaultyStore(CountingStore(inner, Counts()), FaultPlan())

    @pytest.fixture
    def change(self, inner: LocalStore) -> Callable[[str, bytes], None]:
        return lambda key, content: (Path(inner.root) / key).write_bytes(content) and None

    def test_7_5_the_url_opens_the_same_store(self, inner: LocalStore) -> None:
        assert faulty_open(FaultPlan(), counting_open(Counts()))(inner.url).url == inner.url


@pytest.fixture
def memory() -> MemoryStore:
    return MemoryStore(uuid.uuid4().hex)


def opened(memory: MemoryStore, plan: FaultPlan) -> Store:
    return faulty_open(plan)(memory.url)


def test_before_nothing_is_done(memory: MemoryStore) -> None:
    plan = FaultPlan()
    plan.before("put_if_absent", nth=2)
    store = opened(memory, plan)
    store.put_if_absent("1", [b"x"])
    with pytest.raises(StoreError):
        store.put_if_absent("2", [b"x"])
    store.put_if_absent("3", [b"x"])
    assert [found.key for found in memory.list("")] == ["1", "3"]
    plan.assert_all_fired()


def test_after_it_is_done_and_the_answer_is_lost(memory: MemoryStore) -> None:
    plan = FaultPlan()
    plan.after("put_if_absent")
    plan.after("delete")
    store = opened(memory, plan)
    with pytest.raises(StoreError):
        store.put_if_absent("key", [b"x"])
    with pytest.raises(ObjectExists):
        store.put_if_absent("key", [b"x"])
    with pytest.raises(StoreError):
        store.delete("key")
    with pytest.raises(MissingObject):
        store.delete("key")
    plan.assert_all_fired()


def test_for_ever_means_from_then_on(memory: MemoryStore) -> None:
    memory.put_if_absent("key", [b"x"])
    plan = FaultPlan()
    fault = plan.before("read", nth=2, times=FOREVER)
    store = opened(memory, plan)
    assert store.read("key") == b"x"
    for _ in range(3):
        with pytest.raises(StoreError):
            store.read("key")
    assert fault.fired == 3


def test_a_prefix_chooses_whose_calls_count(memory: MemoryStore) -> None:
    plan = FaultPlan()
    plan.before("put_if_absent", nth=2, prefix="log/")
    store = opened(memory, plan)
    for key in ("a", "b", "log/1", "c"):
        store.put_if_absent(key, [b"x"])
    with pytest.raises(StoreError):
        store.put_if_absent("log/2", [b"x"])


@pytest.mark.parametrize("after_bytes", [0, 1, 3, 4, 5])
def test_a_torn_write_shows_nothing(tmp_path: Path, after_bytes: int) -> None:
    plan = FaultPlan()
    plan.torn("put_if_absent", after_bytes=after_bytes, error=Crash)
    store = faulty_open(plan)(str(tmp_path))
    with pytest.raises(Crash):
        store.put_if_absent("a/key", [b"abc", b"def"])
    assert [path for path in tmp_path.rglob("*") if not path.is_dir()] == []
    plan.assert_all_fired()
    store.put_if_absent("a/key", [b"abc", b"def"])
    assert store.read("a/key") == b"abcdef"


def test_a_torn_read_gives_the_first_bytes_only(memory: MemoryStore) -> None:
    memory.put_if_absent("key", [b"abcdef"])
    plan = FaultPlan()
    plan.torn("blocks", after_bytes=3)
    taken = []
    with pytest.raises(StoreError):
        for block in opened(memory, plan).blocks("key", block_bytes=2):
            taken.append(block)
    assert b"".join(taken) == b"abc"


def test_no_handler_of_errors_swallows_a_crash(memory: MemoryStore) -> None:
    plan = FaultPlan()
    plan.before("head", error=Crash)
    with pytest.raises(Crash):
        try:
            opened(memory, plan).head("key")
        except Exception:  # noqa: BLE001
            pytest.fail("swallowed")


def test_effects_are_counted_over_all_operations_and_stores(memory: MemoryStore, tmp_path: Path) -> None:
    def work(opening: Callable[[str], Store]) -> None:
        one, two = opening(memory.url), opening(str(tmp_path))
        one.put_if_absent("a", [b"x"])
        two.put_if_absent("a", [one.read("a")])
        two.copy("a", "b")
        two.make_durable(["a", "b"])
        one.delete("a")
        two.delete("b")
        two.delete("a")

    dry = FaultPlan()
    work(faulty_open(dry))
    assert [call.operation for call in dry.effects] == [
        "put_if_absent",
        "put_if_absent",
        "copy",
        "make_durable",
        "delete",
        "delete",
        "delete",
    ]
    assert {call.operation for call in dry.effects} == set(EFFECTS) - set(CATALOG_EFFECTS) - {"copy_from", "lock"}, (
        "which these two cannot"
    )
    for nth in range(1, len(dry.effects) + 1):
        plan = FaultPlan()
        plan.before("effect", nth=nth, error=Crash)
        with pytest.raises(Crash):
            work(faulty_open(plan))
        plan.assert_all_fired()
        assert plan.effects == dry.effects[:nth]
        for store in (memory, LocalStore(tmp_path)):
            for found in [*store.list("")]:
                store.delete(found.key)


def test_a_fault_that_never_fired_fails_the_test(memory: MemoryStore) -> None:
    plan = FaultPlan()
    plan.before("read", nth=2)
    plan.torn("put_if_absent", after_bytes=100)
    store = opened(memory, plan)
    store.put_if_absent("key", [b"short"])
    store.read("key")
    with pytest.raises(AssertionError, match="never fired") as caught:
        plan.assert_all_fired()
    assert "read" in str(caught.value) and "put_if_absent" in str(caught.value)


def test_a_fault_that_could_never_fire_is_no_fault() -> None:
    with pytest.raises(ValueError, match="no such operation"):
        FaultPlan().before("put")
    with pytest.raises(ValueError, match="tear"):
        FaultPlan().torn("head")


def test_counts_by_operation_and_prefix(memory: MemoryStore) -> None:
    counts = Counts()
    store = counting_open(counts)(memory.url)
    store.put_if_absent("a/1", [b"12", b"345"])
    with pytest.raises(ObjectExists):
        store.put_if_absent("a/1", [b"6"])
    store.put_if_absent("b/1", [b"1"])
    store.read("a/1", start=1, length=2)
    next(store.blocks("a/1", block_bytes=3))
    store.make_durable(["a/1", "b/1"])
    with pytest.raises(MissingObject):
        store.read("nothing")
    assert (counts.requests("put_if_absent"), counts.bytes("put_if_absent")) == (3, 6)
    assert (counts.requests("put_if_absent", "a/"), counts.bytes("put_if_absent", "a/")) == (2, 5)
    assert (counts.requests("read"), counts.bytes("read")) == (2, 2)
    assert (counts.requests("blocks"), counts.bytes("blocks")) == (1, 3)
    assert counts.keys("make_durable") == {"a/1", "b/1"}
    assert counts.requests() == 8
    counts.clear()
    assert counts.requests() == 0
