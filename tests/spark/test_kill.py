"""`kill -9` of the real command in the middle of its wave on Spark; then the same command again."""

import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from bergung.clock import SystemClock
from tests.command import call, command_line, tree
from tests.stories.small_lake import SmallLake

FILES, ROWS = 40, 400_000
CLOCK = SystemClock()


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallLake:
    lake = SmallLake(tmp_path)
    lake.announce(monkeypatch)
    monkeypatch.setenv("BERGUNG_ENGINE", "spark")
    assert call("init").code == 0
    lake.catalog.create_namespace("big")
    random = np.random.default_rng(7)
    table = lake.catalog.create_table("big.noise", pa.schema([("id", pa.int64()), ("noise", pa.float64())]))
    for _ in range(FILES):
        table.append(pa.table({"id": random.integers(0, 2**62, ROWS), "noise": random.random(ROWS)}))
    return lake


def test_the_next_run_ends_what_a_killed_one_began(lake: SmallLake) -> None:
    before = tree(lake.warehouse)
    environment, quiet = dict(os.environ), subprocess.DEVNULL
    run = subprocess.Popen(command_line("backup", "lake.big"), env=environment, stdout=quiet, stderr=quiet)
    _wait_for_blobs(lake, run, FILES // 4)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    _wait_until_quiet(lake)
    left = len(_blobs(lake))
    assert FILES // 4 <= left < FILES, f"{left} of {FILES} files: the kill came too late or too early to say anything"
    assert call("points", "--json").result["points"] == []
    assert call("verify").code == 0

    inodes = {path: path.stat().st_ino for path in _blobs(lake)}
    again = subprocess.run(
        command_line("backup", "lake.big", "--json"), env=environment, capture_output=True, text=True, check=False, timeout=240
    )
    assert again.returncode == 0, again.stderr
    assert {path: path.stat().st_ino for path in inodes} == inodes, "what the killed run had finished is used, not written again"
    assert len(call("points", "--json").result["points"]) == 1
    assert call("verify").code == 0
    lake.lose("big", "noise")
    assert call("restore", "lake.big.noise", "--engine", "process").code == 0
    assert tree(lake.warehouse) == before


def _blobs(lake: SmallLake) -> list[Path]:
    return [path for path in lake.vault.glob("tables/*/files/data/*.parquet") if not path.name.startswith(".")]


def _wait_for_blobs(lake: SmallLake, run: "subprocess.Popen[bytes]", count: int) -> None:
    give_up = CLOCK.monotonic() + 120
    while len(_blobs(lake)) < count:
        assert run.poll() is None, "the backup ended before it could be killed"
        assert CLOCK.monotonic() < give_up, "no blobs in two minutes"
        time.sleep(0.005)


def _wait_until_quiet(lake: SmallLake) -> None:
    """Workers end some moments after the JVM, and the JVM some moments after its driver."""
    count = -1
    while count != len(_blobs(lake)):
        count = len(_blobs(lake))
        time.sleep(2)
