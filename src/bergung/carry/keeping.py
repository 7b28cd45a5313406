"""The act of a backup: one file from where the table has it into the vault."""

from collections.abc import Iterator
from functools import partial

from bergung.carry.job import Job
from bergung.carry.rows import Row, error_text
from bergung.carry.slices import Outcome
from bergung.errors import BergungError, MissingObject, SourceChanged
from bergung.stores.base import Copied, Stat, Store
from bergung.vault.blobs import Kept, keep
from bergung.vault.receipts import DAMAGED, HELD, MISSING

TRIES = 3


class _SourceFailed(Exception):
    """Raised inside the blocks of the source, so that the vault's own failures are not taken for it."""

    def __init__(self, error: BergungError) -> None:
        super().__init__(error.message)
        self.error = error


def keep_file(job: Job, rows: list[Row]) -> Outcome:
    """Held, damaged or missing; a source that cannot be read is an error of its table, a vault that cannot, of the run."""
    path = rows[0]["path"]
    error: BergungError = SourceChanged(f"{path} changed while it was read", "run the backup again")
    for _ in range(TRIES):
        try:
            return _keep(job, rows)
        except _SourceFailed as failed:
            error = failed.error
            if isinstance(error, MissingObject):
                return Outcome([{**row, "state": MISSING} for row in rows])
            if not isinstance(error, SourceChanged):
                break
    return Outcome([{**row, "error": error_text(error)} for row in rows])


def _keep(job: Job, rows: list[Row]) -> Outcome:
    table, path = job.tables[rows[0]["table"]], rows[0]["path"]
    source, key, stat = _source(job, rows[0])
    vault = job.vault()
    kept = _carried_before(vault, table.folder, rows[0], stat)
    copy = partial(_copy, vault, (source, key, stat)) if vault.copies_from(source) else None
    kept = kept or keep(vault, table.folder, (table.location, path), lambda: _blocks(source, key, stat), copy)
    filled = {
        "size_bytes": kept.size_bytes,
        "digest": kept.digest,
        "blob_key": kept.blob_key,
        "source_version": stat.version,
    }
    rows = [{**row, **filled, "state": _state(row, kept)} for row in rows]
    rows[0] |= {"new_files": 1, "new_bytes": kept.size_bytes}
    # A blob that was there may have been left by a killed run that had not come to make it durable.
    return Outcome(rows, kept.size_bytes if kept.is_new else None, (vault, table.folder + kept.blob_key))


def _carried_before(vault: Store, folder: str, row: Row, stat: Stat) -> Kept | None:
    """What a run that was never sealed stored of this very version of the file, if it lies there still."""
    if row["blob_key"] is None or row["source_version"] != stat.version or row["size_bytes"] != stat.size_bytes:
        return None
    try:
        lies_there = vault.head(folder + row["blob_key"]).size_bytes == row["size_bytes"]
    except MissingObject:
        return None
    return Kept(row["blob_key"], row["digest"], row["size_bytes"], is_new=False) if lies_there else None


def _state(row: Row, kept: Kept) -> str:
    return HELD if row["declared_bytes"] in (None, kept.size_bytes) else DAMAGED


def _source(job: Job, row: Row) -> tuple[Store, str, Stat]:
    try:
        store, key = job.at(row["table"], row["path"])
        return store, key, store.head(key)
    except BergungError as error:
        raise _SourceFailed(error) from error


def _copy(vault: Store, source: tuple[Store, str, Stat], key: str) -> Copied:
    """By the vault's store itself; when the file has gone or changed, that is the source's failure."""
    store, source_key, stat = source
    try:
        return vault.copy_from(store, source_key, key, version=stat.version)
    except (MissingObject, SourceChanged) as error:
        raise _SourceFailed(error) from error


def _blocks(source: Store, key: str, stat: Stat) -> Iterator[bytes]:
    try:
        yield from source.blocks(key, version=stat.version)
    except BergungError as error:
        raise _SourceFailed(error) from error
