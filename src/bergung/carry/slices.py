"""Work through slices of a stored task list: one act per file, the outcome stored, a summary returned."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from threading import Condition

import pyarrow as pa

from bergung.carry.engine import Batches
from bergung.carry.job import Durable, Job, read_part, write_named_part
from bergung.carry.rows import DONE, LISTED, Row, batched, each, error_text
from bergung.carry.tally import Tally
from bergung.carry.tasks import files_of
from bergung.errors import BergungError
from bergung.iceberg.columns import table_of
from bergung.stores.base import Store


@dataclass(frozen=True)
class Outcome:
    """What came of one file: the rows that name it, filled in; and what must be made durable."""

    rows: list[Row]
    moved_bytes: int | None = None
    """Bytes that were really carried, or read by verify; None when nothing had to be done."""
    durable: tuple[Store, str] | None = None


ROOM_BYTES = 64 * 1024 * 1024
"""So much of files that are worked on at once may be in memory, beside what each store has under way."""

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


class _Room:
    """Each takes what it needs and waits until there is so much; who needs more than there is gets all of it."""

    def __init__(self, size_bytes: int) -> None:
        self._all = self._left = size_bytes
        self._changed = Condition()

    @contextmanager
    def taken(self, size_bytes: int) -> Iterator[None]:
        """While inside."""
        wanted = min(size_bytes, self._all)
        with self._changed:
            self._changed.wait_for(lambda: self._left >= wanted)
            self._left -= wanted
        try:
            yield
        finally:
            with self._changed:
                self._left += wanted
                self._changed.notify_all()


def _outcomes(job: Job, act: Act, files: list[list[Row]]) -> Iterator[Outcome]:
    """Over a network several at once, as far as they fit: nearly all of their time is waiting."""
    if job.files_at_once == 1:
        yield from (act(job, file) for file in files)
        return
    room = _Room(ROOM_BYTES)

    def acted(file: list[Row]) -> Outcome:
        with room.taken(_bytes(file)):
            return act(job, file)

    with ThreadPoolExecutor(job.files_at_once) as pool:
        # What has not begun when one fails does not begin.
        yield from pool.map(acted, files)


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
