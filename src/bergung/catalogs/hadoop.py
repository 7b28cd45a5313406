"""A warehouse folder as a catalog, as Iceberg's Java HadoopCatalog keeps it: the folders are the names.

A table is a folder with versions in its metadata folder, a namespace one without. The newest version is the pointer: a table whose
files lie in their place is registered, and a state is swapped by writing it once more as the next version.
"""

from concurrent.futures import ThreadPoolExecutor

from bergung.catalogs.base import Namespace, Pointer
from bergung.catalogs.declaration import Declaration, declared_access
from bergung.catalogs.hadoop_folder import Versions, number_of, with_advice
from bergung.catalogs.hadoop_warehouse import AT_ONCE, Levels, Warehouse, as_java_writes, is_name
from bergung.clock import Clock
from bergung.errors import Busy, MissingObject, NotAllowed, ObjectExists, Refused, SourceChanged, UnknownTable, UsageError
from bergung.model.names import TableName, join_levels
from bergung.stores.access import Access


class HadoopCatalog:
    """All tables below one folder of any store."""

    def __init__(self, name: str, warehouse: Warehouse, clock: Clock) -> None:
        self.name = name
        self._warehouse = warehouse
        self._clock = clock

    def namespaces(self) -> list[Namespace]:
        """Folders that are no tables, nested ones too; they have no properties."""
        return [Namespace(levels, {}) for levels, is_table in sorted(self._warehouse.names()) if not is_table]

    def tables(self) -> list[TableName]:
        """Folders with a version of a table."""
        return sorted(TableName(self.name, levels[:-1], levels[-1]) for levels, is_table in self._warehouse.names() if is_table)

    def views(self) -> list[TableName]:
        """None: folders hold none."""
        return []

    def access(self, table: TableName) -> tuple[Access, ...]:
        """As the catalog is declared, the same for all tables."""
        return self._warehouse.access

    def home(self, table: TableName) -> str | None:
        """The folders are the names."""
        return "/".join((self._warehouse.address, *_levels(table)))

    def locate(self, table: TableName) -> Pointer:
        """The version that readers arrive at; Refused where not all of them would arrive at one."""
        read_at = self._clock.now()
        found, current = self._look(table)
        before = found.files.get(number_of(current) - 1, [])
        previous = self._warehouse.file(_levels(table), before[0]) if before else None
        return Pointer(table, self._warehouse.file(_levels(table), current), previous, read_at)

    def locate_all(self, tables: list[TableName]) -> dict[TableName, Pointer]:
        """Many folders at once."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return {pointer.table: pointer for found in pool.map(self._located, sorted(set(tables))) for pointer in found}

    def register(self, table: TableName, metadata_location: str) -> None:
        """A table whose own newest file this is, is there already; any other file becomes version 1 of a new one, as in Java."""
        _check_names((*table.namespace, table.name))
        folder = self._warehouse.folder(_levels(table))
        found = folder.look()
        if not found.files:
            self._commit(table, 1, self._warehouse.read(metadata_location), Busy)
            return
        newest = max(found.files)
        own = (self._warehouse.file(_levels(table), name) for name in found.files[newest])
        if not any(self._warehouse.is_same(metadata_location, path) for path in own):
            raise Busy(f"the catalog has a table {table} already", "choose another name, or drop that one first")
        folder.point_at(newest)

    def replace(self, table: TableName, metadata_location: str, *, expected: str) -> None:
        """Write the state once more, as the next version; SourceChanged when the table is not `expected` any more."""
        found, name = self._look(table)
        current = self._warehouse.file(_levels(table), name)
        if self._warehouse.is_same(current, metadata_location):
            # Its file was brought back, and the table with it.
            self._warehouse.folder(_levels(table)).point_at(number_of(name))
            return
        if not self._warehouse.is_same(current, expected):
            raise SourceChanged(f"{table} was committed meanwhile: it is {current} now", "run the same command again")
        data = self._warehouse.read(metadata_location)
        if self._is_written(current, data):
            # By a run that was stopped before it could say so.
            self._warehouse.folder(_levels(table)).point_at(number_of(name))
        else:
            self._commit(table, found.highest + 1, data, SourceChanged)

    def create_namespace(self, namespace: Namespace) -> None:
        """Nothing but a look at it: the folder comes with the first table in it."""
        _check_names(namespace.levels)
        if namespace.properties:
            raise UsageError(
                f"a namespace that is a folder has no properties: {join_levels((self.name, *namespace.levels))}",
                "choose a catalog that keeps them, or a namespace that has none",
            )

    def _located(self, table: TableName) -> list[Pointer]:
        try:
            return [self.locate(table)]
        except (UnknownTable, Refused, NotAllowed):
            # One that cannot be read does not keep the others: `locate` tells why.
            return []

    def _look(self, table: TableName) -> tuple[Versions, str]:
        folder = self._warehouse.file(_levels(table), "")
        if not all(map(is_name, (*table.namespace, table.name))):
            raise UnknownTable(f"no table {table}", "no folder has such a name")
        found = self._warehouse.folder(_levels(table)).look()
        try:
            names = found.current()
        except Refused as error:
            raise with_advice(error, folder) from error
        if not names:
            raise UnknownTable(f"no table {table}", f"no version of a table lies in {folder}")
        return found, names[0]

    def _is_written(self, location: str, data: bytes) -> bool:
        try:
            return self._warehouse.read(location) == data
        except MissingObject:
            return False

    def _commit(self, table: TableName, number: int, data: bytes, lost: type[Busy] | type[SourceChanged]) -> None:
        try:
            self._warehouse.folder(_levels(table)).commit(number, data)
        except ObjectExists as error:
            raise lost(f"another wrote version {number} of {table} at the same time", "run the same command again") from error


def open_declared(declaration: Declaration) -> HadoopCatalog:
    """On the folder that the declaration calls its warehouse."""
    address = declaration.properties.get("warehouse", "")
    if not address.startswith("/") and ":/" not in address:
        raise UsageError(
            f"the catalog {declaration.name} is declared without an absolute warehouse",
            "write it as Spark has it: warehouse: s3://bucket/folder, file:///a/folder or /a/folder",
        )
    warehouse = Warehouse(as_java_writes(address), declaration.open_store, declared_access(declaration))
    return HadoopCatalog(declaration.name, warehouse, declaration.clock)


def _levels(table: TableName) -> Levels:
    return (*table.namespace, table.name)


def _check_names(names: Levels) -> None:
    wrong = [name for name in names if not is_name(name)]
    if wrong:
        raise UsageError(f"no folder can have the name {wrong[0]!r}", "choose a name without slashes that is not `.` or `..`")
