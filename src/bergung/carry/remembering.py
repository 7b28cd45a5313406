"""What earlier runs carried and never sealed: taken over by the files' versions, so that a first backup of days goes on."""

from collections.abc import Iterator

from bergung.carry.job import Job, read_run_part
from bergung.carry.rows import Row, listed
from bergung.errors import CorruptFile, MissingObject
from bergung.iceberg.columns import rows_of
from bergung.vault.receipts import DAMAGED, HELD

OUTCOME, REMEMBERED = "outcome", "remembered"
FACTS = ("digest", "size_bytes", "blob_key", "source_version")


def outcome(run: str, part: str) -> Row:
    """A row that stands for the stored outcome of one slice of an earlier run."""
    return {**listed({"path": part, "kind": OUTCOME}, -1, run), "state": None}


def remembered(job: Job, wanted: Row) -> Iterator[Row]:
    """The files that a stored outcome names, as files of this run's tables; an outcome that cannot be read says nothing."""
    tables = job.earlier[wanted["parent"]]
    try:
        rows = rows_of(read_run_part(job, wanted["parent"], wanted["path"]))
    except (CorruptFile, MissingObject):
        return
    for row in rows:
        if row["table"] in tables and row["state"] in (HELD, DAMAGED):
            yield {**row, "table": tables[row["table"]], "state": REMEMBERED}


def with_memory(rows: list[Row]) -> list[Row]:
    """The files that are to be carried, each with what an earlier run knew of it."""
    known = {(row["table"], row["path"]): row for row in rows if row["state"] == REMEMBERED}
    wanted = [row for row in rows if row["state"] != REMEMBERED]
    if not known:
        return wanted
    return [_filled(row, known.get((row["table"], row["path"]))) for row in wanted]


def _filled(row: Row, before: Row | None) -> Row:
    return row if before is None else {**row, **{name: before[name] for name in FACTS}}
