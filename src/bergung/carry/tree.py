"""A point's receipts, walked down from its metadata files to every file that they reach."""

from collections.abc import Iterable, Iterator
from functools import partial

from bergung.carry.engine import Batches
from bergung.carry.job import Job
from bergung.carry.rows import LISTED, Row, batched, each, error_text, listed, several
from bergung.errors import DamageFound
from bergung.iceberg.columns import rows_of, values
from bergung.iceberg.manifest_list import read_manifest_list
from bergung.iceberg.manifests import read_live_files
from bergung.model.files import FileKind
from bergung.stores.digest import read_verified
from bergung.vault.receipts import MISSING, read_receipts


def open_lists(job: Job, batches: Batches) -> Batches:
    """For each manifest list, the manifests that it names."""
    return batched(LISTED, several(job.files_at_once, partial(children, job), batches))


def unique(batches: Batches) -> Batches:
    """Each file once, in the state that the newest snapshot sees; all its rows must be in one call."""
    rows = sorted(each(batches), key=lambda row: -(row["rank"] or 0))
    return batched(LISTED, iter({(row["table"], row["path"], row["digest"], row["receipts"]): row for row in rows}.values()))


def reach(job: Job, batches: Batches) -> Batches:
    """Each row itself, and the files below it when it is a manifest. Rows come out as work to do, lost ones as they are."""
    return batched(LISTED, several(job.files_at_once, partial(_reached, job), batches))


def _reached(job: Job, row: Row) -> Iterator[Row]:
    yield _to_do(row)
    if row["kind"] == FileKind.MANIFEST and row["error"] is None:
        yield from map(_to_do, children(job, row))


def _to_do(row: Row) -> Row:
    return row if row["state"] == MISSING else {**row, "state": None}


def children(job: Job, row: Row) -> Iterator[Row]:
    """The rows of a metadata file's receipts; one row with an error when they are lost, or do not name all that it names."""
    if row["receipts"] is None:
        return
    try:
        found = read_receipts(job.vault(), job.tables[row["table"]].folder, row["digest"], row["receipts"])
        refuse_gaps(row["path"], _named_by(job, row), values(found.column("path")))
    except DamageFound as error:
        yield {**row, "state": None, "error": error_text(error)}
        return
    for child in rows_of(found):
        yield {**listed(child, row["table"], row["path"]), "rank": row["rank"]}


def refuse_gaps(path: str, named: Iterable[str], received: Iterable[str]) -> None:
    """DamageFound when receipts leave out what their metadata file names (format.md R12)."""
    gaps = set(named) - set(received)
    if gaps:
        fact = f"the receipts of {path} leave out {len(gaps)} files that it names, such as {min(gaps)}"
        raise DamageFound(fact, "somebody else wrote them; use an older point: bergung points")


def _named_by(job: Job, row: Row) -> list[str]:
    """What a held manifest list or manifest names; nothing when its own bytes are lost, which is found elsewhere."""
    if row["kind"] not in (FileKind.MANIFEST_LIST, FileKind.MANIFEST) or row["blob_key"] is None:
        return []
    try:
        data = read_verified(job.vault(), job.tables[row["table"]].folder + row["blob_key"], row["digest"])
    except DamageFound:
        return []
    if row["kind"] == FileKind.MANIFEST_LIST:
        return [manifest.path for manifest in read_manifest_list(data, row["path"])]
    return values(read_live_files(data, row["path"]).column("path"))
