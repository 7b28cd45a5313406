"""The act of verify: read a blob and compare it with its digest."""

from zlib import crc32

from bergung.carry.job import Job
from bergung.carry.rows import Row
from bergung.carry.slices import Outcome
from bergung.errors import DamageFound, MissingObject
from bergung.stores.base import Store
from bergung.vault.blobs import version_with
from bergung.vault.documents import versions_of
from bergung.vault.receipts import DAMAGED, HELD, LEFT, MISSING


def check(job: Job, rows: list[Row]) -> Outcome:
    """Held, missing, or damaged: present with other bytes. Each content of the path is looked at once."""
    blobs = {(row["digest"], row["blob_key"]): row for row in rows}
    found = {blob: _state(job, row) for blob, row in blobs.items()}
    rows = [{**row, "state": found[row["digest"], row["blob_key"]]} for row in rows]
    read = sum(row["size_bytes"] for row in blobs.values() if row["blob_key"] is not None and _is_chosen(job, row))
    # The worst first: it is what the tally counts and names.
    return Outcome(sorted(rows, key=lambda row: row["state"] in (HELD, LEFT)), read or None)


def _state(job: Job, row: Row) -> str:
    if row["blob_key"] is None:
        return LEFT
    vault, key = job.vault(), job.tables[row["table"]].folder + row["blob_key"]
    if not _is_chosen(job, row):
        return _by_size(vault, key, row)
    try:
        version_with(vault, key, row["digest"])
    except DamageFound:
        return _by_size(vault, key, {**row, "size_bytes": -1})
    return HELD


def _is_chosen(job: Job, row: Row) -> bool:
    """Whether this run reads the bytes: another choice in every run, so that in time all are read."""
    return crc32(f"{job.run} {row['path']}".encode()) < job.share * 2**32


def _by_size(vault: Store, key: str, row: Row) -> str:
    try:
        if vault.head(key).size_bytes == row["size_bytes"]:
            return HELD
    except MissingObject:
        pass
    # What was written over it, or hides it, leaves the older versions as they were (format.md R8).
    sizes = {version.size_bytes for version in versions_of(vault, key)}
    if not sizes:
        return MISSING
    return HELD if row["size_bytes"] in sizes else DAMAGED
