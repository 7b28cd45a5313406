"""A standalone Spark cluster on 127.0.0.1 from what the pyspark wheel holds: a master and workers, each a process of its own.

Its executors' Python has what executors need, and not this checkout: what they import of ours was sent to them.
"""

import json
import os
import secrets
import signal
import subprocess
import time
import urllib.request
import venv
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyspark

from bergung.spark import java
from tests.servers.process import HOST, free_port, running

HOME = Path(pyspark.__file__).parent
MARK = "BERGUNG_TEST_CLUSTER"
"""Every process of a cluster has it in its environment, also those whose parents are gone."""
PATIENCE_SECONDS = 20.0
CONFS = {
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
    "spark.cores.max": "2",
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
}
"""One executor on each of two workers, and room for the application of another test beside."""


@dataclass(frozen=True)
class Cluster:
    """What a test must know of it."""

    folder: Path
    mark: str
    master: str
    page: str
    python: Path
    workers: "tuple[subprocess.Popen[bytes], ...]"

    def processes(self) -> dict[int, str]:
        """All that run now and belong to it, by their command line."""
        return {pid: _words(pid) for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self._is_ours(pid)}

    def executors(self) -> list[int]:
        return [pid for pid, words in self.processes().items() if "CoarseGrainedExecutorBackend" in words]

    def work_folders(self) -> list[Path]:
        """Where workers keep what applications sent and said."""
        return sorted(self.folder.glob("worker-*/work"))

    def state(self) -> dict[str, Any]:
        """What the master's own page says."""
        with urllib.request.urlopen(f"{self.page}/json/", timeout=5) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    def _is_ours(self, pid: int) -> bool:
        try:
            return f"{MARK}={self.mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            return False


@contextmanager
def spark_cluster(folder: Path, workers: int = 2, prefix: Sequence[str] = ()) -> Iterator[Cluster]:
    """A master with workers that it knows; `prefix` comes before the command of each worker. All of it is gone afterwards."""
    port, page_port, mark = free_port(), free_port(), secrets.token_hex(8)
    page, python = f"http://{HOST}:{page_port}", interpreter(folder / "python")
    env = _environment(python, mark)
    with ExitStack() as stack:
        master = ["org.apache.spark.deploy.master.Master", "--port", str(port), "--webui-port", str(page_port)]
        stack.enter_context(running(_command(*master), folder / "master", partial(_has_workers, page, 0), env))
        address = f"spark://{HOST}:{port}"
        found: list[subprocess.Popen[bytes]] = []
        cluster = Cluster(folder, mark, address, page, python, ())
        stack.callback(_end_rest, cluster)
        for number in range(workers):
            place = folder / f"worker-{number}"
            command = [*prefix, *_command(*_worker(place), address)]
            found.append(stack.enter_context(running(command, place, partial(_has_workers, page, number + 1), env)))
        yield Cluster(folder, mark, address, page, python, tuple(found))
    assert not cluster.processes(), f"left behind: {cluster.processes()}"


def interpreter(folder: Path, packages: Path | None = None) -> Path:
    """A Python with the packages of this environment but for Bergung: a `.pth` file in a folder named by another is not read."""
    venv.create(folder, symlinks=True)
    place = next(folder.glob("lib/python*/site-packages"))
    (place / "packages.pth").write_text(f"{packages or Path(pyspark.__file__).parent.parent}\n")
    return folder / "bin" / "python"


def _worker(place: Path) -> list[str]:
    words = ["--port", "0", "--webui-port", "0", "--cores", "3", "--memory", "2g", "--work-dir", str(place / "work")]
    return ["org.apache.spark.deploy.worker.Worker", *words]


def _command(name: str, *words: str) -> list[str]:
    return [str(HOME / "bin" / "spark-class"), name, "--host", HOST, *words]


def _environment(python: Path, mark: str) -> dict[str, str]:
    return {
        "SPARK_HOME": str(HOME),
        "JAVA_HOME": str(java.find_home()),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "128m",
        "PYSPARK_PYTHON": str(python),
        MARK: mark,
    }


def _has_workers(page: str, count: int) -> bool:
    try:
        with urllib.request.urlopen(f"{page}/json/", timeout=5) as answer:
            return int(json.load(answer)["aliveworkers"]) >= count
    except (OSError, ValueError):  # the page is there some moments before what it says
        return False


def _end_rest(cluster: Cluster) -> None:
    """Executors end when their worker does, and Python workers with their executor; what does not is ended by its id."""
    give_up = time.perf_counter() + PATIENCE_SECONDS
    while _rest(cluster) and time.perf_counter() < give_up:
        time.sleep(0.1)
    for pid in _rest(cluster):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _rest(cluster: Cluster) -> list[int]:
    return [pid for pid, words in cluster.processes().items() if "master.Master" not in words]


def _words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
