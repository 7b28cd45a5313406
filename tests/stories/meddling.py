"""Others who work on a lake while a backup runs: real catalogs and stores with something that happens at a given call."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from bergung.backup.request import BackupRequest
from bergung.backup.run import BackupResult, run_backup
from bergung.catalogs.base import Catalog, Namespace, Pointer
from bergung.catalogs.select import select_tables
from bergung.clock import SystemClock, from_ms
from bergung.model.names import TableName
from bergung.stores.base import BLOCK_BYTES, Stat, Store, Version
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

    def __post_init__(self) -> None:
        self.name = self.inner.name

    def namespaces(self) -> list[Namespace]:
        return self.inner.namespaces()

    def tables(self) -> list[TableName]:
        return self.inner.tables()

    def locate(self, table: TableName) -> Pointer:
        return self.inner.locate(table)

    def locate_all(self, tables: list[TableName]) -> dict[TableName, Pointer]:
        self.asked += 1
        self.happen.get(self.asked, lambda: None)()
        return self.inner.locate_all(tables)

    def register(self, table: TableName, metadata_location: str) -> None:
        self.inner.register(table, metadata_location)

    def replace(self, table: TableName, metadata_location: str, *, expected: str) -> None:
        self.inner.replace(table, metadata_location, expected=expected)

    def create_namespace(self, namespace: Namespace) -> None:
        self.inner.create_namespace(namespace)


@dataclass
class Moment:
    """Something happens once: before the first look at a key that contains this."""

    part: str
    happen: Happen
    happened: bool = False

    def look(self, key: str) -> None:
        if self.part in key and not self.happened:
            self.happened = True
            self.happen()

    def open(self, url: str) -> Store:
        return BusyStore(open_store(url), self)


@dataclass
class BusyStore:
    """A real store; others are at work in it at their moment."""

    inner: Store
    moment: Moment = field(repr=False)

    def __post_init__(self) -> None:
        self.url = self.inner.url

    def head(self, key: str) -> Stat:
        self.moment.look(key)
        return self.inner.head(key)

    def read(self, key: str, *, start: int = 0, length: int | None = None, version: str | None = None) -> bytes:
        return self.inner.read(key, start=start, length=length, version=version)

    def blocks(self, key: str, *, version: str | None = None, block_bytes: int = BLOCK_BYTES) -> Iterator[bytes]:
        return self.inner.blocks(key, version=version, block_bytes=block_bytes)

    def put_if_absent(self, key: str, blocks: Iterable[bytes]) -> Stat:
        return self.inner.put_if_absent(key, blocks)

    def list(self, prefix: str) -> Iterator[Stat]:
        return self.inner.list(prefix)

    def list_versions(self, prefix: str) -> Iterator[Version]:
        return self.inner.list_versions(prefix)

    def copy(self, source_key: str, key: str) -> Stat:
        return self.inner.copy(source_key, key)

    def delete(self, key: str, *, version: str | None = None) -> None:
        self.inner.delete(key, version=version)

    def make_durable(self, keys: Iterable[str]) -> None:
        self.inner.make_durable(keys)


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


def hide(lake: Lake, *names: str) -> None:
    """The entry goes from the catalog, the files stay."""
    kept = lake.keep()
    lake.drop(*names)
    for key in kept.source.keys() - {stat.key for stat in lake.source.list("")}:
        lake.source.put_if_absent(key, [kept.source[key]])


def delete_files(lake: Lake, paths: Iterable[str]) -> None:
    for path in paths:
        lake.source.delete(path.removeprefix(f"{lake.source.url}/"))
