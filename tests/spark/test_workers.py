"""A Python worker that is killed in the middle of a wave costs time, no bytes."""

import os
import signal
import threading
import time
from hashlib import sha256
from pathlib import Path

from conftest import Lake
from rescue import rescue

from bergung.clock import SystemClock

CLOCK = SystemClock()


def test_a_killed_worker_is_replaced_and_the_point_is_whole(empty_lake: Lake, tmp_path: Path) -> None:
    lake = empty_lake
    lake.folder.mkdir(exist_ok=True)
    lake.sql(f"CREATE NAMESPACE {lake.name}.big")
    lake.sql(f"CREATE TABLE {lake.full('big.blobs')} (id BIGINT, word STRING) USING iceberg")
    lake.sql(
        f"INSERT INTO {lake.full('big.blobs')} SELECT /*+ REPARTITION(24) */ id, sha2(string(id), 512) || sha2(string(-id), 512) "
        "FROM range(1500000)"
    )
    before = _digests(lake)
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
    assert _digests(lake) == before


def _digests(lake: Lake) -> dict[str, str]:
    return {str(path): sha256(path.read_bytes()).hexdigest() for path in lake.warehouse.rglob("*.parquet")}


class _Killer(threading.Thread):
    """Kills the Python workers that run when the first task list of the run lies in the vault."""

    def __init__(self, runs: Path) -> None:
        super().__init__(daemon=True)
        self.runs = runs
        self.killed: list[int] = []

    def run(self) -> None:
        give_up = CLOCK.monotonic() + 60
        while not list(self.runs.glob("*/tasks/*.parquet")) and CLOCK.monotonic() < give_up:
            time.sleep(0.002)
        while not self.killed and not list(self.runs.glob("*/end.json")) and CLOCK.monotonic() < give_up:
            for worker in _busy_workers()[:1]:
                os.kill(worker, signal.SIGKILL)
                self.killed.append(worker)


def _busy_workers() -> list[int]:
    """Children of the daemons that fork PySpark's workers that are at work now: idle ones wait without using the processor."""
    found = [facts for path in Path("/proc").glob("[0-9]*") if (facts := _facts(path))]
    daemons = {pid for pid, _, _, command in found if "pyspark.worker" in command}
    return [pid for pid, parent, state, _ in found if parent in daemons and state in "RD"]


def _facts(process: Path) -> tuple[int, int, str, str] | None:
    try:
        after_name = (process / "stat").read_text().rpartition(")")[2].split()
        return int(process.name), int(after_name[1]), after_name[0], (process / "cmdline").read_text()
    except OSError:
        return None
