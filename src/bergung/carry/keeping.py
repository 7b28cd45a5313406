"""The act of a backup: one file from where the table has it into the vault."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from bergung.carry.job import Job
from bergung.carry.rows import Row, error_text
from bergung.carry.slices import Outcome
from bergung.errors import BergungError, MissingObject, SourceChanged
from bergung.stores.base import Copied, Stat, Store
from bergung.vault.blobs import Copy, Kept, keep
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
    vault, source = job.vault(), _Source(job, rows[0])
    kept = _carried_before(vault, table.folder, rows[0], source)
    kept = kept or keep(vault, table.folder, (table.location, path), source.blocks, source.copier(vault))
    filled = {
        "size_bytes": kept.size_bytes,
        "digest": kept.digest,
        "blob_key": kept.blob_key,
        "source_version": source.stat.version,
    }
    rows = [{**row, **filled, "state": _state(row, kept)} for row in rows]
    rows[0] |= {"new_files": 1, "new_bytes": kept.size_bytes}
    # A blob that was there may have been left by a killed run that had not come to make it durable.
    return Outcome(rows, kept.size_bytes if kept.is_new else None, (vault, table.folder + kept.blob_key))


def _carried_before(vault: Store, folder: str, row: Row, source: "_Source") -> Kept | None:
    """What a run that was never sealed stored of this very version of the file, if it lies there still."""
    if row["blob_key"] is None:
        return None
    if (row["source_version"], row["size_bytes"]) != (source.stat.version, source.stat.size_bytes):
        return None
    try:
        lies_there = vault.head(folder + row["blob_key"]).size_bytes == row["size_bytes"]
    except MissingObject:
        return None
    return Kept(row["blob_key"], row["digest"], row["size_bytes"], is_new=False) if lies_there else None


def _state(row: Row, kept: Kept) -> str:
    return HELD if row["declared_bytes"] in (None, kept.size_bytes) else DAMAGED


class _Source:
    """The file where the table has it; all of one version, the one that was looked at or read first."""

    def __init__(self, job: Job, row: Row) -> None:
        with _as_source():
            self.store, self.key = job.at(row["table"], row["path"])
        # What has no declared length is a metadata file, and small.
        self._declared_bytes = row["declared_bytes"] or 0
        self._stat: Stat | None = None

    @property
    def stat(self) -> Stat:
        """What is known of it; looked for when it was not read yet."""
        if self._stat is None:
            with _as_source():
                self._stat = self.store.head(self.key)
        return self._stat

    def blocks(self) -> Iterator[bytes]:
        """All of it, in the first reading found by the request that brings it."""
        with _as_source():
            if self._stat is None:
                opened = self.store.open(self.key)
                self._stat = opened.stat
                yield from opened.blocks
            else:
                yield from self.store.blocks(self.key, version=self._stat.version)

    def copier(self, vault: Store) -> Copy | None:
        """How the vault's store brings it by itself, where it does."""
        return partial(self._copy, vault) if vault.copies_from(self.store, self._declared_bytes) else None

    def _copy(self, vault: Store, key: str) -> Copied:
        stat = self.stat
        try:
            return vault.copy_from(self.store, self.key, key, version=stat)
        except (MissingObject, SourceChanged) as error:
            # The file has gone or changed.
            raise _SourceFailed(error) from error


@contextmanager
def _as_source() -> Iterator[None]:
    try:
        yield
    except BergungError as error:
        raise _SourceFailed(error) from error
