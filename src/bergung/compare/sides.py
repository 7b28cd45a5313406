"""A table that is compared: its pointer, its metadata file, and how others than we reach its files."""

from dataclasses import dataclass, replace
from datetime import datetime

from bergung.catalogs.base import Pointer
from bergung.catalogs.select import Selected
from bergung.errors import MissingObject, Refused, UnsupportedTable
from bergung.iceberg.definition import Definition, read_definition
from bergung.iceberg.metadata import TableMetadata, read_metadata
from bergung.spark.tables import TableAt
from bergung.stores.access import Access
from bergung.stores.base import OpenStore
from bergung.stores.open import open_path
from bergung.stores.s3.store import S3Store


@dataclass(frozen=True)
class Side:
    """One of the two, as it was when its pointer was read."""

    word: str
    """As the user wrote it."""
    table: TableAt
    metadata: TableMetadata
    definition: Definition
    read_at: datetime
    """When the pointer was read: what is later is not known."""


def find_side(word: str, selected: Selected, open_store: OpenStore) -> Side:
    """UnknownTable when there is no such table; UnsupportedTable and Refused when Spark could not read it as it is."""
    pointer = selected.catalog.locate(selected.table)
    location, access = pointer.metadata_location, selected.catalog.access(selected.table)
    if not location:
        raise Refused(f"the catalog names no metadata file of {word}", "compare reads tables by their metadata files only")
    store, key = open_path(location, open_store, access)
    try:
        data = store.read(key)
    except MissingObject as error:
        hint = f"bring it back from the newest point that holds it: bergung restore {word}"
        raise MissingObject(f"{word} names a metadata file that is gone: {location}", hint) from error
    metadata = read_metadata(data, location)
    _refuse_unreadable(word, metadata)
    _refuse_other_served(word, pointer, metadata)
    reached = _way_in(word, metadata, open_store, access)
    return Side(word, TableAt(location, reached), metadata, read_definition(data, location), pointer.read_at)


def _refuse_unreadable(word: str, metadata: TableMetadata) -> None:
    if metadata.encrypted:
        raise UnsupportedTable(f"{word} is encrypted with table keys", "its rows cannot be read without them")
    if metadata.uuid is None:
        raise UnsupportedTable(f"{word} has no table-uuid, and Spark reads no such table", "any commit of an engine gives it one")


def _refuse_other_served(word: str, pointer: Pointer, metadata: TableMetadata) -> None:
    if pointer.served is None:
        return
    served = read_metadata(pointer.served, f"what the catalog gives out of {word}")
    seen, read = ((each.current_snapshot_id, each.schema_id, len(each.snapshots)) for each in (served, metadata))
    if seen != read:
        fact = f"the catalog gives out other metadata of {word} than the file that it names"
        raise Refused(fact, "compare reads that file, engines what is given out; name a metadata file itself")


def _way_in(word: str, metadata: TableMetadata, open_store: OpenStore, access: tuple[Access, ...]) -> Access | None:
    """The one access of all its files: Iceberg's own readers know one for a table."""
    stores = (open_path(f"{prefix.rstrip('/')}/", open_store, access) for prefix in metadata.write_prefixes)
    found = {replace(store.way_in(key), prefix="") for store, key in stores if isinstance(store, S3Store)}
    if len(found) > 1:
        fact = f"the files of {word} are reached in {len(found)} ways: {', '.join(metadata.write_prefixes)}"
        raise Refused(fact, "give one [[access]] whose keys read all of them")
    return next(iter(found), None)
