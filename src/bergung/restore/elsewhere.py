"""A table under another name and other paths: what its place must be like, and its new metadata file."""

import re
import uuid
from dataclasses import dataclass
from datetime import datetime

from bergung.carry.job import Job, TableJob
from bergung.carry.walking import Root, children_of
from bergung.errors import Busy, ObjectExists, Refused, UnsupportedTable
from bergung.iceberg.metadata import read_metadata
from bergung.iceberg.protection import protecting_tags
from bergung.iceberg.relocate.metadata import Changes, MovedMetadata, relocate_metadata
from bergung.iceberg.survey import reached_by
from bergung.model.files import NOTED_KINDS
from bergung.restore.destination import refuse_overlap
from bergung.stores.digest import read_verified
from bergung.stores.open import open_path
from bergung.vault.receipts import HELD

_NUMBER = re.compile(r"v?(\d+)\b")
_METADATA = re.compile(r"[^/]*\.metadata\.json(\.gz)?$")


@dataclass(frozen=True)
class NewMetadata:
    """The metadata file of a table that moved: where it goes, and its bytes."""

    path: str
    moved: MovedMetadata


def refuse_place(job: Job, root: Root) -> None:
    """A place must be free, apart from the vault and from where the table was; and the table one that can move."""
    table = job.tables[root.number]
    if table.moves is None:
        return
    if root.entry.encrypted:
        fact = f"{table.name} is encrypted with table keys: nobody can give its files other paths"
        raise UnsupportedTable(fact, "restore it to its own place: leave --to and --location away")
    refuse_overlap(table.place, job.vault_url, "the vault")
    store, key = open_path(table.place, job.open, table.access)
    prefix = f"{key}/metadata/" if key else "metadata/"
    for stat in store.list(prefix):
        if _METADATA.fullmatch(stat.key.removeprefix(prefix)) and not _is_ours(job, root, store.read(stat.key)):
            raise Busy(f"another table lies at {table.place}: {stat.key}", "choose a place with nothing in it: --location")


def _is_ours(job: Job, root: Root, data: bytes) -> bool:
    """What an interrupted restore left, to go on with: of the same uuid, or an older file of the same table."""
    return read_metadata(data, "metadata").identity == (job.tables[root.number].uuid or root.metadata.identity)


def new_metadata(job: Job, root: Root, now: datetime, days: int) -> NewMetadata:
    """Relocated, with tags that protect what came back, and without what did not come along."""
    table, file = job.tables[root.number], root.entry.metadata_file
    assert table.moves is not None
    data = read_verified(job.vault(), table.folder + file.blob_key, file.digest)
    tags = protecting_tags(root.metadata, int(now.timestamp() * 1000), days) if days else {}
    changes = Changes(uuid=table.uuid, absent=_absent(job, root), tags=tags)
    moved = relocate_metadata(data, root.entry.metadata_location, table.moves, changes)
    return NewMetadata(_path(table, root, moved.data), moved)


def _absent(job: Job, root: Root) -> frozenset[str]:
    """Older metadata files and statistics that the point has not."""
    held = {row["path"] for row in children_of(job, root) if row["state"] == HELD and row["blob_key"] is not None}
    return frozenset(file.path for file in reached_by(root.metadata) if file.kind in NOTED_KINDS and file.path not in held)


def _path(table: TableJob, root: Root, data: bytes) -> str:
    """Beside where the old one would be, under the same number: a name of its own for every content."""
    assert table.moves is not None
    folder, _, name = table.moves.of(root.entry.metadata_location).rpartition("/")
    number = _NUMBER.match(name)
    packed = ".gz" if data.startswith(b"\x1f\x8b") else ""
    return f"{folder}/{int(number[1]) if number else 0:05d}-{uuid.uuid5(uuid.NAMESPACE_URL, data.hex())}{packed}.metadata.json"


def write_metadata(job: Job, root: Root, made: NewMetadata) -> int | None:
    """The bytes written; None when they were there. Read again before anybody is told of it."""
    store, key = open_path(made.path, job.open, job.tables[root.number].access)
    try:
        store.put_if_absent(key, [made.moved.data])
        written = len(made.moved.data)
    except ObjectExists:
        written = None
    store.make_durable([key])
    if store.read(key) != made.moved.data:
        raise Refused(f"{made.path} is there with other bytes", "choose a place with nothing in it: --location")
    return written
