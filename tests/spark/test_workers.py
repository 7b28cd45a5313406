"""A Python worker that is killed in the middle of a wave costs time, no bytes."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

from conftest import Lake
from rescue import rescue


def test_a_killed_worker_is_replaced_and_the_point_is_whole(empty_lake: Lake, tmp_path: Path) -> None:
    lake = empty_lake
    lake.folder.mkdir(exist_ok=True)
    lake.sql(f"CREATE NAMESPACE {lake.name}.big")
    lake.sql(f"CREATE TABLE {lake.full('big.blobs')} (id BIGINT, word STRING) USING iceberg")
    lake.sql(
        f"INSERT INTO {lake.full('big.blobs')} SELECT /*+ REPARTITION(24) */ id, sha2(string(id), 512) || sha2(string(-id), 512) "
        "FROM range(1500000)"
    )
    truth = lake.truth("big.blobs")
    rescuing = rescue(lake, tmp_path)
    killer = _Killer(tmp_path / "vault" / "runs")
    killer.start()
    result = rescuing.backup()
    killer.join()
    assert killer.killed, "no worker was killed while the wave ran"
    assert (result.failed, result.record.backup_metadata.status) == ({}, "complete")
    assert rescuing.verify().damages == ()
    rescuing.purge()
    assert rescuing.restore().restored.failed == {}
    assert lake.truth("big.blobs").snapshots == truth.snapshots


class _Killer(threading.Thread):
    """Kills the Python workers that run when the first task list of the run lies in the vault."""

    def __init__(self, runs: Path) -> None:
        super().__init__(daemon=True)
        self.runs = runs
        self.killed: list[int] = []

    def run(self) -> None:
        give_up = time.monotonic() + 60
        while not list(self.runs.glob("*/tasks/*.parquet")) and time.monotonic() < give_up:
            time.sleep(0.002)
        while not self.killed and not list(self.runs.glob("*/end.json")) and time.monotonic() < give_up:
            for worker in _busy_workers():
                os.kill(worker, signal.SIGKILL)
                self.killed.append(worker)
            time.sleep(0.002)


def _busy_workers() -> list[int]:
    """Children of PySpark's daemons that are at work now: idle ones wait without using the processor."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,stat,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 3) for line in listed.splitlines()[1:]]
    daemons = {row[0] for row in rows if "pyspark.daemon" in row[3]}
    return [int(row[0]) for row in rows if row[1] in daemons and row[2].startswith(("R", "D"))]
