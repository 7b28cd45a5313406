"""Catalogs that give out metadata themselves: engines read that, whatever the file says that they name."""

from hashlib import sha256

from bergung.catalogs.base import Pointer
from bergung.iceberg.metadata import TableMetadata, read_metadata

ONLY, DIFFERS = "only", "differs"
"""How the record says it: the catalog named no file, or one that says something else."""


def read_served(pointer: Pointer) -> tuple[str, bytes, TableMetadata]:
    """What the catalog gives out, and the path under which it is captured, as if it were a metadata file of the table."""
    data = pointer.served or b""
    metadata = read_metadata(data, f"what the catalog gives out of {pointer.table}")
    name = f"{sha256(data).hexdigest()[:16]}.served.metadata.json"
    return f"{metadata.location.rstrip('/')}/metadata/{name}", data, metadata


def is_other(served: TableMetadata, file: TableMetadata) -> bool:
    """True when a reader of the one sees something else than a reader of the other."""
    return _seen(served) != _seen(file)


def _seen(metadata: TableMetadata) -> tuple[object, ...]:
    snapshots = {(each.snapshot_id, each.manifest_list) for each in metadata.snapshots}
    refs = {(name, ref.snapshot_id) for name, ref in metadata.refs.items()}
    return metadata.identity, metadata.location, metadata.current_snapshot_id, metadata.schema_id, snapshots, refs
