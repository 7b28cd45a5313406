"""Work through slices of a stored task list: one act per file, the outcome stored, a summary returned."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache, partial

import pyarrow as pa

from bergung.carry.engine import Batches
from bergung.carry.job import Durable, Job, read_part, write_named_part
from bergung.carry.rows import DONE, LISTED, Row, batched, each, error_text
from bergung.carry.tally import Tally
from bergung.carry.tasks import files_of
from bergung.errors import BergungError
from bergung.iceberg.columns import table_of
from bergung.stores.base import Store
from bergung.stores.together import together


@dataclass(frozen=True)
class Outcome:
    """What came of one file: the rows that name it, filled in; and what must be made durable."""

    rows: list[Row]
    moved_bytes: int | None = None
    """Bytes that were really carried, or read by verify; None when nothing had to be done."""
    durable: tuple[Store, str] | None = None


MIB = 1024 * 1024
AT_ONCE = ((4 * MIB, 16), (16 * MIB, 3), (sys.maxsize, 1))
"""Up to which size how many files: so many times that may be in memory."""

Act = Callable[[Job, list[Row]], Outcome]
"""Gets all rows that name one file, the one that the newest snapshot sees first."""


@dataclass
class _Sum:
    files: int = 0
    bytes: int = 0
    moved_files: int = 0
    moved_bytes: int = 0
    tally: Tally = field(default_factory=Tally)
    rows: list[Row] = field(default_factory=list)
    durable: Durable = field(default_factory=Durable)
    error: str | None = None


def work(job: Job, act: Act, batches: Batches) -> Batches:
    """Each slice: act on each of its files, make what was written durable, store the outcome."""
    return batched(DONE, _worked(job, act, each(batches)))


def done_part(part: str, start: int) -> str:
    """Where the outcome of a slice lies."""
    return f"{part.replace('tasks/', 'done/', 1).removesuffix('.parquet')}-{start:09d}.parquet"


def _worked(job: Job, act: Act, slices: Iterator[Row]) -> Iterator[Row]:
    """One slice is made durable, which is waiting for a disk, while the next is read and hashed."""
    # Slices of one part come one after another.
    read = lru_cache(1)(partial(read_part, job))
    with ThreadPoolExecutor(1) as behind:
        settling: Future[Row] | None = None
        for slice_ in slices:
            total = _acted(job, act, slice_, read)
            if settling is not None:
                yield settling.result()
            settling = behind.submit(_settled, job, slice_, total)
        if settling is not None:
            yield settling.result()


def _acted(job: Job, act: Act, slice_: Row, read: Callable[[str], pa.Table]) -> _Sum:
    total = _Sum()
    try:
        rows = read(slice_["part"]).slice(slice_["start"], slice_["count"])
        for outcome in _outcomes(job, act, list(files_of(rows))):
            _add(total, outcome)
    except BergungError as failure:
        total.error = error_text(failure)
    return total


def _outcomes(job: Job, act: Act, files: list[list[Row]]) -> Iterator[Outcome]:
    """Over a network several at once, nearly all of their time is waiting; what goes in parts is parallel in itself."""
    least = -1
    for most_bytes, at_once in AT_ONCE:
        chosen = [file for file in files if least < _bytes(file) <= most_bytes]
        yield from together(min(at_once, job.files_at_once), partial(act, job), chosen)
        least = most_bytes


def _bytes(file: list[Row]) -> int:
    return int(file[0]["declared_bytes"] or file[0]["size_bytes"] or 0)


def _settled(job: Job, slice_: Row, total: _Sum) -> Row:
    try:
        if total.error is None:
            total.durable.settle()
            write_named_part(job, done_part(slice_["part"], slice_["start"]), table_of(LISTED, total.rows))
    except BergungError as failure:
        total.error = error_text(failure)
    numbers = {name: getattr(total, name) for name in ("files", "bytes", "moved_files", "moved_bytes", "error")}
    return {"part": slice_["part"], "start": slice_["start"], **numbers, "tally": total.tally.to_text()}


def _add(total: _Sum, outcome: Outcome) -> None:
    first = outcome.rows[0]
    total.files += 1
    total.bytes += first["size_bytes"] or 0
    total.moved_files += outcome.moved_bytes is not None
    total.moved_bytes += outcome.moved_bytes or 0
    total.tally.add(first)
    for row in outcome.rows[1:]:
        if row["state"] == "superseded":
            total.tally.add(row)
    total.rows += outcome.rows
    if outcome.durable is not None:
        total.durable.add(*outcome.durable)
