"""From the words of a user to tables, and from many tables to their pointers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from bergung.catalogs.base import Catalog, Pointer
from bergung.catalogs.location import NAME, LocationCatalog, absolute, is_address
from bergung.errors import UnknownTable, UsageError
from bergung.model.names import TableName, TablePattern, join_levels, table_pattern

OpenCatalog = Callable[[str], Catalog]


@dataclass(frozen=True)
class Selected:
    """A table and the catalog that knows it."""

    table: TableName
    catalog: Catalog


def select_tables(
    words: list[str], exclude: list[str], open_catalog: OpenCatalog, open_location: OpenCatalog = LocationCatalog
) -> list[Selected]:
    """The tables that the words mean, without those that `exclude` means; sorted, each once.

    A word is a table, a namespace or a catalog (all tables in it and below), a pattern with `*` and `?`, or the
    path or URI of a table's folder or metadata file. One that matches nothing is UnknownTable.
    """
    if not words:
        raise UsageError("no table is named", "name tables, namespaces or patterns: catalog.namespace.table")
    lake = _Lake(open_catalog, open_location)
    chosen: dict[TableName, Catalog] = {}
    for word in words:
        for each in lake.meant_by(word):
            if chosen.setdefault(each.table, each.catalog) is not each.catalog:
                raise UsageError(f"{each.table} is named twice, by different files", "name it once")
    excluded = {table for word in exclude for table in chosen if lake.covers(word, table)}
    left = sorted(chosen.keys() - excluded)
    if not left:
        raise UsageError("every table that was named is excluded", "leave out an --exclude")
    return [Selected(table, chosen[table]) for table in left]


def pointers(selected: Iterable[Selected]) -> dict[TableName, Pointer]:
    """Where these tables stand, by one question to each catalog; what is gone is absent (see `locate_all`)."""
    by_catalog: dict[int, list[Selected]] = {}
    for each in selected:
        by_catalog.setdefault(id(each.catalog), []).append(each)
    found: dict[TableName, Pointer] = {}
    for group in by_catalog.values():
        found |= group[0].catalog.locate_all([each.table for each in group])
    return found


class _Lake:
    """Every catalog that was named, opened and listed once."""

    def __init__(self, open_catalog: OpenCatalog, open_location: OpenCatalog) -> None:
        self._open_catalog = cache(open_catalog)
        self._open_location = cache(open_location)
        self._listed: dict[str, list[TableName]] = {}

    def meant_by(self, word: str) -> list[Selected]:
        """Every table that a word means; UnknownTable when it is none."""
        address = _address(word)
        if address:
            return self._there(self._open_location(address))
        pattern = table_pattern(word)
        if "/" in pattern.catalog:
            raise UsageError(f"not the name of a table: {word}", f"if it is a path, write ./{word}")
        catalog = self._open_catalog(pattern.catalog)
        found = [Selected(table, catalog) for table in self._tables(catalog) if pattern.matches(table)]
        if not found:
            raise self._unknown(word, pattern, catalog)
        return found

    def _there(self, location: Catalog) -> list[Selected]:
        for table in location.tables():
            # A folder or file that is not there should be told now, as a name would be.
            location.locate(table)
        return [Selected(table, location) for table in location.tables()]

    def covers(self, word: str, table: TableName) -> bool:
        """True when this table is among those that the word would mean."""
        address = _address(word)
        return table in self._open_location(address).tables() if address else table_pattern(word).matches(table)

    def _tables(self, catalog: Catalog) -> list[TableName]:
        if catalog.name not in self._listed:
            self._listed[catalog.name] = catalog.tables()
        return self._listed[catalog.name]

    def _unknown(self, word: str, pattern: TablePattern, catalog: Catalog) -> UnknownTable:
        tables = self._tables(catalog)
        if not tables:
            # Nothing at all: the catalog itself can say best why.
            levels = pattern.levels or ("*",)
            catalog.locate(TableName(catalog.name, levels[:-1], levels[-1]))
        near = _nearest(str(pattern), tables)
        hint = f"the nearest names: {', '.join(near)}" if near else f"the catalog {catalog.name} has no tables"
        return UnknownTable(f"nothing matches {word}", hint)


def _nearest(word: str, tables: list[TableName]) -> list[str]:
    namespaces = {join_levels((table.catalog, *table.namespace)) for table in tables}
    names = sorted({str(table) for table in tables} | namespaces)
    return get_close_matches(word, names, n=3, cutoff=0.6) or names[:3]


def _address(word: str) -> str:
    """The path or URI in a word, be it in the form in which we print such a table; empty for a name."""
    if is_address(word):
        return absolute(word)
    pattern = table_pattern(word)
    if pattern.catalog == NAME and len(pattern.levels) == 1 and is_address(pattern.levels[0]):
        return absolute(pattern.levels[0])
    return ""
