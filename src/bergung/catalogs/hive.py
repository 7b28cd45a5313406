"""Hive Metastore: the pointer is a parameter of the table's entry, swapped under the metastore's own lock.

It knows one level of namespaces, its databases, and lower-case names of letters, digits and underscores. What it would
change on its way in is refused: a table must come back under the name that it is asked for.
"""

from datetime import datetime
from typing import Any

from hive_metastore.ttypes import (
    AlreadyExistsException,
    EnvironmentContext,
    MetaException,
    NoSuchObjectException,
    Table,
)

from bergung.catalogs.base import Namespace, Pointer
from bergung.catalogs.declaration import Declaration, declared_access
from bergung.catalogs.hive_client import Metastore, metastore
from bergung.catalogs.hive_columns import Shown, shown
from bergung.catalogs.hive_entries import (
    POINTER,
    PREVIOUS,
    all_entries,
    entries_of,
    entry_of,
    is_table,
    is_view,
    namespace_of,
    new_database,
    new_entry,
)
from bergung.catalogs.hive_lock import locked
from bergung.errors import BergungError, Busy, SourceChanged, UnknownTable, UsageError
from bergung.model.names import TableName, join_levels
from bergung.stores.access import Access
from bergung.stores.open import open_path

_NO_LOCKS = "engine.hive.lock-enabled"
"""A parameter of a table: `false` where the metastore itself is known to check the pointer, so that engines take no lock."""
_LOWER = "the metastore keeps names in lower case"


class HiveCatalog:
    """All databases of one metastore."""

    def __init__(self, declaration: Declaration, metastore: Metastore, lock_seconds: float = 30) -> None:
        self.name = declaration.name
        self._declaration = declaration
        self._metastore = metastore
        self._lock_seconds = lock_seconds

    def namespaces(self) -> list[Namespace]:
        """Its databases, sorted."""
        found = []
        with self._metastore.asked() as client:
            for name in client.get_all_databases():
                try:
                    found.append(namespace_of(client.get_database(name)))
                except NoSuchObjectException:
                    # Dropped since it was listed.
                    continue
        return sorted(found, key=lambda each: each.levels)

    def tables(self) -> list[TableName]:
        """All Iceberg tables, sorted; Hive's own tables are passed over."""
        with self._metastore.asked() as client:
            return sorted(self._name(entry) for entry in all_entries(client) if is_table(entry))

    def views(self) -> list[TableName]:
        """All views, Iceberg's and Hive's own, sorted."""
        with self._metastore.asked() as client:
            return sorted(self._name(entry) for entry in all_entries(client) if is_view(entry))

    def access(self, table: TableName) -> tuple[Access, ...]:
        """As the catalog is declared, the same for all tables."""
        return declared_access(self._declaration)

    def home(self, table: TableName) -> str | None:
        """Any folder will do."""
        return None

    def locate(self, table: TableName) -> Pointer:
        """The raw pointer; UnknownTable when there is no such entry."""
        read_at = self._declaration.clock.now()
        with self._metastore.asked() as client:
            entry = _find(client, table)
        if not entry.parameters.get(POINTER):
            raise BergungError(
                f"the catalog's entry of {table} names no metadata file",
                "remove the entry with the engine that made it, then restore the table",
            )
        return _pointer(table, entry, read_at)

    def locate_all(self, tables: list[TableName]) -> dict[TableName, Pointer]:
        """A few questions for each database."""
        wanted: dict[str, dict[str, TableName]] = {}
        for table in tables:
            if len(table.namespace) == 1:
                wanted.setdefault(table.namespace[0], {})[table.name] = table
        read_at = self._declaration.clock.now()
        found: dict[TableName, Pointer] = {}
        with self._metastore.asked() as client:
            for database, names in sorted(wanted.items()):
                for entry in entries_of(client, database, sorted(names)):
                    if is_table(entry) and entry.parameters.get(POINTER) and self._name(entry) in names.values():
                        found[self._name(entry)] = _pointer(self._name(entry), entry, read_at)
        return found

    def register(self, table: TableName, metadata_location: str) -> None:
        """A new entry; Busy when one of that name is there. The namespace must exist, and the file be readable."""
        _check((*table.namespace, table.name), 2)
        with self._metastore.asked() as client:
            self._check_place(client, table)
            entry = new_entry(table, metadata_location, self._shown(metadata_location), self._declaration.clock.now())
            try:
                client.create_table(entry)
            except AlreadyExistsException as error:
                raise _taken(table) from error

    def replace(self, table: TableName, metadata_location: str, *, expected: str) -> None:
        """Swap the pointer without opening what it names; SourceChanged when it is not `expected` any more."""
        with self._metastore.asked() as client:
            if _find(client, table).parameters.get(_NO_LOCKS, "").lower() == "false":
                _swap(client, table, metadata_location, expected)
                return
            with locked(client, table, self._declaration.clock, self._lock_seconds):
                _swap(client, table, metadata_location, expected)

    def create_namespace(self, namespace: Namespace) -> None:
        """Make it; nothing happens when it is there."""
        if not namespace.levels:
            return
        _check(namespace.levels, 1)
        with self._metastore.asked() as client:
            if not _has_database(client, namespace.levels[0]):
                try:
                    client.create_database(new_database(namespace))
                except AlreadyExistsException:
                    # Made by somebody else since we looked.
                    return

    def _name(self, entry: Table) -> TableName:
        return TableName(self.name, (entry.dbName,), entry.tableName)

    def _check_place(self, client: Any, table: TableName) -> None:
        if not _has_database(client, table.namespace[0]):
            raise UsageError(
                f"no namespace {join_levels((self.name, *table.namespace))}",
                "make it with the engine of your choice, then try again",
            )
        try:
            entry_of(client, table.namespace[0], table.name)
        except NoSuchObjectException:
            return
        raise _taken(table)

    def _shown(self, metadata_location: str) -> Shown:
        access = declared_access(self._declaration)
        store, key = open_path(metadata_location, self._declaration.open_store, access)
        return shown(store.read(key), metadata_location)


