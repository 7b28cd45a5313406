"""A table without a catalog: its folder or one of its metadata files is all that is known of it."""

import os
import re

from bergung.catalogs.base import Namespace, Pointer
from bergung.catalogs.hadoop_folder import read_hint
from bergung.catalogs.newest import newest
from bergung.clock import Clock, SystemClock
from bergung.errors import MissingObject, Refused, UnknownTable, UsageError
from bergung.model.names import TableName
from bergung.stores.access import Access
from bergung.stores.base import OpenStore
from bergung.stores.open import open_path, open_store

NAME = "location"
"""Stands where other tables have the name of their catalog."""

_CLOCK = SystemClock()
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_METADATA_FILE = re.compile(r"\.json(\.gz)?$")


def is_address(word: str) -> bool:
    """True for a path or a URI, which no name of a table looks like."""
    return word.startswith(("/", "./", "../")) or _SCHEME.match(word) is not None


class LocationCatalog:
    """Exactly one table; its name is its location, so that two tables with folders of one name stay two."""

    name = NAME

    def __init__(self, address: str, open_store: OpenStore = open_store, clock: Clock = _CLOCK) -> None:
        self.address = absolute(address)
        self.table = TableName(NAME, (), plain(_location(self.address)))
        self._open_store = open_store
        self._clock = clock

    def namespaces(self) -> list[Namespace]:
        """None."""
        return []

    def tables(self) -> list[TableName]:
        """The one."""
        return [self.table]

    def views(self) -> list[TableName]:
        """None."""
        return []

    def access(self, table: TableName) -> tuple[Access, ...]:
        """Nobody is there to say."""
        return ()

    def home(self, table: TableName) -> str | None:
        """Any folder will do."""
        return None

    def locate(self, table: TableName) -> Pointer:
        """The metadata file that was named, or the newest of the folder that was."""
        if table != self.table:
            raise UnknownTable(f"no table {table} at {self.address}", "name its folder or its metadata file")
        read_at = self._clock.now()
        found = self._named() if _METADATA_FILE.search(self.address) else self._newest()
        return Pointer(table, found, None, read_at)

    def locate_all(self, tables: list[TableName]) -> dict[TableName, Pointer]:
        """The one, unless it cannot be told where it stands."""
        try:
            return {table: self.locate(table) for table in tables}
        except (UnknownTable, Refused):
            return {}

    def register(self, table: TableName, metadata_location: str) -> None:
        """There is nowhere to write it."""
        raise UsageError(
            f"{table} has no catalog: it comes back by its files alone",
            f"to give it one: CALL catalog.system.register_table('namespace.name', '{metadata_location}')",
        )

    def replace(self, table: TableName, metadata_location: str, *, expected: str) -> None:
        """There is nowhere to write it."""
        self.register(table, metadata_location)

    def create_namespace(self, namespace: Namespace) -> None:
        """There is nowhere to write it."""
        raise UsageError("a table without a catalog has no namespace", "name a table of a catalog")

    def _named(self) -> str:
        store, key = open_path(self.address, self._open_store)
        try:
            store.head(key)
        except MissingObject as error:
            raise UnknownTable(f"no metadata file {self.address}", "check the path") from error
        return self.address

    def _newest(self) -> str:
        folder = f"{self.address}/metadata"
        store, key = open_path(folder, self._open_store)
        prefix = f"{key}/"
        names = [stat.key.removeprefix(prefix) for stat in store.list(prefix)]
        found = newest(names, read_hint(store, prefix))
        if not found:
            raise UnknownTable(
                f"no metadata file in {folder}",
                "name the folder of a table, the one that holds metadata/, or a metadata file",
            )
        return f"{folder}/{found[0]}"


def absolute(address: str) -> str:
    """One form for all the ways to write an address; local ones as file:///."""
    local = re.sub("^file:(///+|/(?!/))", "/", address)
    if not _SCHEME.match(local):
        return "file:///" + os.path.abspath(local).lstrip("/")
    return address.rstrip("/")


def _location(address: str) -> str:
    if not _METADATA_FILE.search(address):
        return address
    folder = address.rpartition("/")[0]
    return folder.removesuffix("/metadata") or folder


def plain(location: str) -> str:
    """As people write it: a local folder without its scheme."""
    return location.removeprefix("file://") if location.startswith("file:///") else location
