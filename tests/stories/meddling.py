"""Others who work on a lake while a backup runs: real catalogs and stores with something that happens at a given call."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from threading import RLock
from typing import Any

from bergung.backup.request import BackupRequest
from bergung.backup.run import BackupResult, run_backup
from bergung.catalogs.base import Catalog, Pointer
from bergung.catalogs.select import select_tables
from bergung.clock import SystemClock, from_ms
from bergung.model.names import TableName
from bergung.stores.access import Access
from bergung.stores.base import Opened, Stat, Store
from bergung.stores.open import open_store
from tests.faults.lake import CATALOG, Lake
from tests.synthetic import MINUTE_MS, START_MS

Happen = Callable[[], object]


def minute(number: float) -> datetime:
    """The time of a synthetic table's commit of that number, counted from 1."""
    return from_ms(int(START_MS + number * MINUTE_MS))


@dataclass
class StoppedClock(SystemClock):
    """It is the time that the story says; only intervals are real."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment


@dataclass
class BusyCatalog:
    """A real catalog; things happen just before the nth time that it is asked where all tables stand."""

    inner: Catalog
    happen: dict[int, Happen]
    asked: int = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def locate_all(self, tables: list[TableName]) -> dict[TableName, Pointer]:
        self.asked += 1
        self.happen.get(self.asked, lambda: None)()
        return self.inner.locate_all(tables)


@dataclass
class Moment:
    """Something happens once: before the first look at a key that contains this."""

    part: str
    happen: Happen
    happened: bool = False
    _guard: Any = field(default_factory=RLock, repr=False)

    def look(self, key: str) -> None:
        with self._guard:
            if self.part in key and not self.happened:
                self.happened = True
                self.happen()

    def open(self, url: str, access: tuple[Access, ...] = ()) -> Store:
        return BusyStore(open_store(url, access), self)


@dataclass
class BusyStore:
    """A real store; others are at work in it at their moment."""

    inner: Store
    moment: Moment

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def head(self, key: str) -> Stat:
        self.moment.look(key)
        return self.inner.head(key)

    def open(self, key: str) -> Opened:
        self.moment.look(key)
        return self.inner.open(key)


def backup_beside(lake: Lake, between: Happen, *, before: Happen = lambda: None) -> BackupResult:
    """Others are at work between the two passes over the pointers, and perhaps between the listing and the first."""
    catalog = BusyCatalog(lake.catalog(), {1: before, 2: between})
    selected = select_tables([CATALOG], [], lambda name: catalog)
    result = run_backup(lake.effects(), lake.vault(), BackupRequest((CATALOG,)), selected)
    assert catalog.asked == 2, "it never happened"
    return result


def backup_while(lake: Lake, part: str, happen: Happen, words: Iterable[str] = (CATALOG,)) -> BackupResult:
    """Others are at work just before a file whose key contains this is first looked at."""
    moment = Moment(part, happen)
    result = lake.backup(words, open_=moment.open)
    assert moment.happened, f"nobody looked at {part}"
    return result
