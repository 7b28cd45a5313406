"""Where each table goes: back to its place, or under another name and other paths."""

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from bergung.catalogs.base import Catalog, UnreadableEntry
from bergung.catalogs.location import NAME, plain
from bergung.errors import BergungError, Refused, UsageError
from bergung.iceberg.metadata import TableMetadata, read_metadata
from bergung.iceberg.paths import as_folder, below, normal, split_uri
from bergung.iceberg.relocate.path_map import PathMap
from bergung.model.names import TableName, split_levels
from bergung.restore.request import RestoreRequest
from bergung.stores.base import OpenStore
from bergung.stores.open import open_path


@dataclass(frozen=True)
class Destination:
    """The name that a table gets, and how its paths become others; None leaves them as they are."""

    name: TableName
    moves: PathMap | None = None

    def location(self, metadata: TableMetadata) -> str:
        """Its folder there."""
        return metadata.location if self.moves is None else self.moves.of(metadata.location)


def destinations(
    request: RestoreRequest, tables: Mapping[TableName, TableMetadata], open_catalog: Callable[[TableName], Catalog]
) -> dict[TableName, Destination]:
    """For each chosen table; UsageError when the words do not fit together."""
    if request.to is None and request.location is None:
        if request.maps or request.new_uuid is not None:
            raise UsageError("--map and --uuid are for another place", "say which: --to CATALOG.NAMESPACE.TABLE --location URI")
        return {name: Destination(name) for name in tables}
    names = _renamed(request, list(tables))
    homes = {name: open_catalog(names[name]).home(names[name]) for name in tables}
    folders = {name: _folder(request, names[name], homes[name]) for name in tables}
    found = {name: Destination(names[name], _moves(request, folders[name], each)) for name, each in tables.items()}
    _refuse_nested({name: each for name, each in found.items() if each.moves is not None}, tables)
    return found


def _renamed(request: RestoreRequest, tables: list[TableName]) -> dict[TableName, TableName]:
    """`other.*` keeps namespace and name, `other.sales.*` the name; anything else is the name of the only table."""
    to = request.to
    if to is None:
        if len(tables) != 1:
            raise UsageError(f"{len(tables)} tables cannot all lie there", "name one table, or give them names: --to CATALOG.*")
        return {tables[0]: TableName(NAME, (), plain(request.location or ""))}
    catalog, *levels = split_levels(to)
    if levels and levels[-1] == "*":
        namespace = tuple(levels[:-1])
        renamed = {table: TableName(catalog, namespace or table.namespace, table.name) for table in tables}
        if len(set(renamed.values())) < len(renamed):
            raise UsageError(f"two tables would become one of {to}", f"keep their namespaces: --to {catalog}.*")
        return renamed
    if len(tables) != 1:
        raise UsageError(f"{len(tables)} tables cannot all become {to}", f"give a pattern: --to {catalog}.*")
    if len(levels) < 2:
        raise UsageError(f"not a full table name: {to!r}", "write --to CATALOG.NAMESPACE.TABLE, or CATALOG.* to keep the names")
    return {tables[0]: TableName(catalog, tuple(levels[:-1]), levels[-1])}


def _folder(request: RestoreRequest, name: TableName, home: str | None) -> str:
    if request.location is None:
        if home is None:
            raise UsageError(f"no place is given for {name}", "say where its files go: --location URI")
        return home
    folder = request.location.rstrip("/")
    if request.to is not None and request.to.endswith("*"):
        folder = "/".join((folder, *name.namespace, name.name))
    if as_folder(folder) is None:
        raise UsageError(f"{request.location!r} is no folder", "give a URI or an absolute path: s3://bucket/lake/table")
    if home is not None and as_folder(home) != as_folder(folder):
        raise UsageError(f"{name} must lie at {home}: the folders of its catalog are the names", "leave --location away")
    return folder if home is None else home


def _moves(request: RestoreRequest, folder: str, metadata: TableMetadata) -> PathMap | None:
    if as_folder(folder) == as_folder(metadata.location) and not request.maps:
        return None
    given = {as_folder(source) for source, _ in request.maps}
    own = (pair for pair in _own(metadata, folder) if as_folder(pair[0]) not in given)
    return PathMap((*own, *request.maps))


def _own(metadata: TableMetadata, folder: str) -> Iterable[tuple[str, str]]:
    """The location, and the folders outside it that the table writes to."""
    yield metadata.location, folder
    for prefix in metadata.write_prefixes[1:]:
        if as_folder(prefix) is not None and below(metadata.location, prefix) is None:
            scheme, authority, key = split_uri(prefix)
            yield prefix, "/".join(filter(None, (folder, "elsewhere", scheme, authority, key.strip("/"))))


def _refuse_nested(found: Mapping[TableName, Destination], tables: Mapping[TableName, TableMetadata]) -> None:
    """A table inside another's folder falls to the other's clean-up."""
    places = [(name, each.location(tables[name])) for name, each in found.items()]
    for name, place in places:
        for other, metadata in tables.items():
            if _nested(place, metadata.location):
                raise Refused(f"{place} lies in the folder of {other}, or around it", "choose a place apart: --location")
        for other, beside in places:
            if other != name and _nested(place, beside):
                raise Refused(f"{place} and {beside} lie in one another", "choose places apart: --location")


def refuse_overlap(place: str, taken: str, what: str) -> None:
    """Refused when one lies in the other."""
    if _nested(place, taken):
        raise Refused(f"{place} lies in {what} {taken}, or around it", "choose a place apart: --location")


def _nested(one: str, other: str) -> bool:
    return below(one, other) is not None or below(other, one) is not None


def uuid_of(request: RestoreRequest, name: TableName, metadata: TableMetadata, is_living: bool) -> str | None:
    """A new one for a copy beside its living original; always the same for the same copy, so that it can be gone on with."""
    if request.new_uuid is False and is_living:
        fact = f"the original of {name} lives, and two tables of one uuid would be one to their engines"
        raise Refused(fact, "let the copy have its own: leave --uuid away")
    wanted = is_living if request.new_uuid is None else request.new_uuid
    if not wanted:
        return None
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join((request.point, metadata.identity, str(name)))))


def lives(open_catalog: Callable[[], Catalog], name: TableName, metadata: TableMetadata, open_store: OpenStore) -> bool:
    """Whether the original has an entry still: one that cannot be read counts, a catalog that nobody knows here does not."""
    try:
        catalog = open_catalog()
        pointer = catalog.locate(name)
    except UnreadableEntry:
        return True
    except UsageError:
        return False
    try:
        store, key = open_path(pointer.metadata_location, open_store, catalog.access(name))
        found = read_metadata(pointer.served or store.read(key), normal(pointer.metadata_location))
    except BergungError:
        return True
    return found.identity == metadata.identity
