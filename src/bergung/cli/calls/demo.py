"""The story of a lake that is lost and comes back, told while it happens."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bergung.carry.effects import Effects, here
from bergung.cli import telling, words
from bergung.cli.door import Door
from bergung.cli.telling import Result
from bergung.clock import SystemClock
from bergung.demo.run import run_demo
from bergung.errors import UsageError


def demo(door: Door, wanted: str | None) -> Result:
    """Everything happens in one folder, which is gone afterwards unless it was named."""

    def say(text: str, seconds: float | None) -> None:
        if door.as_json:
            telling.print_json({"type": "step", "step": text, "seconds": seconds})
        else:
            print(f"{'' if seconds is None else f'{seconds:6.1f} s':>8}  {text}", flush=True)

    clock = SystemClock()
    started = clock.monotonic()
    with _folder(wanted) as folder:
        prints = run_demo(folder, Effects(engine=here, clock=clock), say)
    took = clock.monotonic() - started
    facts = {"snapshots": len(prints), "seconds": round(took, 1), "folder": wanted}
    told = f"every row of {words.many(len(prints), 'snapshot')} is back, in {words.seconds(took)}"
    kept = [f"look around: bergung points --vault {Path(wanted).absolute() / 'vault'}"] if wanted else []
    return Result("complete", facts, [told, *kept])


@contextmanager
def _folder(wanted: str | None) -> Iterator[Path]:
    if wanted is None:
        with TemporaryDirectory(prefix="bergung-demo-") as folder:
            yield Path(folder)
        return
    place = Path(wanted).absolute()
    place.mkdir(parents=True, exist_ok=True)
    if os.listdir(place):
        raise UsageError(f"{place} is not empty", "name a folder that is empty or not there yet")
    yield place
