"""The store in memory, as a bucket that locks what is written."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from bergung.errors import MissingObject, NotAllowed
from bergung.stores.base import Store
from bergung.stores.memory import MemoryStore
from bergung.stores.probe import probe
from tests.contract.stores.contract import StoreContract
from tests.contract.stores.versions import VersionsContract


class HandClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.moment = datetime(2030, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return self.moment.timestamp()


class TestMemoryLocked(StoreContract, VersionsContract):
    @pytest.fixture
    def store(self) -> MemoryStore:
        return MemoryStore(uuid.uuid4().hex, lock_for=timedelta(days=30))

    @pytest.fixture
    def other(self, store: MemoryStore) -> MemoryStore:
        return store

    @pytest.fixture
    def change(self, store: MemoryStore) -> Callable[[str, bytes], None]:
        return store.overwrite

    def test_7_3_a_deletion_by_version_takes_that_version(self, store: MemoryStore) -> None:
        put = store.put_if_absent("key", [b"x"])
        with pytest.raises(NotAllowed):
            store.delete("key", version=put.version)
        assert store.read("key") == b"x"

    def only_the_marker_is_left(self, store: Store, version: str, marker: str) -> None:
        with pytest.raises(NotAllowed):
            store.delete("key", version=version)

    def test_10_1_a_lock_ends_when_its_time_is_over(self) -> None:
        clock = HandClock()
        store = MemoryStore(uuid.uuid4().hex, lock_for=timedelta(days=30), clock=clock)
        put = store.put_if_absent("key", [b"x"])
        clock.moment += timedelta(days=30) - timedelta(microseconds=1)
        with pytest.raises(NotAllowed):
            store.delete("key", version=put.version)
        clock.moment += timedelta(microseconds=1)
        store.delete("key", version=put.version)
        with pytest.raises(MissingObject):
            store.head("key")

    def test_10_2_a_lock_is_made_longer_and_never_shorter(self) -> None:
        clock = HandClock()
        store = MemoryStore(uuid.uuid4().hex, versioned=True, clock=clock)
        put = store.put_if_absent("key", [b"x"])
        store.lock("key", put.version, clock.moment + timedelta(days=1))
        store.lock("key", put.version, clock.moment + timedelta(days=5))
        with pytest.raises(NotAllowed):
            store.lock("key", put.version, clock.moment + timedelta(days=4))
        clock.moment += timedelta(days=4)
        with pytest.raises(NotAllowed):
            store.delete("key", version=put.version)

    def test_10_3_overwritten_and_hidden_the_locked_version_lives_on(self, store: MemoryStore) -> None:
        put = store.put_if_absent("key", [b"x"])
        store.overwrite("key", b"y")
        store.delete("key")
        marker = list(store.list_versions("key"))[-1]
        store.delete("key", version=marker.version)
        for version in store.list_versions("key"):
            with pytest.raises(NotAllowed):
                store.delete("key", version=version.version)
        assert store.read("key", version=put.version) == b"x"

    def test_10_4_the_probe_passes_and_leaves_only_what_it_must(self, store: MemoryStore) -> None:
        probe(store)
        assert list(store.list("")) == []
        assert {version.key[:14] for version in store.list_versions("")} == {"bergung-probe-"}
