"""How long a cold start takes, from import to the second mapInArrow: bare PySpark beside our session.

`./dev bench session [ROUNDS]`: each round is a fresh process; the order turns from round to round.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bergung.spark import jars

STEPS = ("import", "session", "first", "second", "total")
KINDS = ("bare, spark.jars.packages", "bare, extraClassPath", "ours", "ours, short")


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["one"]:
        print(json.dumps(measure(arguments[1])))
        return
    rounds = int(arguments[0]) if arguments else 5
    seen: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    for number in range(rounds):
        for kind in KINDS[number % len(KINDS) :] + KINDS[: number % len(KINDS)]:
            seen[kind].append(in_a_fresh_process(kind))
    print(f"{'medians of ' + str(rounds) + ', seconds':<28}" + "".join(f"{step:>9}" for step in STEPS) + f"{'worst':>9}")
    for kind, each in seen.items():
        medians = [statistics.median(row[step] for row in each) for step in STEPS]
        print(f"{kind:<28}" + "".join(f"{value:>9.2f}" for value in medians) + f"{max(row['total'] for row in each):>9.2f}")


def in_a_fresh_process(kind: str) -> dict[str, float]:
    started = time.perf_counter()
    command = [sys.executable, __file__, "one", kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    row: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    row["process"] = time.perf_counter() - started
    return row


def measure(kind: str) -> dict[str, float]:
    marks = [time.perf_counter()]
    # Imports are part of what is measured.
    if kind.startswith("bare"):
        from pyspark.sql import SparkSession

        marks.append(time.perf_counter())
        session = bare(SparkSession.builder.master("local[2]"), kind)
    else:
        from bergung.spark.session import SessionSettings, open_session

        marks.append(time.perf_counter())
        session = open_session(SessionSettings(iceberg=True, short=kind == "ours, short"))
    marks.append(time.perf_counter())
    for _ in range(2):
        session.range(10).mapInArrow(pass_on, "id long").count()
        marks.append(time.perf_counter())
    lengths = [after - before for before, after in zip(marks, marks[1:], strict=False)]
    return dict(zip(STEPS, [*lengths, marks[-1] - marks[0]], strict=True))


def bare(builder, kind):
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    if "packages" in kind:
        packages = ",".join(jar.coordinates for jar in jars.PINNED)
        return builder.config("spark.jars.packages", packages).getOrCreate()
    cache = Path(os.environ["BERGUNG_CACHE"])
    return builder.config("spark.driver.extraClassPath", ":".join(map(str, jars.present(cache)))).getOrCreate()


def pass_on(batches):
    yield from batches


if __name__ == "__main__":
    main(sys.argv[1:])
