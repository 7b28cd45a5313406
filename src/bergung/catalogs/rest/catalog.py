"""A catalog behind Iceberg's REST protocol."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from threading import Lock
from typing import TypeVar

import msgspec

from bergung.catalogs.base import Namespace, Pointer, UnreadableEntry
from bergung.catalogs.declaration import Declaration, declared_access
from bergung.catalogs.rest.http import PARALLEL, Answer
from bergung.catalogs.rest.listing import Listing
from bergung.catalogs.rest.loaded import LoadedTable, access_of, load
from bergung.catalogs.rest.server import Server, ask
from bergung.catalogs.rest.told import LoginEnded, NoAnswer, Unanswered, names_a_file
from bergung.catalogs.rest.told import words as told
from bergung.errors import BergungError, Busy, Refused, SourceChanged, UnknownTable, UsageError
from bergung.model.names import TableName, join_levels
from bergung.stores.access import Access

REMEMBERED_BYTES = 256 * 1024 * 1024
"""Of metadata that need not be sent again while it is the same; what is beyond is asked for in full each time."""
_ABSENT = ("NoSuchTable", "NoSuchNamespace", "NoSuchIcebergTable")
_A = TypeVar("_A")
_B = TypeVar("_B")


class RestCatalog:
    """Asked for the first time when something is asked of it; threads may share it."""

    def __init__(self, declaration: Declaration, remembered_bytes: int = REMEMBERED_BYTES) -> None:
        self.name = declaration.name
        self._declaration = declaration
        self._remembered_bytes = remembered_bytes
        self._known: dict[TableName, tuple[str, Pointer]] = {}
        self._known_bytes = 0
        self._remembering = Lock()
        self._lent: dict[TableName, tuple[Access, ...]] = {}

    @cached_property
    def _server(self) -> Server:
        return ask(self._declaration)

    @property
    def _listing(self) -> Listing:
        return Listing(self._server)

    def namespaces(self) -> list[Namespace]:
        """One question for the children of each, and one for its properties."""
        listing = self._listing
        found = sorted(self._walked(listing))
        return [Namespace(levels, own) for levels, own in zip(found, _each(listing.properties, found), strict=True)]

    def tables(self) -> list[TableName]:
        """All tables of the catalog, sorted; views are no tables."""
        return self._named(self._listing.tables)

    def views(self) -> list[TableName]:
        """All views of the catalog, sorted; none where the server does not say that it has views."""
        return self._named(self._listing.views) if self._server.has_views else []

    def _named(self, list_one: Callable[[tuple[str, ...]], list[str]]) -> list[TableName]:
        levels = self._walked(self._listing)
        return sorted(
            TableName(self.name, namespace, name)
            for namespace, names in zip(levels, _each(list_one, levels), strict=True)
            for name in names
        )

    def _walked(self, listing: Listing) -> list[tuple[str, ...]]:
        """Level by level; the namespaces of one level are asked at the same time."""
        level, found = listing.children(()), []
        while level:
            found += level
            level = [child for children in _each(listing.children, level) for child in children]
        return found

    def home(self, table: TableName) -> str | None:
        """Any folder will do."""
        return None

    def locate(self, table: TableName) -> Pointer:
        """The pointer and the metadata that the server gives out with it."""
        if not table.namespace:
            raise UnknownTable(f"no table {table}: in a REST catalog every table has a namespace", "name it with its namespace")
        read_at = self._declaration.clock.now()
        etag, known = self._known.get(table, ("", None))
        answer = load(self._server, table, etag)
        if answer.status == 304 and known is not None:
            return replace(known, read_at=read_at)
        if not answer.is_done:
            raise self._why(table, answer)
        loaded = self._server.read(answer, LoadedTable, f"the table {table}")
        pointer = Pointer(table, loaded.metadata_location or "", None, read_at, bytes(loaded.metadata))
        self._remember(answer.etag, pointer)
        self._lent[table] = access_of(self._declaration, table, loaded)
        return pointer

    def locate_all(self, tables: list[TableName]) -> dict[TableName, Pointer]:
        """Some at the same time; what did not change since this catalog was asked before is not sent again."""
        _ = self._server
        found = _each(self._there, sorted(set(tables)))
        return {pointer.table: pointer for pointers in found for pointer in pointers}

    def _there(self, table: TableName) -> list[Pointer]:
        try:
            return [self.locate(table)]
        except (LoginEnded, NoAnswer, Busy):
            raise
        except BergungError:
            # One table that the server cannot give out does not hide the others; `locate` tells why.
            return []

    def access(self, table: TableName) -> tuple[Access, ...]:
        """What came with the table when it was located last; for one that cannot be had, what is declared."""
        if table not in self._lent:
            try:
                self.locate(table)
            except (UnknownTable, UnreadableEntry):
                return declared_access(self._declaration)
        return self._lent[table]

    def register(self, table: TableName, metadata_location: str) -> None:
        """A new entry; Busy when one of that name is there."""
        if not table.namespace or not self._listing.exists(table.namespace):
            raise UsageError(
                f"no namespace {join_levels((self.name, *table.namespace))}",
                "make it with the engine of your choice, then try again",
            )
        try:
            answer = self._register(table, metadata_location, overwrite=False)
        except Unanswered:
            # The answer is lost, perhaps, and not the work.
            if self._points_to(table, metadata_location):
                return
            raise
        if answer.status == 409:
            raise Busy(f"the catalog has an entry {table} already", "choose another name, or drop that one first")
        self._expect_done(answer, table, metadata_location)

    def replace(self, table: TableName, metadata_location: str, *, expected: str) -> None:
        """By register with overwrite, where the server does that; the entry is never dropped.

        The protocol has no swap that checks the entry before: it is looked at just before, so that a commit in the
        moment between is no longer pointed to. Where the server cannot read the entry's file nobody can commit.
        """
        try:
            found = self.locate(table).metadata_location
        except UnreadableEntry:
            found = expected
        if found != expected:
            raise SourceChanged(f"{table} was committed meanwhile: it points to {found}", "run the same command again")
        try:
            answer = self._register(table, metadata_location, overwrite=True)
        except Unanswered:
            if self._points_to(table, metadata_location):
                return
            raise
        self._refuse_swap(table, answer, metadata_location)
        self._expect_done(answer, table, metadata_location)

    def create_namespace(self, namespace: Namespace) -> None:
        """Make it with its parents; nothing happens when it is there."""
        for depth in range(1, len(namespace.levels) + 1):
            levels = namespace.levels[:depth]
            if not self._listing.exists(levels):
                self._listing.create(levels, namespace.properties if levels == namespace.levels else {})

    def _register(self, table: TableName, metadata_location: str, *, overwrite: bool) -> Answer:
        body = {"name": table.name, "metadata-location": metadata_location}
        url = self._server.namespace(table.namespace, "register")
        return self._server.connection.post(url, msgspec.json.encode({**body, "overwrite": True} if overwrite else body))

    def _expect_done(self, answer: Answer, table: TableName, metadata_location: str) -> None:
        if answer.status == 404:
            raise BergungError(
                f"the catalog's server did not register {table}: {told(404, answer.reason)}",
                f"see that the server can read {metadata_location}, with its own credentials",
            )
        if answer.status >= 500 and self._points_to(table, metadata_location):
            return
        if not answer.is_done:
            raise self._server.connection.error(answer, f", asked to register {table},")

    def _refuse_swap(self, table: TableName, answer: Answer, metadata_location: str) -> None:
        cannot = answer.status in (400, 405, 406, 409, 501)
        if cannot or (answer.is_done and not self._points_to(table, metadata_location)):
            raise Refused(
                f"the catalog's server cannot point {table} elsewhere in place ({told(answer.status, answer.reason)})",
                "drop the entry without its files (no PURGE) in an engine, then run the same command again: it will register",
            )

    def _points_to(self, table: TableName, metadata_location: str) -> bool:
        try:
            return self.locate(table).metadata_location == metadata_location
        except (UnknownTable, UnreadableEntry):
            return False

    def _why(self, table: TableName, answer: Answer) -> BergungError:
        """A table that is not there, a view, or one whose entry is there and whose file is not."""
        if answer.status not in (404, 500):
            return self._server.connection.error(answer, f", asked for {table},")
        reason = answer.reason
        maybe = answer.status == 404 and not (reason.type or "").startswith(_ABSENT)
        if (maybe or names_a_file(answer.status, reason)) and self._listing.has_table(table.namespace, table.name):
            return UnreadableEntry(
                f"the catalog has an entry {table}, and its server cannot load it ({told(answer.status, reason)})",
                f"its metadata file is missing or damaged: bring it back with bergung restore {table}",
            )
        if answer.status == 500:
            return self._server.connection.error(answer, f", asked for {table},")
        if self._server.has_views and self._listing.has_view(table.namespace, table.name):
            return UnknownTable(f"{table} is a view", "name a table")
        return UnknownTable(f"no table {table}", "check the name; upper and lower case differ")

    def _remember(self, etag: str, pointer: Pointer) -> None:
        with self._remembering:
            _, before = self._known.pop(pointer.table, ("", None))
            self._known_bytes -= _size(before)
            if etag and self._known_bytes + _size(pointer) <= self._remembered_bytes:
                self._known[pointer.table] = (etag, pointer)
                self._known_bytes += _size(pointer)


def open_declared(declaration: Declaration) -> RestCatalog:
    """Behind the address of the declaration's uri."""
    if not declaration.uri:
        raise UsageError(f"the catalog {declaration.name} is declared without a uri", "set uri to what stands before /v1/config")
    return RestCatalog(declaration)


def _each(ask_one: Callable[[_A], _B], over: Iterable[_A]) -> list[_B]:
    """Some at the same time, in the order given; the first error ends it."""
    wanted = list(over)
    if len(wanted) < 2:
        return [ask_one(each) for each in wanted]
    with ThreadPoolExecutor(min(PARALLEL, len(wanted))) as pool:
        return list(pool.map(ask_one, wanted))


def _size(pointer: Pointer | None) -> int:
    return len(pointer.served or b"") if pointer is not None else 0
