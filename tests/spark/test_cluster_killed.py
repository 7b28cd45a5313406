"""`kill -9` of an executor, and of a worker's whole JVM, while one of their tasks writes."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from shell import Shell, shell
from test_cluster import configure, ends

from bergung.clock import SystemClock
from bergung.stores.disk.create import is_partial
from tests.command import call, tree
from tests.servers.spark_cluster import Cluster, spark_cluster
from tests.spark.test_cli_engines import large
from tests.stories.small_lake import SmallLake

pytestmark = pytest.mark.nightly

FILES, SIZE = 16, 32 * 1024 * 1024
CLOCK = SystemClock()


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallLake]:
    """One table in a point, another, of which a backup takes its time, not yet."""
    made = SmallLake(tmp_path)
    made.announce(monkeypatch)
    made.make("sales", "orders")
    for words in (("init",), ("backup", "lake")):
        assert call(*words).code == 0
    monkeypatch.setenv("BERGUNG_ENGINE", "spark")
    large(made, FILES, SIZE)
    yield made
    for path in (*tmp_path.rglob("*.bin"), *tmp_path.rglob("*.part")):
        path.unlink()


@dataclass
class Strike:
    """A Python process that was writing below the folder, the executor that had started it, and what else was whole by then."""

    folder: Path
    executor: int = 0
    writing: str = ""
    whole: tuple[tuple[Path, int], ...] = ()

    def wait(self, cluster: Cluster, there: Shell) -> None:
        """Until a task writes and another is done."""
        give_up = CLOCK.monotonic() + 120
        while not self.executor:
            assert there.process.poll() is None and CLOCK.monotonic() < give_up, "no task wrote"
            self._look(cluster)
            time.sleep(0.005)

    def _look(self, cluster: Cluster) -> None:
        whole = [path for path in self.folder.rglob("*.bin") if not path.name.startswith(".")]
        for pid, words in cluster.processes().items() if len(whole) > 1 else ():
            writing = [path for path in _open_files(pid) if path.startswith(str(self.folder)) and ".bergung-" in path]
            if "pyspark.daemon" in words and writing:
                self.executor, self.writing = _above(pid, cluster), writing[0]
                self.whole = tuple((path, path.stat().st_ino) for path in whole)
                return

    def nothing_was_done_again(self) -> None:
        assert [path.stat().st_ino for path, _ in self.whole] == [inode for _, inode in self.whole]


def _open_files(pid: int) -> list[str]:
    found = []
    for fd in _listed(Path(f"/proc/{pid}/fd")):
        try:
            found.append(os.readlink(fd))
        except OSError:
            continue
    return found


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _above(pid: int, cluster: Cluster) -> int:
    """The executor that a Python process belongs to."""
    executors = cluster.executors()
    while pid not in executors:
        pid = _parent(pid)
    return pid


def kill_executor(strike: Strike) -> int:
    os.kill(strike.executor, signal.SIGKILL)
    return strike.executor


def kill_worker(strike: Strike) -> int:
    worker = _parent(strike.executor)
    os.kill(worker, signal.SIGKILL)
    return worker


def test_the_others_end_what_it_had_begun(lake: SmallLake, tmp_path: Path) -> None:
    """An executor in the middle of a backup, a worker's own JVM in the middle of a restore."""
    with spark_cluster(tmp_path / "cluster") as cluster, shell({"BERGUNG_SPARK_MASTER": cluster.master}) as there:
        configure(cluster)
        strike = Strike(lake.vault / "tables")
        there.begin("backup", "lake", "--json")
        strike.wait(cluster, there)
        killed = kill_executor(strike)
        assert call("runs", "--json").result["runs"][-1]["run_status"] == "not ended", "the kill came too late"
        said = there.end()
        assert said.code == 0, said.err
        assert said.result["status"] == "complete" and killed not in cluster.processes()
        strike.nothing_was_done_again()
        assert len(call("points", "--json").result["points"]) == 2
        assert call("verify", "--data", "all", "--engine", "process").code == 0

        before = tree(lake.warehouse / "large")
        lake.lose("sales", "orders")
        data = lake.warehouse / "large" / "data"
        for path in data.glob("*.bin"):
            path.unlink()
        strike = Strike(data)
        there.begin("restore", "--all")
        strike.wait(cluster, there)
        kill_worker(strike)
        assert call("runs", "--json").result["runs"][-1]["run_status"] == "not ended", "the kill came too late"
        said = there.end()
        assert said.code == 0, said.err
        strike.nothing_was_done_again()
        assert whole(tree(lake.warehouse / "large")) == before


def whole(files: dict[str, str]) -> dict[str, str]:
    """Without what a write leaves that was killed: a hidden file that no reader looks at."""
    return {path: digest for path, digest in files.items() if not is_partial(Path(path).name)}


def test_a_run_that_fails_by_it_leaves_no_point_and_the_next_goes_on(lake: SmallLake, cluster: Cluster) -> None:
    configure(cluster, **{"spark.task.maxFailures": "1"})
    with shell({"BERGUNG_SPARK_MASTER": cluster.master}) as there:
        strike = Strike(lake.vault / "tables")
        there.begin("backup", "lake")
        strike.wait(cluster, there)
        kill_executor(strike)
        said = there.end()
        assert said.code == 20 and said.errors == ["Spark lost its executors again and again"], said
        assert said.hints[0].endswith("then run the same command again: it goes on where it stopped")
        assert len(call("points", "--json").result["points"]) == 1
        assert call("verify", "--data", "all", "--engine", "process").code == 0, "the earlier point is what it was"
        ends(there, "backup", "lake")
    strike.nothing_was_done_again()
    assert len(call("points", "--json").result["points"]) == 2
    assert call("verify", "--data", "all", "--engine", "process").code == 0
