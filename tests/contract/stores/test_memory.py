"""The store in memory, as a plain bucket."""

import uuid
from collections.abc import Callable

import pytest

from bergung.stores.memory import MemoryStore
from tests.contract.stores.contract import StoreContract


class TestMemory(StoreContract):
    @pytest.fixture
    def store(self) -> MemoryStore:
        return MemoryStore(uuid.uuid4().hex)

    @pytest.fixture
    def change(self, store: MemoryStore) -> Callable[[str, bytes], None]:
        return store.overwrite

    def test_9_1_without_versions_an_overwrite_leaves_one_version(self, store: MemoryStore) -> None:
        store.put_if_absent("key", [b"a"])
        store.overwrite("key", b"b")
        assert [store.read("key", version=one.version) for one in store.list_versions("")] == [b"b"]
