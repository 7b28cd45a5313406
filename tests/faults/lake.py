"""A lake in memory: synthetic tables with a SQLite catalog, and a vault. Quick to set back to how it was.

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
from bergung.stores.base import OpenStore
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


@dataclass
class Lake:
    """Tables lie at memory://<name>-source/<table>, the vault at memory://<name>-vault."""

    folder: Path
    versioned: bool = False
    lock_for: timedelta | None = None
    clock: Clock = field(default_factory=SystemClock)
    name: str = field(default_factory=lambda: uuid.uuid4().hex)
    sizes: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.source = MemoryStore(f"{self.name}-source")
        self.store = MemoryStore(f"{self.name}-vault", versioned=self.versioned, lock_for=self.lock_for, clock=self.clock)
        self.database = self.folder / "catalog.db"
        self.database.touch()
        self.catalog().create_namespace(Namespace((NAMESPACE,), {"owner": "shop"}))
        init_vault(self.store.url, open_store, self.clock, uuid.UUID(int=7))

    def catalog(self, name: str = CATALOG) -> Catalog:
        return SqlCatalog(name, Database(self.database), self.clock)

    def vault(self, open_: OpenStore = open_store) -> Vault:
        return open_vault(self.store.url, open_)

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
        prefix = table.location.removeprefix(f"{self.source.url}/")
        there = {stat.key for stat in self.source.list(prefix)}
        for file in sorted(path for path in table.folder.rglob("*") if path.is_file()):
            key = f"{prefix}/{file.relative_to(table.folder)}"
            if key not in there:
                self.source.put_if_absent(key, [file.read_bytes()])

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

    def effects(self, open_: OpenStore = open_store) -> Effects:
        return Effects(engine=here, open_store=open_, clock=self.clock)

    def backup(
        self, words: Iterable[str] = (CATALOG,), open_: OpenStore = open_store, request: BackupRequest | None = None
    ) -> BackupResult:
        """By names of this lake's catalogs, or by addresses."""
        words = tuple(words)
        selected = select_tables(list(words), [], self.catalog, lambda address: LocationCatalog(address, open_))
        return run_backup(self.effects(open_), self.vault(open_), request or BackupRequest(words), selected)

    def restore(
        self,
        point: str = "latest",
        words: tuple[str, ...] = (),
        open_: OpenStore = open_store,
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
        self.source = filled(f"{self.name}-source", kept.source)
        self.store = filled(f"{self.name}-vault", kept.vault)
        self.database.write_bytes(kept.database)

    def empty_source(self) -> None:
        self.source = filled(f"{self.name}-source", {})


def contents(store: MemoryStore, prefix: str = "") -> dict[str, bytes]:
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
