"""Tables by the names that people use; one that was given by its path goes by that path."""

from collections.abc import Iterable

from bergung.catalogs.base import Catalog
from bergung.catalogs.location import NAME, LocationCatalog, is_address
from bergung.catalogs.select import Selected
from bergung.catalogs.settings import open_catalog
from bergung.errors import BergungError
from bergung.model.names import split_levels, table_name
from bergung.stores.base import OpenStore


def shown(name: str) -> str:
    """A table of a record as people call it."""
    levels = split_levels(name)
    return levels[-1] if _is_location(levels) else name


def record_name(word: str) -> str:
    """The name under which a record has what the user wrote."""
    return str(LocationCatalog(word).table) if is_address(word) else word


def named_table(open_store: OpenStore, word: str) -> Selected:
    """The one table that a word means: by its name, its folder or one of its metadata files."""
    levels = (NAME, word) if is_address(word) else split_levels(word)
    if _is_location(levels):
        location = LocationCatalog(levels[-1], open_store)
        return Selected(location.table, location)
    name = table_name(word)
    return Selected(name, open_catalog(name.catalog, open_store=open_store))


def open_any(open_store: OpenStore, name: str) -> Catalog:
    """A catalog by its name; or, for a table that has none, the place where it lies."""
    levels = split_levels(name)
    return LocationCatalog(levels[-1], open_store) if _is_location(levels) else open_catalog(name, open_store=open_store)


def of_tables(failed: Iterable[tuple[str, BergungError]]) -> tuple[BergungError, ...]:
    """The errors of tables, each naming its table."""
    return tuple(_named(shown(name), error) for name, error in failed)


def _named(table: str, error: BergungError) -> BergungError:
    message = error.message if table in error.message else f"{table}: {error.message}"
    return type(error)(message, error.hint)


def _is_location(levels: tuple[str, ...]) -> bool:
    return len(levels) == 2 and levels[0] == NAME and is_address(levels[-1])
