"""Uploads in parts that do not come to their end: an error takes them away; a crash leaves them, and they harm nothing."""

import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from bergung.errors import BergungError
from bergung.stores.access import Access
from bergung.stores.memory import MemoryStore
from bergung.stores.s3.multipart import PART_BYTES
from bergung.stores.s3.store import S3Store
from bergung.stores.s3.writing import WHOLE_BYTES
from tests.faults.buckets import Buckets, BucketStore
from tests.faults.faulty_store import Crash, FaultPlan, MakeError, broken, faulty_open
from tests.faults.lake import Lake, Shared, bytes_of, contents
from tests.servers.s3 import S3Server
from tests.synthetic import SyntheticTable

LARGE_BYTES = WHOLE_BYTES + 16
LARGE = "-large.parquet"


class FromMemory(Buckets):
    """Where the store cannot copy by itself what it is given: bytes come in parts."""

    def make(self, part: str) -> Shared:
        return MemoryStore(f"{self.own['source'].name}-source") if part == "source" else super().make(part)


@pytest.fixture(params=["versitygw_server", pytest.param("minio_server", marks=pytest.mark.nightly)])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Lake:
    server: S3Server = request.getfixturevalue(request.param)
    return Lake(tmp_path, places=FromMemory(server))


@pytest.fixture
def orders(lake: Lake) -> SyntheticTable:
    """With one large file that is not backed up yet."""
    orders = lake.table("orders")
    orders.append(1)
    lake.publish(orders)
    lake.backup()
    path, size = orders.files.write("data/large.parquet", b"12345678" * (LARGE_BYTES // 8))
    orders.add_files([{"file_path": path, "file_size_in_bytes": size}])
    lake.publish(orders)
    return orders


@pytest.mark.parametrize("error", [broken, Crash, KeyboardInterrupt])
def test_what_breaks_off_is_taken_away(lake: Lake, orders: SyntheticTable, error: MakeError) -> None:
    assert isinstance(lake.parts, Buckets)
    plan = FaultPlan()
    key = next(path for path in orders.reached if path.endswith(LARGE))
    plan.torn("blocks", after_bytes=WHOLE_BYTES + 1, prefix=lake.key(key), error=error)
    try:
        assert lake.backup(open_=faulty_open(plan, lake.open_store)).record.backup_metadata.status == "partial"
    except (BergungError, Crash, KeyboardInterrupt):
        pass
    plan.assert_all_fired()
    assert lake.parts.unfinished() == []
    assert not any(stat.key.endswith(LARGE) for stat in lake.store.list("tables/"))
    _next_is_whole(lake, orders)


def test_what_a_killed_process_leaves_harms_nothing(lake: Lake, orders: SyntheticTable) -> None:
    """It stays until the bucket's own rule takes it away (docs/facts.md), and the key is as free as before."""
    assert isinstance(lake.parts, Buckets) and isinstance(lake.store, BucketStore)
    folder = lake.record().tables["lake.sales.orders"].location
    large = next(path for path in orders.reached if path.endswith(LARGE))
    key = f"{folder}files/{large.removeprefix(orders.location + '/')}"
    _killed_while_it_writes(lake.store, key)
    assert lake.parts.unfinished() == [f"vault/{key}"]
    assert not any(stat.key == key for stat in lake.store.list("tables/"))
    _next_is_whole(lake, orders)
    assert lake.store.head(key).size_bytes == len(orders.local(large).read_bytes())
    assert lake.parts.unfinished() == [f"vault/{key}"]


def _next_is_whole(lake: Lake, orders: SyntheticTable) -> None:
    assert lake.backup().record.backup_metadata.status == "complete"
    assert lake.verify().damages == ()
    lake.drop("orders")
    lake.restore()
    assert contents(lake.source) == bytes_of(orders)


def _killed_while_it_writes(store: BucketStore, key: str) -> None:
    processes = multiprocessing.get_context("spawn")
    begun = processes.Event()
    child = processes.Process(target=_write, args=(store.url, store.accesses, key, begun))
    child.start()
    assert begun.wait(60), "the child never sent its parts"
    child.kill()
    child.join()


def _write(url: str, accesses: tuple[Access, ...], key: str, begun: Any) -> None:
    def blocks() -> Iterator[bytes]:
        for _ in range(6):
            yield b"x" * PART_BYTES
        begun.set()
        Event().wait()

    S3Store(url, accesses).put_if_absent(key, blocks())
