"""How far a run has come, told while it runs: bars on a terminal, else a line now and then."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from bergung.cli import telling, words
from bergung.clock import Clock, SystemClock, to_text

LINE_SECONDS = 30.0


@dataclass(frozen=True)
class Standing:
    """Where a run stands; `since` is when its step began to carry."""

    step: str = "start"
    files: int = 0
    bytes: int = 0
    total_files: int = 0
    total_bytes: int = 0
    since: float = 0.0
    first_bytes: int = 0
    """What was done already at the first word of progress."""

    def rate(self, now: float) -> float:
        """Bytes a second since the step began."""
        return (self.bytes - self.first_bytes) / (now - self.since) if now > self.since else 0.0

    def seconds_left(self, now: float) -> float | None:
        """At this rate; None when nothing can be said."""
        rate = self.rate(now)
        return (self.total_bytes - self.bytes) / rate if rate > 0 and self.total_bytes >= self.bytes else None


class Watching:
    """Takes in what a verb tells; how it is shown is the business of those below."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock or SystemClock()
        self.standing = Standing()
        self.on_step: Callable[[str], None] | None = None
        self._is_stopped = False

    def step(self, name: str) -> None:
        """A named step begins."""
        self.standing = Standing(name)
        if self.on_step is not None:
            self.on_step(name)

    def progress(self, files: int, bytes_: int, total: tuple[int, int]) -> None:
        """So much of so much has been carried."""
        if not self.standing.since:
            self.standing = replace(self.standing, since=self.clock.monotonic(), first_bytes=bytes_)
        self.standing = replace(
            self.standing, files=files, bytes=bytes_, total_files=max(files, total[0]), total_bytes=max(bytes_, total[1])
        )

    def stopped(self) -> bool:
        """True once the user wants no further wave."""
        return self._is_stopped

    def stop(self) -> None:
        """No further wave."""
        self._is_stopped = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Nothing to put away."""


class LineWatching(Watching):
    """A line every thirty seconds: text on standard error, or JSON among the results."""

    def __init__(self, as_json: bool, every_seconds: float = LINE_SECONDS, clock: Clock | None = None) -> None:
        super().__init__(clock)
        self.as_json = as_json
        self._every_seconds = every_seconds
        self._over = Event()
        self._thread = Thread(target=self._tell, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def _tell(self) -> None:
        while not self._over.wait(self._every_seconds):
            if self.as_json:
                telling.print_json(facts(self.standing, self.clock))
            else:
                print(line(self.standing, self.clock.monotonic()), file=sys.stderr, flush=True)


def line(standing: Standing, now: float) -> str:
    """One plain line."""
    if not standing.since:
        return f"{standing.step}…"
    done = f"{standing.files:,} of {words.many(standing.total_files, 'file')}"
    bytes_ = f"{words.size(standing.bytes)} of {words.size(standing.total_bytes)}"
    left = standing.seconds_left(now)
    ends = f", {words.seconds(left)} left" if left is not None else ""
    return f"{standing.step}: {done}, {bytes_}, {words.size(int(standing.rate(now)))}/s{ends}"


def facts(standing: Standing, clock: Clock) -> dict[str, Any]:
    """The same for programs."""
    now = clock.monotonic()
    left = standing.seconds_left(now)
    return {
        "type": "progress",
        "at": to_text(clock.now()),
        "step": standing.step,
        "files": standing.files,
        "bytes": standing.bytes,
        "total_files": standing.total_files,
        "total_bytes": standing.total_bytes,
        "bytes_per_second": int(standing.rate(now)),
        "seconds_left": None if left is None else round(left),
    }


class BarWatching(Watching):
    """A bar on the terminal's standard error, gone when the run is over."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__(clock)
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[told]}", markup=False),
        )
        self._bars = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bars.add_task(self.standing.step, total=None, told="")

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bars.stop()

    def step(self, name: str) -> None:
        super().step(name)
        self._bars.update(self._task, description=name, total=None, completed=0, told="")

    def progress(self, files: int, bytes_: int, total: tuple[int, int]) -> None:
        super().progress(files, bytes_, total)
        standing = self.standing
        told = line(standing, self.clock.monotonic()).removeprefix(f"{standing.step}: ")
        self._bars.update(self._task, total=standing.total_bytes or 1, completed=standing.bytes, told=told)


def watching(as_json: bool) -> Watching:
    """A bar where somebody looks, lines elsewhere."""
    if sys.stderr.isatty() and not as_json:
        return BarWatching()
    return LineWatching(as_json)