def open_declared(declaration: Declaration) -> HiveCatalog:
    """The metastore of the declaration's uri."""
    return HiveCatalog(declaration, metastore(declaration.properties))


def _find(client: Any, table: TableName) -> Table:
    if len(table.namespace) != 1:
        raise UnknownTable(f"no table {table}", "a metastore has exactly one level of namespaces: catalog.database.table")
    try:
        entry = entry_of(client, table.namespace[0], table.name)
    except NoSuchObjectException as error:
        raise UnknownTable(f"no table {table}", "check the name") from error
    if (entry.dbName, entry.tableName) != (table.namespace[0], table.name):
        raise UnknownTable(f"no table {table}", f"{_LOWER}: {join_levels((table.catalog, entry.dbName, entry.tableName))}")
    if is_view(entry):
        raise UnknownTable(f"{table} is a view", "name a table")
    if not is_table(entry):
        raise UnknownTable(f"{table} is a table of Hive's own, not of Iceberg", "name an Iceberg table")
    return entry


def _swap(client: Any, table: TableName, metadata_location: str, expected: str) -> None:
    entry = _find(client, table)
    if entry.parameters.get(POINTER) != expected:
        raise _moved(table, expected)
    entry.parameters |= {POINTER: metadata_location, PREVIOUS: expected}
    # Newer metastores check this themselves, older ones pass over it: there the lock holds.
    checked = {"expected_parameter_key": POINTER, "expected_parameter_value": expected, "DO_NOT_UPDATE_STATS": "true"}
    try:
        client.alter_table_with_environment_context(entry.dbName, entry.tableName, entry, EnvironmentContext(checked))
    except MetaException as error:
        if "has been modified" in (error.message or ""):
            raise _moved(table, expected) from error
        raise


def _has_database(client: Any, name: str) -> bool:
    try:
        client.get_database(name)
    except NoSuchObjectException:
        return False
    return True


def _check(levels: tuple[str, ...], count: int) -> None:
    if len(levels) != count:
        raise UsageError(f"a metastore cannot hold {join_levels(levels)}", "it has one level of namespaces: catalog.database.table")
    if any(level != level.lower() for level in levels):
        raise UsageError(f"a metastore cannot hold {join_levels(levels)}", f"{_LOWER}: choose such a name")


def _taken(table: TableName) -> Busy:
    return Busy(f"the catalog has an entry {table} already", "choose another name, or drop that one first")


def _moved(table: TableName, expected: str) -> SourceChanged:
    return SourceChanged(f"{table} was committed meanwhile: it does not point to {expected} any more", "run the same command again")


def _pointer(table: TableName, entry: Table, read_at: datetime) -> Pointer:
    return Pointer(table, entry.parameters[POINTER], entry.parameters.get(PREVIOUS), read_at)
