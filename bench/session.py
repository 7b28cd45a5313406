"""How long a cold start takes, from import to the second mapInArrow: bare PySpark beside our session.

`./dev bench session [ROUNDS]`: each round is a fresh process; the order turns from round to round.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

from bergung.spark import jars
from bergung.spark.session import default_cache

STEPS = ("import", "session", "first", "second", "total")
BARE = """
import os
from pyspark.sql import SparkSession
marks.append(time.perf_counter())
os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
session = SparkSession.builder.master("local[2]").config(sys.argv[1], sys.argv[2]).getOrCreate()
"""
OURS = """
from bergung.spark.session import SessionSettings, open_session
marks.append(time.perf_counter())
session = open_session(SessionSettings(iceberg=True, short=sys.argv[1] == "short"))
"""
PROGRAM = """
import sys, time
marks = [time.perf_counter()]
{opening}
marks.append(time.perf_counter())
def pass_on(batches):
    yield from batches
for _ in range(2):
    session.range(10).mapInArrow(pass_on, "id long").count()
    marks.append(time.perf_counter())
import json
print(json.dumps(marks))
"""
Kind = tuple[str, str, list[str]]


def main(arguments: list[str]) -> None:
    rounds = int(arguments[0]) if arguments else 5
    seen: dict[str, list[list[float]]] = {name: [] for name, _, _ in kinds()}
    for number in range(rounds):
        for name, opening, words in turned(kinds(), number):
            seen[name].append(in_a_fresh_process(opening, words))
    print(f"{f'medians of {rounds}, seconds':<28}" + "".join(f"{step:>9}" for step in STEPS) + f"{'worst':>9}")
    for name, rows in seen.items():
        medians = [statistics.median(column) for column in zip(*rows, strict=True)]
        print(f"{name:<28}" + "".join(f"{value:>9.2f}" for value in medians) + f"{max(row[-1] for row in rows):>9.2f}")


def kinds() -> list[Kind]:
    packages = ",".join(jar.coordinates for jar in jars.PINNED)
    class_path = ":".join(map(str, jars.ensure(default_cache())))
    return [
        ("bare, spark.jars.packages", BARE, ["spark.jars.packages", packages]),
        ("bare, extraClassPath", BARE, ["spark.driver.extraClassPath", class_path]),
        ("ours", OURS, ["long"]),
        ("ours, short", OURS, ["short"]),
    ]


def turned(each: list[Kind], number: int) -> list[Kind]:
    start = number % len(each)
    return each[start:] + each[:start]


def in_a_fresh_process(opening: str, words: list[str]) -> list[float]:
    """Seconds of each step, then all together."""
    command = [sys.executable, "-c", PROGRAM.format(opening=opening), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path.home())
    marks = json.loads(done.stdout.splitlines()[-1])
    return [after - before for before, after in zip(marks, marks[1:], strict=False)] + [marks[-1] - marks[0]]


if __name__ == "__main__":
    main(sys.argv[1:])
