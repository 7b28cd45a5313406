"""A lake: synthetic tables with a SQLite catalog, and a vault. Quick to set back to how it was.

It lies in memory, or where `places` say, such as in the buckets of a real server (tests/faults/buckets.py).

lake = Lake(tmp_path)
orders = lake.table("orders")
orders.append(3)
lake.publish(orders)          # commit, upload, and move the catalog's pointer
lake.backup()
"""

import shutil
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from bergung.backup.request import BackupRequest
from bergung.backup.run import BackupResult, run_backup
from bergung.carry.effects import Effects, here
from bergung.catalogs.base import Catalog, Namespace
from bergung.catalogs.location import LocationCatalog
from bergung.catalogs.select import select_tables
from bergung.catalogs.sql import SqlCatalog
from bergung.catalogs.sqlite import Database
from bergung.clock import Clock, SystemClock
from bergung.model.names import TableName, split_levels
from bergung.model.record import Record
from bergung.restore.request import RestoreRequest
from bergung.restore.run import RestoreResult, run_restore
from bergung.stores.base import OpenStore, Store
from bergung.stores.memory import MemoryStore
from bergung.stores.open import open_store
from bergung.upkeep.showing import files_of
from bergung.upkeep.verify import VerifyRequest, VerifyResult, run_verify
from bergung.vault.vault import Vault, init_vault, open_vault, read_record, read_state
from tests.synthetic import Shape, SyntheticTable

CATALOG = "lake"
NAMESPACE = "sales"
PLAIN = Shape()


@dataclass(frozen=True)
class Kept:
    """Everything at one moment; versions and markers are not kept."""

    source: dict[str, bytes]
    vault: dict[str, bytes]
    database: bytes


class Shared(Store, Protocol):
    """A store, and what its other clients may do there."""

    def overwrite(self, key: str, content: bytes) -> object:
        """A PUT that asks nothing."""
        ...

    def put_marker(self, key: str) -> object:
        """A DELETE that asks nothing."""
        ...


class Places(Protocol):
    """Where a lake's source and vault lie; `open_store` opens both."""

    open_store: OpenStore

    def make(self, part: str) -> Shared:
        """The empty store of that part."""
        ...

    def set_back(self, part: str, objects: dict[str, bytes]) -> Shared:
        """The store of that part, with just these objects."""
        ...


@dataclass(frozen=True)
class InMemory:
    """Stores memory://<name>-<part>; only a vault has versions, if any."""

    name: str
    versioned: bool
    lock_for: timedelta | None
    clock: Clock
    open_store: OpenStore = open_store

    def make(self, part: str) -> MemoryStore:
        name = f"{self.name}-{part}"
        if part == "source":
            return MemoryStore(name)
        return MemoryStore(name, versioned=self.versioned, lock_for=self.lock_for, clock=self.clock)

    def set_back(self, part: str, objects: dict[str, bytes]) -> MemoryStore:
        return filled(f"{self.name}-{part}", objects)


