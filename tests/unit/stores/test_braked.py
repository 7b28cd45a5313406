"""Stores that take their time, measured by the clock."""

import pickle
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from bergung.model.brakes import Brakes
from bergung.stores.base import Store
from bergung.stores.braked import BrakedOpen, pace_of
from bergung.stores.memory import MemoryStore
from bergung.stores.open import open_store

SIZE = 100_000


@pytest.fixture
def url() -> str:
    store = MemoryStore(uuid.uuid4().hex)
    for number in range(10):
        store.put_if_absent(f"key/{number}", [bytes(SIZE)])
    return store.url


def seconds(store: Store, keys: range) -> float:
    began = time.perf_counter()
    for number in keys:
        assert sum(map(len, store.blocks(f"key/{number}", block_bytes=SIZE // 10))) == SIZE
    return time.perf_counter() - began


def test_bytes_wait_for_their_second(url: str) -> None:
    opened = BrakedOpen(open_store, pace_of(Brakes(bytes_per_second=SIZE * 4), workers=1))
    assert 0.9 < seconds(opened(url), range(4)) < 2


def test_workers_together_keep_to_the_whole(url: str) -> None:
    opened = BrakedOpen(open_store, pace_of(Brakes(bytes_per_second=SIZE * 4), workers=2))
    began = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda first: seconds(opened(url), range(first, first + 2)), (0, 2)))
    assert 0.9 < time.perf_counter() - began < 2


def test_requests_wait_for_theirs(url: str) -> None:
    store = BrakedOpen(open_store, pace_of(Brakes(requests_per_second=20), workers=1))(url)
    began = time.perf_counter()
    for number in range(10):
        store.head(f"key/{number}")
    assert 0.4 < time.perf_counter() - began < 1.5


def test_what_is_not_limited_does_not_wait(url: str) -> None:
    store = BrakedOpen(open_store, pace_of(Brakes(requests_per_second=1_000_000), workers=1))(url)
    assert seconds(store, range(10)) < 0.5
    assert (store.url, store.keeps_versions) == (url, False)


def test_it_travels(url: str) -> None:
    opened: BrakedOpen = pickle.loads(pickle.dumps(BrakedOpen(open_store, pace_of(Brakes(bytes_per_second=SIZE), 4))))
    assert opened(url).head("key/0").size_bytes == SIZE
    assert opened.pace.seconds_per_byte == 4 / SIZE
