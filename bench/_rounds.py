"""Measuring side by side: everyone once a round, another one first each round, the disk quiet before each."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

QUIET_KB = 16 * 1024
PATIENCE_SECONDS = 60.0


@dataclass(frozen=True)
class Contestant:
    """`run` returns the seconds that count; what `before` and `after` do is not measured."""

    name: str
    run: Callable[[], float]
    before: Callable[[], object]
    after: Callable[[], object]


def take_turns(contestants: Sequence[Contestant], rounds: int, warm: Callable[[], object]) -> dict[str, list[float]]:
    """The seconds of each contestant, round by round."""
    seconds: dict[str, list[float]] = {each.name: [] for each in contestants}
    for number in range(rounds):
        first = number % len(contestants)
        for each in (*contestants[first:], *contestants[:first]):
            each.before()
            wait_for_the_disk()
            warm()
            seconds[each.name].append(each.run())
            each.after()
            tell(f"round {number + 1} of {rounds}: {each.name} {seconds[each.name][-1]:.2f} s")
    return seconds


def wait_for_the_disk() -> None:
    """Nothing that an earlier run wrote is still on its way to the disk."""
    os.sync()
    end = time.monotonic() + PATIENCE_SECONDS
    while _on_its_way_kb() > QUIET_KB and time.monotonic() < end:
        time.sleep(0.1)


def _on_its_way_kb() -> int:
    lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    return sum(int(words[1]) for words in lines if words[0] in ("Dirty:", "Writeback:"))


def timed(command: Sequence[str | Path], environment: Mapping[str, str]) -> float:
    """Seconds from the start of a process to its end."""
    started = time.perf_counter()
    run(command, environment)
    return time.perf_counter() - started


def run(command: Sequence[str | Path], environment: Mapping[str, str]) -> str:
    """What the process printed; the bench ends when it fails."""
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        words = " ".join(map(str, command))
        raise SystemExit(f"error: {words} ended with {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def tell(line: str) -> None:
    """What goes on, beside the result."""
    print(line, file=sys.stderr, flush=True)
