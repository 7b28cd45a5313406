"""The catalog AWS Glue: databases of one level, and tables whose parameters name the metadata file.

A table is asked for and changed as one entry. What an engine keeps there besides the pointer (columns for Athena,
owner, description) is never made up here: it stays as it is, and the next commit of an engine writes it anew.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bergung.catalogs.base import Namespace, Pointer
from bergung.catalogs.declaration import Declaration, declared_access
from bergung.catalogs.glue_client import Glue
from bergung.catalogs.glue_errors import was_sent_again
from bergung.catalogs.glue_inputs import (
    PREVIOUS,
    database_input,
    database_properties,
    is_iceberg,
    new_table_input,
    pointer_of,
    swapped_table_input,
)
from bergung.clock import Clock
from bergung.errors import BergungError, Busy, NotAllowed, SourceChanged, UnknownTable, UsageError
from bergung.model.names import TableName, join_levels
from bergung.stores.access import Access

_VIEW = "VIRTUAL_VIEW"


@dataclass(frozen=True)
class TableVersion:
    """An entry as it was once; Glue keeps those that were not skipped by `glue.skip-archive`, and not for ever."""

    id: str
    metadata_location: str
    updated_at: datetime | None


class GlueCatalog:
    """One account's databases in one region."""

    def __init__(self, name: str, glue: Glue, clock: Clock, access: tuple[Access, ...] = ()) -> None:
        self.name = name
        self._glue = glue
        self._clock = clock
        self._access = access

    def namespaces(self) -> list[Namespace]:
        """The databases; none lies in another."""
        found = self._glue.all("get_databases", "DatabaseList")
        return sorted((Namespace((each["Name"],), database_properties(each)) for each in found), key=lambda one: one.levels)

    def tables(self) -> list[TableName]:
        """All Iceberg tables; those of Hive and others that stand beside them are none of ours."""
        return sorted(self._name(entry) for entry in self._all() if is_iceberg(entry))

    def views(self) -> list[TableName]:
        """Athena's, Hive's and Spark's; Glue holds no views of Iceberg's own kind."""
        return sorted(self._name(entry) for entry in self._all() if entry.get("TableType") == _VIEW)

    def access(self, table: TableName) -> tuple[Access, ...]:
        """As the catalog is declared, the same for all tables."""
        return self._access

    def home(self, table: TableName) -> str | None:
        """Any folder will do."""
        return None

    def locate(self, table: TableName) -> Pointer:
        """The raw pointer; UnknownTable when there is no such entry."""
        read_at = self._clock.now()
        entry = self._find(table)
        if not pointer_of(entry):
            raise BergungError(
                f"the catalog's entry of {table} names no metadata file",
                "remove the entry with the engine that made it, then restore the table",
            )
        return self._pointer(entry, read_at)

    def locate_all(self, tables: list[TableName]) -> dict[TableName, Pointer]:
        """By one listing for each database, or one question where it is about one table only."""
        databases: dict[tuple[str, ...], list[TableName]] = {}
        for table in sorted(set(tables)):
            databases.setdefault(table.namespace, []).append(table)
        found: dict[TableName, Pointer] = {}
        for wanted in databases.values():
            read_at = self._clock.now()
            for entry in self._entries(wanted):
                if self._name(entry) in wanted and is_iceberg(entry) and pointer_of(entry):
                    found[self._name(entry)] = self._pointer(entry, read_at)
        return found

    def register(self, table: TableName, metadata_location: str) -> None:
        """A new entry without columns; Busy when one of that name is there. The database must exist."""
        database = _database(table.namespace)
        _check_letters(table.name)
        try:
            self._glue.ask("create_table", DatabaseName=database, TableInput=new_table_input(table.name, metadata_location))
        except UnknownTable as error:
            hint = "make it with the engine of your choice, then try again"
            raise UsageError(f"no namespace {join_levels((self.name, database))}", hint) from error
        except Busy as error:
            if not (was_sent_again(error) and self._names(table, metadata_location)):
                hint = "choose another name, or drop that one first"
                raise Busy(f"the catalog has an entry {table} already", hint) from error

    def replace(self, table: TableName, metadata_location: str, *, expected: str) -> None:
        """Swap the pointer, and nothing else of the entry; Glue itself refuses when the entry changed since it was read."""
        entry = self._find(table)
        self._check(table, entry, expected)
        words = swapped_table_input(entry, metadata_location, self._glue.members("TableInput"))
        version = entry.get("VersionId")
        if version is None:
            raise BergungError(f"the entry of {table} has no version, so it cannot be changed safely", "ask who runs this Glue")
        try:
            # With the older version kept: it is what a salvage finds.
            self._glue.ask(
                "update_table", DatabaseName=entry["DatabaseName"], TableInput=words, VersionId=version, SkipArchive=False
            )
        except SourceChanged as error:
            if not (was_sent_again(error) and self._names(table, metadata_location)):
                self._check(table, self._find(table), expected)
                raise SourceChanged(f"the entry of {table} was changed meanwhile", "run the same command again") from error

    def create_namespace(self, namespace: Namespace) -> None:
        """Make the database; nothing happens when it is there."""
        database = _database(namespace.levels)
        if self._has(database):
            return
        _check_letters(database)
        with suppress(Busy):
            # Busy: another has just made it.
            self._glue.ask("create_database", DatabaseInput=database_input(database, namespace.properties))

    def versions(self, table: TableName) -> list[TableVersion]:
        """What the entry named before, newest first, the present one too."""
        found = self._glue.all("get_table_versions", "TableVersions", **_words(table))
        own = [each for each in found if pointer_of(each["Table"])]
        own.sort(key=lambda each: int(each["VersionId"]), reverse=True)
        return [TableVersion(each["VersionId"], pointer_of(each["Table"]), each["Table"].get("UpdateTime")) for each in own]

    def tags(self, table: TableName) -> dict[str, str]:
        """What rules of access may be written on."""
        entry = self._find(table)
        return self._glue.tags(f"table/{entry['DatabaseName']}/{entry['Name']}", entry["CatalogId"].partition(":")[0])

    def _has(self, database: str) -> bool:
        try:
            found: str = self._glue.ask("get_database", Name=database)["Database"]["Name"]
        except UnknownTable:
            return False
        return found == database

    def _all(self) -> Iterator[dict[str, Any]]:
        for namespace in self.namespaces():
            yield from self._listed(namespace.levels[0])

    def _listed(self, database: str) -> Iterator[dict[str, Any]]:
        try:
            yield from self._glue.all("get_tables", "TableList", DatabaseName=database)
        except UnknownTable:
            # Dropped since it was listed, or never there: nothing is in it.
            return

    def _entries(self, wanted: list[TableName]) -> Iterator[dict[str, Any]]:
        if len(wanted[0].namespace) != 1:
            return
        # A database that may not be read does not keep the others: `locate` tells why.
        with suppress(UnknownTable, NotAllowed):
            if len(wanted) > 1:
                yield from self._listed(wanted[0].namespace[0])
            else:
                yield self._find(wanted[0])

    def _find(self, table: TableName) -> dict[str, Any]:
        try:
            entry: dict[str, Any] = self._glue.ask("get_table", **_words(table, "Name"))["Table"]
        except UnknownTable as error:
            raise UnknownTable(f"no table {table}", "check the name: bergung doctor lists what the catalogs hold") from error
        if self._name(entry) != table:
            raise UnknownTable(f"no table {table}", f"Glue keeps names in lower case: {self._name(entry)}")
        if entry.get("TableType") == _VIEW:
            raise UnknownTable(f"{table} is a view", "name a table")
        if not is_iceberg(entry):
            raise UnknownTable(f"{table} is no Iceberg table", "name an Iceberg table")
        return entry

    def _check(self, table: TableName, entry: dict[str, Any], expected: str) -> None:
        if pointer_of(entry) != expected:
            raise SourceChanged(f"{table} was committed meanwhile: it points to {pointer_of(entry)}", "run the same command again")

    def _names(self, table: TableName, location: str) -> bool:
        return pointer_of(self._find(table)) == location

    def _name(self, entry: dict[str, Any]) -> TableName:
        return TableName(self.name, (entry["DatabaseName"],), entry["Name"])

    def _pointer(self, entry: dict[str, Any], read_at: datetime) -> Pointer:
        return Pointer(self._name(entry), pointer_of(entry), entry["Parameters"].get(PREVIOUS), read_at)


def open_declared(declaration: Declaration) -> GlueCatalog:
    """The Glue that the properties `glue.*` and `client.*` lead to."""
    glue = Glue(declaration.name, declaration.properties)
    return GlueCatalog(declaration.name, glue, declaration.clock, declared_access(declaration))


def _words(table: TableName, name: str = "TableName") -> dict[str, str]:
    if len(table.namespace) != 1:
        raise UnknownTable(f"no table {table}", "a table of Glue is named catalog.database.table")
    return {"DatabaseName": table.namespace[0], name: table.name}


def _database(levels: tuple[str, ...]) -> str:
    if len(levels) != 1:
        raise UsageError(
            f"Glue has databases of one level: it cannot hold the namespace {join_levels(levels)}",
            "choose a namespace of one level",
        )
    return levels[0]


def _check_letters(name: str) -> None:
    if name != name.lower():
        raise UsageError(f"Glue keeps names in lower case: it cannot hold {name}", f"choose {name.lower()}")
