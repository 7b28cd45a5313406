"""From files that are to be carried to stored task lists, cut into slices of even weight."""

from collections.abc import Iterator

import pyarrow as pa

from bergung.carry.engine import Batches
from bergung.carry.job import Job, write_part
from bergung.carry.remembering import REMEMBERED, with_memory
from bergung.carry.rows import LISTED, SLICE, Row, batched, each
from bergung.iceberg.columns import rows_of, table_of

SLICE_BYTES = 64 * 1024 * 1024
SLICE_FILES = 256
PART_ROWS = 4096


def plan_parts(job: Job, batches: Batches) -> Batches:
    """Store the rows that are still to be carried, each file once; yield its slices, and settled rows as they are.

    All rows of one file must be in one call: the rows come shuffled by table and path.
    """
    return batched(SLICE, _planned(job, each(batches)))


def _planned(job: Job, rows: Iterator[Row]) -> Iterator[Row]:
    waiting: list[Row] = []
    for row in rows:
        if _is_settled(row):
            yield row
        else:
            waiting.append(row)
    waiting = with_memory(waiting)
    # Rows of one file stand together and the one that the newest snapshot sees comes first.
    waiting.sort(key=lambda row: (row["table"], row["path"], row["rank"] or 0))
    for chunk in _chunks(waiting):
        part = write_part(job, "tasks", table_of(LISTED, chunk))
        yield from _slices(part, chunk)


def _is_settled(row: Row) -> bool:
    return row["error"] is not None or row["state"] not in (None, REMEMBERED)


def _chunks(rows: list[Row]) -> Iterator[list[Row]]:
    """Stretches of rows; never a cut between two rows of one file."""
    start = 0
    for end in range(1, len(rows) + 1):
        if end == len(rows) or (end - start >= PART_ROWS and not _same_file(rows[end - 1], rows[end])):
            yield rows[start:end]
            start = end


def _slices(part: str, rows: list[Row]) -> Iterator[Row]:
    start, weight = 0, 0
    for end, row in enumerate(rows):
        is_new = end == 0 or not _same_file(rows[end - 1], row)
        if is_new and end > start and (weight >= SLICE_BYTES or end - start >= SLICE_FILES):
            yield _slice(part, start, end, weight)
            start, weight = end, 0
        weight += (row["declared_bytes"] or row["size_bytes"] or 0) if is_new else 0
    if rows:
        yield _slice(part, start, len(rows), weight)


def _slice(part: str, start: int, end: int, weight: int) -> Row:
    return {"part": part, "start": start, "count": end - start, "bytes": weight}


def _same_file(one: Row, other: Row) -> bool:
    return bool(one["table"] == other["table"] and one["path"] == other["path"])


def files_of(rows: pa.Table) -> Iterator[list[Row]]:
    """The files of a stretch of a task list, each with all rows that name it."""
    group: list[Row] = []
    for row in rows_of(rows):
        if group and not _same_file(group[0], row):
            yield group
            group = []
        group.append(row)
    if group:
        yield group
