"""The SQL catalog in a database, which PyIceberg's SqlCatalog and Iceberg's Java JdbcCatalog can share.

Both keep a namespace as one text with dots between its levels, so a level cannot contain a dot: what stands there
as `a.b` is (a, b).
"""

from datetime import datetime

from bergung.catalogs.base import Namespace, Pointer
from bergung.catalogs.database import Database
from bergung.catalogs.entries import Entries, Entry
from bergung.clock import Clock
from bergung.errors import BergungError, Busy, SourceChanged, UnknownTable, UsageError
from bergung.model.names import TableName, join_levels
from bergung.stores.access import Access


class SqlCatalog:
    """One catalog, by its name, of those that a database can hold."""

    def __init__(self, name: str, database: Database, clock: Clock, access: tuple[Access, ...] = ()) -> None:
        self.name = name
        self._access = access
        self._database = database
        self._clock = clock

    def namespaces(self) -> list[Namespace]:
        """Those with properties of their own, those with anything in them, and the parents of both."""
        with self._database.reading() as connection:
            entries = Entries(connection, self.name)
            properties = {_levels(text): own for text, own in entries.properties().items()}
            used = {_levels(entry.namespace) for entry in entries.all()}
        there = {levels[:depth] for levels in used | properties.keys() for depth in range(1, len(levels) + 1)}
        return [Namespace(levels, properties.get(levels, {})) for levels in sorted(there)]

    def tables(self) -> list[TableName]:
        """All tables of the catalog, sorted; views are no tables."""
        with self._database.reading() as connection:
            entries = Entries(connection, self.name).all()
        return sorted(self._name(entry) for entry in entries if entry.is_table)

    def views(self) -> list[TableName]:
        """All views of the catalog, sorted."""
        with self._database.reading() as connection:
            entries = Entries(connection, self.name).all()
        return sorted(self._name(entry) for entry in entries if not entry.is_table)

    def access(self, table: TableName) -> tuple[Access, ...]:
        """As the catalog is declared, the same for all tables."""
        return self._access

    def home(self, table: TableName) -> str | None:
        """Any folder will do."""
        return None

    def locate(self, table: TableName) -> Pointer:
        """The raw pointer; UnknownTable when there is no such entry."""
        read_at = self._clock.now()
        with self._database.reading() as connection:
            entry = self._find(Entries(connection, self.name), table)
        if not entry.metadata_location:
            raise BergungError(
                f"the catalog's entry of {table} names no metadata file",
                "remove the entry with the engine that made it, then restore the table",
            )
        return _pointer(table, entry, read_at)

    def locate_all(self, tables: list[TableName]) -> dict[TableName, Pointer]:
        """All in one query, so of one instant."""
        wanted = set(tables)
        read_at = self._clock.now()
        with self._database.reading() as connection:
            entries = Entries(connection, self.name).all()
        found = {self._name(entry): entry for entry in entries if entry.is_table and entry.metadata_location}
        return {table: _pointer(table, found[table], read_at) for table in sorted(wanted & found.keys())}

    def register(self, table: TableName, metadata_location: str) -> None:
        """A new entry; Busy when one of that name is there. The namespace must exist."""
        namespace = _text(table.namespace)
        with self._database.writing() as connection:
            entries = Entries(connection, self.name)
            entries.create_schema()
            if table.namespace and not entries.has_namespace(namespace):
                raise UsageError(
                    f"no namespace {join_levels((self.name, *table.namespace))}",
                    "make it with the engine of your choice, then try again",
                )
            if not entries.add(namespace, table.name, metadata_location):
                raise Busy(f"the catalog has an entry {table} already", "choose another name, or drop that one first")

    def replace(self, table: TableName, metadata_location: str, *, expected: str) -> None:
        """Swap the pointer without opening what it names; SourceChanged when it is not `expected` any more."""
        with self._database.writing() as connection:
            entries = Entries(connection, self.name)
            entry = self._find(entries, table)
            if entry.metadata_location != expected or not entries.swap(entry, metadata_location):
                raise SourceChanged(
                    f"{table} was committed meanwhile: it does not point to {expected} any more",
                    "run the same command again",
                )

    def create_namespace(self, namespace: Namespace) -> None:
        """Make it with its parents; nothing happens when it is there."""
        with self._database.writing() as connection:
            entries = Entries(connection, self.name)
            entries.create_schema()
            for depth in range(1, len(namespace.levels) + 1):
                text = _text(namespace.levels[:depth])
                if not entries.has_namespace(text):
                    entries.add_properties(text, namespace.properties if depth == len(namespace.levels) else {})

    def _name(self, entry: Entry) -> TableName:
        return TableName(self.name, _levels(entry.namespace), entry.name)

    def _find(self, entries: Entries, table: TableName) -> Entry:
        for entry in entries.find(_text(table.namespace), table.name):
            if entry.is_table:
                return entry
            raise UnknownTable(f"{table} is a view", "name a table")
        if not entries.has_tables:
            raise UnknownTable(
                f"no table {table}: its database holds no SQL catalog",
                "check the catalog's uri in the PyIceberg configuration: the database, on PostgreSQL its search_path too",
            )
        others = entries.other_catalogs()
        if others and not entries.all():
            raise UnknownTable(
                f"no table {table}: its database has nothing of a catalog named {self.name}",
                f"it has entries of {', '.join(others)}; give the catalog that name in the PyIceberg configuration",
            )
        raise UnknownTable(f"no table {table}", "check the name; upper and lower case differ")


def _levels(text: str) -> tuple[str, ...]:
    return tuple(text.split(".")) if text else ()


def _text(levels: tuple[str, ...]) -> str:
    text = ".".join(levels)
    if _levels(text) != levels:
        raise UsageError(
            f"a SQL catalog cannot hold the namespace {join_levels(levels)}: dots stand between levels there",
            "choose a namespace without dots and empty names in its levels",
        )
    return text


def _pointer(table: TableName, entry: Entry, read_at: datetime) -> Pointer:
    return Pointer(table, entry.metadata_location, entry.previous_location, read_at)
