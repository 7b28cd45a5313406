"""The command line on Spark: quiet, stoppable, and begun without it when that is quicker."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from bergung.carry.engine import Map, Spread
from bergung.cli.engines import AUTO, LITTLE_BYTES, LITTLE_METADATA, Engines
from bergung.iceberg.columns import batch_of, rows_of, table
from tests.command import call, child, command_line, tree
from tests.stories.small_lake import SmallLake
from tests.synthetic import Shape, SyntheticTable

SIZES = pa.schema([("worker", pa.int32()), ("bytes", pa.int64())])
MANIFESTS = pa.schema([("worker", pa.int32()), ("declared_bytes", pa.int64())])
PIDS = pa.schema([("pid", pa.int64())])
MIB = 1024 * 1024


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallLake:
    """A lake of PyIceberg's, and a vault."""
    lake = SmallLake(tmp_path)
    lake.announce(monkeypatch)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert call("init").code == 0
    return lake


def where(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        yield batch_of(PIDS, [{"pid": os.getpid()}])


def pids(engines: Engines, rows: pa.Table) -> set[int]:
    return {row["pid"] for row in rows_of(engines().run(rows, [Spread("worker", 1), Map(partial(where), PIDS)]))}


def test_much_work_begins_here_and_goes_on_on_spark(spark: SparkSession) -> None:
    engines = Engines(AUTO)
    half = table(SIZES, {"worker": [0], "bytes": [LITTLE_BYTES // 2 + 1]})
    assert pids(engines, half) == {os.getpid()} and not engines.is_open()
    assert pids(engines, half) == {os.getpid()}, "the wave that is more than little does not wait for Spark"
    engines.spark()
    assert engines.is_open()
    assert os.getpid() not in pids(engines, half)
    assert engines().parallelism == spark.sparkContext.defaultParallelism


def test_many_manifests_go_to_spark_at_once(spark: SparkSession) -> None:
    engines = Engines(AUTO)
    little = table(MANIFESTS, {"worker": [0], "declared_bytes": [LITTLE_METADATA]})
    assert pids(engines, little) == {os.getpid()}
    much = table(MANIFESTS, {"worker": [0], "declared_bytes": [LITTLE_METADATA + 1]})
    assert os.getpid() not in pids(engines, much)


def test_a_backup_and_a_restore_on_spark_say_no_word_too_many(shop: SmallLake) -> None:
    shop.make("sales", "orders")
    files, rows = tree(shop.warehouse), shop.rows("sales", "orders")
    backup = child("backup", "lake", "--engine", "spark")
    assert (backup.code, unexpected(backup.err)) == (0, [])
    assert backup.out.startswith("point ")
    shop.lose("sales", "orders")
    restore = child("restore", "--all", "--engine", "spark")
    assert (restore.code, unexpected(restore.err)) == (0, [])
    assert tree(shop.warehouse) == files and shop.rows("sales", "orders") == rows


def unexpected(err: str) -> list[str]:
    """All but the line of progress that a slow machine gets every thirty seconds."""
    return [line for line in err.splitlines() if not re.match("(locate|survey|look|carry|seal)(…|: )", line)]


def large(lake: SmallLake, count: int = 8, size: int = 256 * MIB) -> SyntheticTable:
    """Sparse files, so that making them costs nothing and carrying them takes its time."""
    made = SyntheticTable(lake.warehouse / "large", Shape())
    paths = [f"{made.location}/data/{number}.bin" for number in range(count)]
    for path in paths:
        with made.local(path).open("wb") as file:
            file.truncate(size)
    made.add_files([{"file_path": path, "file_size_in_bytes": size} for path in paths])
    made.commit()
    lake.adopt("sales.large", made)
    return made


def wait_for(found: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    for _ in range(20_000):
        if found():
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError("it did not come")


def test_a_second_ctrl_c_interrupts_spark_and_the_same_command_goes_on(shop: SmallLake) -> None:
    large(shop)
    command = command_line("backup", "lake", "--engine", "spark")
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: any(shop.vault.glob("tables/*/files/data/*.bin")), running)
    running.send_signal(signal.SIGINT)
    time.sleep(0.2)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 130, out + err
    assert "stopping at once" in err
    assert err.splitlines()[-1] == "hint: run the same command again: it goes on where it stopped"
    assert call("runs", "--json").result["runs"][0]["run_status"] == "interrupted"
    assert call("points", "--json").result["points"] == []
    stored = {path: path.stat().st_ino for path in shop.vault.glob("tables/*/files/data/*.bin")}
    again = call("backup", "lake", "--engine", "process", "--json")
    assert again.code == 0 and again.result["stored_bytes"] < again.result["new_bytes"]
    assert {path: path.stat().st_ino for path in stored} == stored
    for path in (*shop.vault.rglob("*.bin"), *shop.warehouse.rglob("*.bin")):
        path.unlink()
