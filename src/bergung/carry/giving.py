"""The acts of a restore: look what lies at the target, then bring what is not there."""

from collections.abc import Iterator

from bergung.carry.job import Job
from bergung.carry.rows import Row, error_text
from bergung.carry.slices import Outcome
from bergung.errors import DamageFound, MissingObject, ObjectExists
from bergung.iceberg.paths import is_allowed
from bergung.stores.base import Stat, Store
from bergung.stores.digest import digest_of_blocks
from bergung.vault.blobs import blocks_of, version_with
from bergung.vault.receipts import HELD, LEFT, MISSING

ABSENT, DIFFERENT, OUTSIDE, SUPERSEDED = "absent", "different", "outside", "superseded"


def look(job: Job, rows: list[Row]) -> Outcome:
    """Absent, held (intact) or different at the target; `left` when the point has no bytes of it and they are not there.

    A path outside the table's own folders is not even looked at: a record may be somebody else's work.
    """
    first = rows[0]
    contents = {row["digest"]: row for row in reversed(rows)}
    # One path can hold one content only: that which the newest snapshot sees.
    others = [{**row, "state": SUPERSEDED} for digest, row in contents.items() if digest != first["digest"]]
    return Outcome([{**first, "state": _found(job, first)}, *others])


def _found(job: Job, row: Row) -> str:
    if not is_allowed(row["path"], job.tables[row["table"]].prefixes):
        return OUTSIDE
    # Without bytes to bring, another file at its place is no better than none, and must not go.
    absent, different = (LEFT, LEFT) if row["blob_key"] is None else (ABSENT, DIFFERENT)
    store, key = job.at(row["table"], row["path"])
    try:
        stat = store.head(key)
    except MissingObject:
        return absent
    return HELD if _is_intact(job, row, (store, key, stat)) else different


def _is_intact(job: Job, row: Row, found: tuple[Store, str, Stat]) -> bool:
    store, key, stat = found
    if row["blob_key"] is None:
        return row["declared_bytes"] in (None, stat.size_bytes)
    if stat.size_bytes != row["size_bytes"]:
        return False
    return job.trust_size or digest_of_blocks(store.blocks(key, version=stat.version)) == row["digest"]


def give(job: Job, rows: list[Row]) -> Outcome:
    """Bring a file that `look` found absent; one that it found different only when the job says so."""
    row = rows[0]
    if row["state"] != ABSENT and not (row["state"] == DIFFERENT and job.over):
        return Outcome(rows)
    store, key = job.at(row["table"], row["path"])
    try:
        if row["state"] == DIFFERENT:
            _make_room(job, row, (store, key))
        _bring(job, row, (store, key))
    except DamageFound as error:
        return Outcome([{**row, "state": MISSING, "error": error_text(error)}])
    return Outcome([{**row, "state": HELD}], row["size_bytes"], (store, key))


def _make_room(job: Job, row: Row, target: tuple[Store, str]) -> None:
    """What lies there goes only when the vault really has the right bytes: DamageFound before it is touched."""
    store, key = target
    version_with(job.vault(), job.tables[row["table"]].folder + row["blob_key"], row["digest"])
    store.delete(key)


def _bring(job: Job, row: Row, target: tuple[Store, str]) -> None:
    store, key = target
    vault, blob = job.vault(), job.tables[row["table"]].folder + row["blob_key"]
    try:
        store.put_if_absent(key, blocks_of(vault, blob, row["digest"]))
    except (DamageFound, MissingObject):
        # Somebody wrote over the blob or hid it: an older version may still have the bytes (format.md R8).
        store.put_if_absent(key, _blocks(vault, blob, version_with(vault, blob, row["digest"])))
    except ObjectExists:
        # A repeated task: the first try has brought it.
        if digest_of_blocks(store.blocks(key)) != row["digest"]:
            raise


def _blocks(vault: Store, key: str, version: str) -> Iterator[bytes]:
    yield from vault.blocks(key, version=version)
