"""Drives stored slices through an engine in waves, so that progress, cancel and resume are the same everywhere."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event, Thread

import pyarrow as pa

from bergung.carry.effects import Effects
from bergung.carry.engine import Map, Spread, Step
from bergung.carry.job import Job
from bergung.carry.rows import DONE, Row, error_of
from bergung.carry.slices import Act, done_part, work
from bergung.carry.tally import Tally, tally_of
from bergung.errors import BergungError, Interrupted
from bergung.iceberg.columns import rows_of, table
from bergung.plan.waves import Slice, spread, take_wave, wave_bytes
from bergung.stores.braked import BrakedOpen, pace_of
from bergung.vault.layout import run_key

WAVE = pa.schema(
    [("part", pa.string()), ("start", pa.int64()), ("count", pa.int64()), ("bytes", pa.int64()), ("worker", pa.int32())]
)
LOOK_SECONDS = 1.0
PAGE = 1000
AGAIN = "run the same command again: it goes on where it stopped"


@dataclass
class Totals:
    """What all waves came to."""

    files: int = 0
    bytes: int = 0
    moved_files: int = 0
    moved_bytes: int = 0
    tally: Tally = field(default_factory=Tally)

    def take(self, done: pa.Table) -> None:
        """Add the summaries of a wave."""
        for row in rows_of(done):
            for name in ("files", "bytes", "moved_files", "moved_bytes"):
                setattr(self, name, getattr(self, name) + row[name])
            self.tally.merge(tally_of(row["tally"]))

    def merge(self, other: "Totals") -> None:
        """Add what another pass over the same tables came to."""
        for name in ("files", "bytes", "moved_files", "moved_bytes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.tally.merge(other.tally)

    def and_(self, other: "Totals") -> "Totals":
        """Both together, without the tallies, whose tables are numbered by run."""
        names = ("files", "bytes", "moved_files", "moved_bytes")
        return Totals(**{name: getattr(self, name) + getattr(other, name) for name in names})


def slices_of(rows: Sequence[Row]) -> list[Slice]:
    """The slices among the rows that a planning step gave back."""
    return [Slice(row["part"], row["start"], row["count"], row["bytes"]) for row in rows if row["part"] is not None]


def run_waves(effects: Effects, job: Job, act: Act, slices: Sequence[Slice]) -> Totals:
    """Work through all slices; Interrupted between two waves when somebody asks for it."""
    totals, waiting, started = Totals(), list(slices), effects.clock.monotonic()
    while waiting:
        _refuse_stopped(effects, job)
        seconds, limit = effects.clock.monotonic() - started, effects.brakes.bytes_per_second
        count = take_wave(waiting, wave_bytes(effects.engine().parallelism, totals.bytes, seconds, limit))
        wave, waiting = waiting[:count], waiting[count:]
        totals.take(_run_wave(effects, _braked(effects, job), act, _Progress(slices, wave, replace(totals))))
    effects.watch.progress(totals.files, totals.bytes, (totals.files, totals.bytes))
    return totals


def _refuse_stopped(effects: Effects, job: Job) -> None:
    if effects.watch.stopped() or _is_cancelled(job):
        raise Interrupted("stopped between two waves", AGAIN)
    window = effects.brakes.window
    if window is not None and not window.is_open(effects.clock.now().astimezone()):
        raise Interrupted(f"the window {window} is not open", f"{AGAIN}, from {window.opens:%H:%M} on")


def _braked(effects: Effects, job: Job) -> Job:
    if not effects.brakes.is_slow:
        return job
    workers = effects.engine().parallelism * job.files_at_once
    return replace(job, open=BrakedOpen(job.open, pace_of(effects.brakes, workers)))


def _is_cancelled(job: Job) -> bool:
    return any(job.runs().list(run_key(job.run, "cancel.json")))


@dataclass(frozen=True)
class _Progress:
    """Where a wave stands: which of its slices have stored their outcome."""

    slices: Sequence[Slice]
    wave: Sequence[Slice]
    before: Totals
    stored: set[str] = field(default_factory=set)

    def look(self, effects: Effects, job: Job) -> None:
        # A look that fails is no reason to stop what runs.
        with suppress(BergungError):
            self._tell(effects, job)

    def _tell(self, effects: Effects, job: Job) -> None:
        prefixes = {self._prefix(slice_) for slice_ in self.wave if done_part(slice_.part, slice_.start) not in self.stored}
        for prefix in prefixes:
            self.stored.update(stat.key.removeprefix(run_key(job.run, "")) for stat in job.runs().list(run_key(job.run, prefix)))
        done = [slice_ for slice_ in self.wave if done_part(slice_.part, slice_.start) in self.stored]
        files, bytes_ = sum(slice_.count for slice_ in done), sum(slice_.bytes for slice_ in done)
        total = sum(slice_.count for slice_ in self.slices), sum(slice_.bytes for slice_ in self.slices)
        effects.watch.progress(self.before.files + files, self.before.bytes + bytes_, total)

    def _prefix(self, slice_: Slice) -> str:
        """Of the outcomes of a part; of all where they fit on one page of a bucket's list."""
        name = done_part(slice_.part, slice_.start)
        return name.rpartition("/" if len(self.slices) <= PAGE else "-")[0]


def _run_wave(effects: Effects, job: Job, act: Act, progress: _Progress) -> pa.Table:
    workers = spread(progress.wave, effects.engine().parallelism)
    columns = {name: [getattr(slice_, name) for slice_ in progress.wave] for name in ("part", "start", "count", "bytes")}
    rows = table(WAVE, {**columns, "worker": workers})
    steps: list[Step] = [Spread("worker", max(workers) + 1), Map(partial(work, job, act), DONE)]
    done = _looking(lambda: progress.look(effects, job), lambda: effects.engine().run(rows, steps))
    stop = next((row["error"] for row in rows_of(done) if row["error"] is not None), None)
    if stop is not None:
        raise error_of(stop)
    return done


def _looking(look: Callable[[], None], act: Callable[[], pa.Table]) -> pa.Table:
    """Do the one while a thread does the other once a second."""
    over = Event()

    def watch() -> None:
        while not over.wait(LOOK_SECONDS):
            look()

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        return act()
    finally:
        over.set()
        thread.join()