@dataclass
class Lake:
    """Tables lie at <source>/<table>; by default the source is memory://<name>-source, the vault memory://<name>-vault."""

    folder: Path
    versioned: bool = False
    lock_for: timedelta | None = None
    clock: Clock = field(default_factory=SystemClock)
    name: str = field(default_factory=lambda: uuid.uuid4().hex)
    sizes: dict[str, int] = field(default_factory=dict)
    places: Places | None = None

    def __post_init__(self) -> None:
        self.parts: Places = self.places or InMemory(self.name, self.versioned, self.lock_for, self.clock)
        self.open_store = self.parts.open_store
        self.source, self.store = self.parts.make("source"), self.parts.make("vault")
        self.database = self.folder / "catalog.db"
        self.database.touch()
        self.catalog().create_namespace(Namespace((NAMESPACE,), {"owner": "shop"}))
        init_vault(self.store.url, self.open_store, self.clock, uuid.UUID(int=7))

    def catalog(self, name: str = CATALOG) -> Catalog:
        return SqlCatalog(name, Database(self.database), self.clock)

    def vault(self, open_: OpenStore | None = None) -> Vault:
        return open_vault(self.store.url, open_ or self.open_store)

    def table(self, name: str, shape: Shape = PLAIN) -> SyntheticTable:
        """Not in the catalog before it is published."""
        location = shape.location or f"{self.source.url}/{name}"
        return SyntheticTable(self.folder / name, replace(shape, location=location))

    def publish(self, table: SyntheticTable, *, snapshot: bool = True, name: str | None = None) -> str:
        """Commit, upload, and point the catalog's entry at the new metadata file."""
        path = table.commit(snapshot=snapshot)
        self.upload(table)
        self.point(name or table.folder.name, path)
        return path

    def upload(self, table: SyntheticTable) -> None:
        """Files of the table that its store has not."""
        prefix = self.key(table.location)
        there = {stat.key for stat in self.source.list(prefix)}
        for file in sorted(path for path in table.folder.rglob("*") if path.is_file()):
            key = f"{prefix}/{file.relative_to(table.folder)}"
            if key not in there:
                self.source.put_if_absent(key, [file.read_bytes()])

    def key(self, path: str) -> str:
        """Of a path of a table: its key in the source's store."""
        return path.removeprefix(f"{self.source.url}/")

    def point(self, name: str, path: str, catalog: str = CATALOG) -> None:
        """Register, or move the entry that is there."""
        table, known = TableName(catalog, (NAMESPACE,), name), self.catalog(catalog)
        if table in known.tables():
            known.replace(table, path, expected=known.locate(table).metadata_location)
        else:
            known.create_namespace(Namespace((NAMESPACE,), {}))
            known.register(table, path)

    def drop(self, *names: str) -> None:
        """Entries go, with every file below those tables."""
        with Database(self.database).writing() as connection:
            for name in names:
                connection.execute("DELETE FROM iceberg_tables WHERE table_name = ?", (name,))
        for name in names:
            for stat in list(self.source.list(f"{name}/")):
                self.source.delete(stat.key)

    def effects(self, open_: OpenStore | None = None) -> Effects:
        return Effects(engine=here, open_store=open_ or self.open_store, clock=self.clock)

    def backup(
        self, words: Iterable[str] = (CATALOG,), open_: OpenStore | None = None, request: BackupRequest | None = None
    ) -> BackupResult:
        """By names of this lake's catalogs, or by addresses."""
        words = tuple(words)
        selected = select_tables(list(words), [], self.catalog, lambda address: LocationCatalog(address, open_ or self.open_store))
        return run_backup(self.effects(open_), self.vault(open_), request or BackupRequest(words), selected)

    def restore(
        self,
        point: str = "latest",
        words: tuple[str, ...] = (),
        open_: OpenStore | None = None,
        open_catalog: Callable[[str], Catalog] | None = None,
        **more: bool,
    ) -> RestoreResult:
        request = RestoreRequest(point, words, **more)
        return run_restore(self.effects(open_), self.vault(open_), request, open_catalog or self.open_catalog)

    def open_catalog(self, word: str) -> Catalog:
        """As the command line does: the name of a catalog, or of a table without one."""
        levels = split_levels(word)
        return LocationCatalog(levels[-1]) if len(levels) > 1 else self.catalog(word)

    def verify(self, point: str | None = None) -> VerifyResult:
        return run_verify(self.effects(), self.vault(), VerifyRequest(point))

    def points(self) -> list[str]:
        return [point.id for point in read_state(self.vault()).points]

    def record(self, point: str = "latest") -> Record:
        vault = self.vault()
        return read_record(vault, read_state(vault).find(point))

    def reached(self, point: str = "latest") -> dict[tuple[str, str], tuple[str, str]]:
        """Table and path → state and digest, of every file that a point reaches through its receipts."""
        vault = self.vault()
        return {
            (name, file["path"]): (file["state"], file["checksum"])
            for name, entry in self.record(point).tables.items()
            for file in files_of(vault, entry)
        }

    def keep(self) -> Kept:
        return Kept(contents(self.source), contents(self.store), self.database.read_bytes())

    def set_back(self, kept: Kept) -> None:
        """Stores and catalog as they were; the tables themselves know nothing of it."""
        self.source = self.parts.set_back("source", kept.source)
        self.store = self.parts.set_back("vault", kept.vault)
        self.database.write_bytes(kept.database)

    def empty_source(self) -> None:
        self.source = self.parts.set_back("source", {})


def contents(store: Store, prefix: str = "") -> dict[str, bytes]:
    """What a reader sees now."""
    return {stat.key: store.read(stat.key) for stat in store.list(prefix)}


def filled(name: str, objects: dict[str, bytes]) -> MemoryStore:
    """A fresh store of that name."""
    store = MemoryStore(name)
    for key, content in objects.items():
        store.put_if_absent(key, [content])
    return store


def bytes_of(table: SyntheticTable, metadata_path: str | None = None) -> dict[str, bytes]:
    """Every file that the table reaches now, by the key of its source's store."""
    prefix = table.location.split("/", 3)[3]
    paths = [*table.reached, metadata_path or table.metadata_path or ""]
    return {f"{prefix}/{path.removeprefix(table.location + '/')}": table.local(path).read_bytes() for path in paths}


def copy_folder(table: SyntheticTable, to: Path) -> None:
    """For tables on the local file system: set aside what will be lost."""
    shutil.copytree(table.folder, to)
