"""Which engine a run gets. What Spark itself does stands in tests/spark."""

import subprocess
import sys

import pyarrow as pa

from bergung.carry.engine import Map, ProcessEngine
from bergung.cli.engines import AUTO, PROCESS, Engines
from bergung.iceberg.columns import rows_of, table

ROWS = pa.schema([("bytes", pa.int64())])
OPENING = """
from bergung.cli.engines import SPARK, Engines
from bergung.errors import BergungError
engines = Engines(SPARK, master="local[2]", confs={"spark.driver.memory": "no size"})
for _ in range(2):
    try:
        engines()
    except BergungError as error:
        print(error.message[:19])
print(engines.is_open(), engines.interrupt())
"""
"""In a process of its own: where a session is open already, its memory is not asked for again."""


def rows(*sizes: int) -> pa.Table:
    return table(ROWS, {"bytes": sizes})


def test_process_is_this_process_and_always_the_same_engine() -> None:
    engines = Engines(PROCESS)
    assert isinstance(engines(), ProcessEngine) and engines() is engines()
    assert not engines.is_open() and not engines.interrupt()
    engines.close()


def test_little_work_is_done_here_without_spark() -> None:
    engine = Engines(AUTO)()
    done = engine.run(rows(1, 2, 3), [Map(lambda batches: batches, ROWS)])
    assert [row["bytes"] for row in rows_of(done)] == [1, 2, 3]
    assert engine.parallelism == Engines(PROCESS)().parallelism


def test_an_error_of_opening_reaches_whoever_waits() -> None:
    done = subprocess.run([sys.executable, "-c", OPENING], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["Spark did not start"] * 2 + ["False False"], done.stderr
