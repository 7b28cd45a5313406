"""A point's receipts, walked down from its metadata files to every file that they reach."""

from collections.abc import Iterator

from bergung.carry.engine import Batches
from bergung.carry.job import Job
from bergung.carry.rows import LISTED, Row, batched, each, error_text, listed
from bergung.errors import DamageFound
from bergung.iceberg.columns import rows_of
from bergung.model.files import FileKind
from bergung.vault.receipts import MISSING, read_receipts


def open_lists(job: Job, batches: Batches) -> Batches:
    """For each manifest list, the manifests that it names."""
    return batched(LISTED, (child for row in each(batches) for child in children(job, row)))


def unique(batches: Batches) -> Batches:
    """Each file once, in the state that the newest snapshot sees; all its rows must be in one call."""
    rows = sorted(each(batches), key=lambda row: -(row["rank"] or 0))
    return batched(LISTED, iter({(row["table"], row["path"], row["digest"], row["receipts"]): row for row in rows}.values()))


def reach(job: Job, batches: Batches) -> Batches:
    """Each row itself, and the files below it when it is a manifest. Rows come out as work to do, lost ones as they are."""
    return batched(LISTED, (out for row in each(batches) for out in _reached(job, row)))


def _reached(job: Job, row: Row) -> Iterator[Row]:
    yield _to_do(row)
    if row["kind"] == FileKind.MANIFEST and row["error"] is None:
        yield from map(_to_do, children(job, row))


def _to_do(row: Row) -> Row:
    return row if row["state"] == MISSING else {**row, "state": None}


def children(job: Job, row: Row) -> Iterator[Row]:
    """The rows of a metadata file's receipts; one row with an error when they are lost."""
    if row["receipts"] is None:
        return
    try:
        found = read_receipts(job.vault(), job.tables[row["table"]].folder, row["digest"], row["receipts"])
    except DamageFound as error:
        yield {**row, "state": None, "error": error_text(error)}
        return
    for child in rows_of(found):
        yield {**listed(child, row["table"], row["path"]), "rank": row["rank"]}
