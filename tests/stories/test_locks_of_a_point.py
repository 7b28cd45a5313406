"""`--lock`: what a point needs cannot be deleted before its time, and the record says until when."""

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bergung.backup.request import BackupRequest
from bergung.clock import from_text
from bergung.errors import NotAllowed, Refused
from bergung.model.record import TableEntry
from bergung.stores.memory import MemoryStore
from tests.faults.counting_store import Counts, counting_open
from tests.faults.lake import Lake
from tests.synthetic import SyntheticTable

DAYS = 30


class HandClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.moment = datetime(2030, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return self.moment.timestamp()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def lake(tmp_path: Path, clock: HandClock) -> Lake:
    return Lake(tmp_path, versioned=True, clock=clock, name=uuid.uuid4().hex)


@pytest.fixture
def orders(lake: Lake) -> SyntheticTable:
    table = lake.table("orders")
    for _ in range(3):
        table.append(2, manifests=2)
        lake.publish(table)
    return table


def backup(lake: Lake, counts: Counts | None = None, days: int | None = DAYS) -> TableEntry:
    request = BackupRequest(("lake",), lock_days=days)
    result = lake.backup(request=request, open_=counting_open(Counts() if counts is None else counts))
    return result.record.tables["lake.sales.orders"]


def needed(store: MemoryStore) -> Iterator[str]:
    """Everything but the journals of runs."""
    return (version.key for version in store.list_versions("") if not version.key.startswith("runs/"))


def deleted(lake: Lake) -> list[str]:
    """What somebody with every right can delete now."""
    gone = []
    for version in list(lake.store.list_versions("")):
        if not version.key.startswith("runs/"):
            try:
                lake.store.delete(version.key, version=version.version)
            except NotAllowed:
                continue
            gone.append(version.key)
    return gone


def test_nothing_that_a_point_needs_can_be_deleted_before_its_time(lake: Lake, orders: SyntheticTable, clock: HandClock) -> None:
    began = clock.moment
    entry = backup(lake)
    assert entry.locked_until is not None
    assert from_text(entry.locked_until) >= began + timedelta(days=DAYS)
    clock.moment = from_text(entry.locked_until) - timedelta(seconds=1)
    assert deleted(lake) == []
    assert lake.verify().damages == ()
    clock.moment = from_text(entry.locked_until)
    assert len(deleted(lake)) > 20


def test_what_a_later_point_shares_is_locked_as_long_as_that_one_needs(
    lake: Lake, orders: SyntheticTable, clock: HandClock
) -> None:
    backup(lake)
    clock.moment += timedelta(days=20)
    orders.append(1)
    lake.publish(orders)
    entry = backup(lake)
    assert entry.locked_until is not None and from_text(entry.locked_until) >= clock.moment + timedelta(days=DAYS)
    clock.moment += timedelta(days=DAYS) - timedelta(seconds=1)
    assert len(deleted(lake)) == 2, "the first point's own record and root: its time is over, and nobody else needs them"
    assert lake.verify("latest").damages == ()
    lake.drop("orders")
    restored = lake.restore().restored
    assert restored is not None and restored.done == ("lake.sales.orders",)


def test_locks_that_last_are_not_set_again(lake: Lake, orders: SyntheticTable, clock: HandClock) -> None:
    first = backup(lake)
    clock.moment += timedelta(days=1)
    counts = Counts()
    again = backup(lake, counts)
    assert counts.requests("lock", "tables/") == 0 and again.locked_until == first.locked_until
    orders.append(1)
    lake.publish(orders)
    counts = Counts()
    changed = backup(lake, counts)
    locked = counts.keys("lock", "tables/")
    assert changed.locked_until == first.locked_until, "the shortest lock counts"
    assert len([key for key in locked if "/receipts/" in key]) == 3
    assert len([key for key in locked if key.endswith(".parquet") and "/data/" in key]) == 1, "of seven data files the new one"


def test_a_point_without_locks_says_nothing_of_them(lake: Lake, orders: SyntheticTable) -> None:
    assert backup(lake, days=None).locked_until is None


def test_a_store_that_cannot_lock_is_refused_before_anything_is_carried(tmp_path: Path) -> None:
    lake = Lake(tmp_path, versioned=False)
    table = lake.table("orders")
    table.append(1)
    lake.publish(table)
    with pytest.raises(Refused, match="cannot lock"):
        lake.backup(request=BackupRequest(("lake",), lock_days=DAYS))
    assert not any(lake.store.list("tables/"))
