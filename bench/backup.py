"""A first backup of a lake of 1.7 GB beside restic, borg, rclone, cp and a program of two threads; cold; with nothing to do.

`./dev bench backup [--rounds N | --quick] [--json FILE]`: the warm session is the command line's own, with one small job done
before each run; every target is fresh, the source is in the page cache, the disk is quiet.
"""

import os
import statistics
import sys
from pathlib import Path

# Before Spark starts: its workers import from here as well.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]))

import _machine  # noqa: E402
from _lake import CATALOG, NAMESPACE, Lake, below, lake_in, read_all  # noqa: E402
from _ours import Warm, backup_command, cold, open_unsynced  # noqa: E402
from _peers import BORG, RESTIC, TWO_THREADS, TWO_THREADS_UNSYNCED, install, programs, two_threads  # noqa: E402
from _report import Ratio, Seconds, arguments, medians, print_ratios, print_seconds, write_json  # noqa: E402
from _rounds import Contestant, take_turns, tell, timed, wait_for_the_disk  # noqa: E402

from bergung.spark.session import default_cache  # noqa: E402

OURS, OURS_UNSYNCED, COLD = "bergung, warm Spark", "bergung, warm Spark, not synced", "bergung, a fresh process"
BARE = "PySpark alone: a session and one mapInArrow"
NOTHING, LOADING = "bergung, nothing to do", "PyIceberg alone: open the catalog, load the tables"
APPENDED_ROWS = 100_000
HERE = Path(__file__).resolve().parent


def main() -> None:
    asked, folder = arguments(__doc__), default_cache() / "bench"
    missing, work = install(), folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    lake, machine = lake_in(folder), _machine.facts(work)
    os.environ["PYICEBERG_HOME"] = str(lake.root)
    warm = Warm(work)
    contestants = [*ours(warm), *two_threads(lake.warehouse, work / "two"), *programs(lake.warehouse, work), *fresh(work, lake)]
    seconds = take_turns(contestants, asked.rounds, lambda: read_all(lake.warehouse))
    small = take_turns(nothing_to_do(work, lake, warm), asked.rounds, lambda: None)
    added, stored, took = incremental(lake, warm, asked.rounds)
    warm.close()
    ratios = [*compared(medians(seconds)), Ratio(f"{NOTHING} / PyIceberg alone", quotient(small, NOTHING, LOADING), 1.0)]
    for line in (lake.said(), *_machine.said(machine), *missing):
        print(line)
    print_seconds(f"seconds, {asked.rounds} rounds, another one first in each", seconds)
    print_seconds("nothing has changed", small)
    print_seconds(f"one append of {added / 1e6:.2f} MB: the vault grew by {stored / 1e6:.2f} MB", {OURS: took})
    print_ratios(ratios)
    facts = {"machine": machine, "lake": lake.said(), "rounds": asked.rounds, "missing": missing}
    change = {"appended_bytes": added, "stored_bytes": stored}
    write_json(asked.json, {**facts, "incremental": change}, {**seconds, **small, "incremental": took}, ratios)


def ours(warm: Warm) -> list[Contestant]:
    def before() -> None:
        warm.fresh_vault()
        warm.small_job()

    return [
        Contestant(OURS, lambda: warm.backup()[0], before, warm.no_vault),
        Contestant(OURS_UNSYNCED, lambda: warm.backup(open_unsynced)[0], before, warm.no_vault),
    ]


def fresh(work: Path, lake: Lake) -> list[Contestant]:
    """Fresh processes: all of a backup, and what PySpark alone costs."""
    words = [sys.executable, HERE / "_bare.py"]
    return [cold(COLD, work, lake), Contestant(BARE, lambda: timed(words, {}), lambda: None, lambda: None)]


def nothing_to_do(work: Path, lake: Lake, warm: Warm) -> list[Contestant]:
    """Fresh processes over a lake that the vault knows; each backup is sealed all the same."""
    home = {"PYICEBERG_HOME": str(lake.root)}
    loading = [sys.executable, HERE / "_load.py", CATALOG, NAMESPACE]
    warm.fresh_vault()
    warm.backup()
    return [
        Contestant(NOTHING, lambda: timed(backup_command(warm.vault), home), lambda: None, lambda: None),
        Contestant(LOADING, lambda: timed(loading, home), lambda: None, lambda: None),
    ]


def incremental(lake: Lake, warm: Warm, rounds: int) -> tuple[int, int, list[float]]:
    """After an append to one of the tables: what it wrote, what the vault took for it, and the seconds."""
    added, stored, seconds = [], [], []
    with lake.put_right():
        for number in range(rounds):
            added.append(lake.append(APPENDED_ROWS))
            before = sum(below(warm.vault).values())
            warm.small_job()
            wait_for_the_disk()
            seconds.append(warm.backup()[0])
            stored.append(sum(below(warm.vault).values()) - before)
            tell(f"round {number + 1} of {rounds}: one append {seconds[-1]:.2f} s")
    warm.no_vault()
    return int(statistics.median(added)), int(statistics.median(stored)), seconds


def compared(median: dict[str, float]) -> list[Ratio]:
    beside = [name for name in median if name not in (OURS, OURS_UNSYNCED, TWO_THREADS, TWO_THREADS_UNSYNCED, COLD, BARE)]
    start = median[COLD] - median[OURS]
    bounds = {RESTIC: 1.0, BORG: 1.0}
    return [
        Ratio(f"{OURS} / {TWO_THREADS}", median[OURS] / median[TWO_THREADS], 1.5),
        Ratio(f"{OURS} / {TWO_THREADS}, both not synced", median[OURS_UNSYNCED] / median[TWO_THREADS_UNSYNCED]),
        *(Ratio(f"{OURS} / {name}", median[OURS] / median[name], bounds.get(name)) for name in beside),
        Ratio("cold minus warm / PySpark alone", start / median[BARE], 1.0),
        Ratio("cold minus warm, the aim", start, 6.0, " s"),
    ]


def quotient(seconds: Seconds, one: str, other: str) -> float:
    median = medians(seconds)
    return median[one] / median[other]


if __name__ == "__main__":
    main()
