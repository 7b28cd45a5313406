"""A restore of a whole lake of 1.7 GB whose files were purged, beside a program of two threads that copies them back.

`./dev bench restore [--rounds N | --quick] [--json FILE]`: the vault is in the page cache; otherwise as in `./dev bench backup`.
"""

import os
from pathlib import Path

# Before Spark starts: its workers import from here as well.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]))

import _machine  # noqa: E402
from _lake import Lake, lake_in, read_all  # noqa: E402
from _ours import Warm, open_unsynced  # noqa: E402
from _peers import TWO_THREADS, TWO_THREADS_UNSYNCED, two_threads  # noqa: E402
from _report import Ratio, arguments, medians, print_ratios, print_seconds, write_json  # noqa: E402
from _rounds import Contestant, take_turns  # noqa: E402

from bergung.spark.session import default_cache  # noqa: E402

OURS, OURS_UNSYNCED = "bergung, warm Spark", "bergung, warm Spark, not synced"


def main() -> None:
    asked, folder = arguments(__doc__), default_cache() / "bench"
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    lake, machine = lake_in(folder), _machine.facts(work)
    os.environ["PYICEBERG_HOME"] = str(lake.root)
    warm = Warm(work)
    warm.fresh_vault()
    warm.backup()
    source = warm.vault / "tables"
    with lake.put_right():
        contestants = [*ours(lake, warm), *two_threads(source, work / "two")]
        seconds = take_turns(contestants, asked.rounds, lambda: read_all(source))
    warm.close()
    warm.no_vault()
    median = medians(seconds)
    ratios = [
        Ratio(f"{OURS} / {TWO_THREADS}", median[OURS] / median[TWO_THREADS]),
        Ratio(f"{OURS} / {TWO_THREADS}, both not synced", median[OURS_UNSYNCED] / median[TWO_THREADS_UNSYNCED]),
    ]
    for line in (lake.said(), *_machine.said(machine)):
        print(line)
    print_seconds(f"seconds, {asked.rounds} rounds, another one first in each", seconds)
    print_ratios(ratios)
    write_json(asked.json, {"machine": machine, "lake": lake.said(), "rounds": asked.rounds}, seconds, ratios)


def ours(lake: Lake, warm: Warm) -> list[Contestant]:
    def before() -> None:
        lake.purge()
        warm.small_job()

    def after() -> None:
        if not lake.is_whole():
            raise SystemExit("error: after the restore the lake is not as it was")

    return [
        Contestant(OURS, warm.restore, before, after),
        Contestant(OURS_UNSYNCED, lambda: warm.restore(open_unsynced), before, after),
    ]


if __name__ == "__main__":
    main()
