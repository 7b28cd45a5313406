"""The store in memory, as a bucket with versions."""

import uuid
from collections.abc import Callable

import pytest

from bergung.stores.memory import MemoryStore
from tests.contract.stores.contract import StoreContract
from tests.contract.stores.versions import VersionsContract


class TestMemoryVersioned(StoreContract, VersionsContract):
    @pytest.fixture
    def store(self) -> MemoryStore:
        return MemoryStore(uuid.uuid4().hex, versioned=True)

    @pytest.fixture
    def other(self, store: MemoryStore) -> MemoryStore:
        return store

    @pytest.fixture
    def change(self, store: MemoryStore) -> Callable[[str, bytes], None]:
        return store.overwrite
