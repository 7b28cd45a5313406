"""What is wrong with a cluster is told at once, in one line with a hint."""

import re
import subprocess
import venv
from pathlib import Path

import pytest
from connect_server import connect_process
from shell import shell
from test_cluster import configure, lake  # noqa: F401 - a fixture
from test_cluster_killed import Strike

from bergung.clock import SystemClock
from tests.command import Said, call, tree
from tests.servers.process import free_port
from tests.servers.spark_cluster import CONFS, Cluster, interpreter
from tests.spark.test_cli_engines import large
from tests.stories.small_lake import SmallLake

pytestmark = pytest.mark.nightly

CLOCK = SystemClock()
AS_314 = """
import collections, sys
version = collections.namedtuple("version", "major minor micro releaselevel serial")
sys.version_info = version(3, 14, *sys.version_info[2:])
"""


@pytest.fixture(autouse=True)
def vault(lake: SmallLake) -> Path:  # noqa: F811
    assert call("init").code == 0
    return lake.vault


def backup(cluster: Cluster, **confs: str) -> Said:
    configure(cluster, **confs)
    with shell({"BERGUNG_SPARK_MASTER": cluster.master}) as there:
        return there.call("backup", "lake")


def test_executors_without_pyarrow(cluster: Cluster, tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", symlinks=True)
    said = backup(cluster, **{"spark.pyspark.python": str(tmp_path / "bare/bin/python")})
    assert (said.code, said.errors) == (1, ["the Python of the executors has no pyarrow"])
    assert said.hints[0].startswith("install it there, or name a Python that has it: PYSPARK_PYTHON=")


def test_executors_with_another_python(cluster: Cluster, tmp_path: Path) -> None:
    """The interpreter says that it is another; that this does not do is found by Spark itself."""
    python = interpreter(tmp_path / "other")
    (next((tmp_path / "other").glob("lib/python*/site-packages")) / "sitecustomize.py").write_text(AS_314)
    said = backup(cluster, **{"spark.pyspark.python": str(python)})
    ours = ".".join(subprocess.check_output([cluster.python, "--version"], text=True).split()[1].split(".")[:2])
    assert (said.code, said.errors) == (1, [f"executors run Python 3.14, this is {ours}"])
    assert said.hints[0].startswith(f"name a Python {ours} that is on every executor")


def test_executors_without_the_python_that_is_named(cluster: Cluster, tmp_path: Path) -> None:
    said = backup(cluster, **{"spark.pyspark.python": f"{tmp_path}/none/python"})
    assert (said.code, said.errors) == (1, [f"an executor could not start its Python, {tmp_path}/none/python"])


def test_a_cluster_without_room(cluster: Cluster) -> None:
    said = backup(cluster, **{"spark.executor.memory": "900g", "spark.patience": "5"})
    assert (said.code, said.errors) == (1, ["no executor has done a first task after 5 s"])
    assert "spark.executor.memory" in said.hints[0] and "spark.patience" in said.hints[0]


@pytest.mark.parametrize(("variable", "scheme"), [("BERGUNG_SPARK_MASTER", "spark"), ("BERGUNG_SPARK_REMOTE", "sc")])
def test_nobody_there(variable: str, scheme: str) -> None:
    port, started = free_port(), CLOCK.monotonic()
    with shell({variable: f"{scheme}://127.0.0.1:{port}"}) as there:
        said = there.call("backup", "lake")
    assert said.code == 1
    assert said.errors == [f"nobody answers at {scheme}://127.0.0.1:{port}: connection refused"]
    assert variable in said.hints[0]
    assert CLOCK.monotonic() - started < 30


def test_a_connect_server_that_goes_away(lake: SmallLake, cluster: Cluster, tmp_path: Path) -> None:  # noqa: F811
    large(lake, 16)
    configure(cluster)
    strike = Strike(lake.vault / "tables")
    with connect_process(tmp_path / "connect", {"spark.master": cluster.master, **CONFS}, cluster.python) as (address, server):
        with shell({"BERGUNG_SPARK_REMOTE": address}) as there:
            there.begin("backup", "lake")
            strike.wait(cluster, there)
            server.kill()
            started = CLOCK.monotonic()
            said = there.end()
        assert CLOCK.monotonic() - started < 90
    assert (said.code, len(said.errors)) == (20, 1), said
    assert said.errors[0].startswith("the Connect server does not answer any more")
    assert call("points", "--json").result["points"] == []
    assert call("backup", "lake", "--engine", "process").code == 0
    strike.nothing_was_done_again()
    for path in (*lake.vault.rglob("*.bin"), *lake.warehouse.rglob("*.bin")):
        path.unlink()


@pytest.fixture
def blind(cluster: Cluster, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Makes a Python for executors that finds an empty folder where this machine has a full one."""
    can = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0
    if not can:
        pytest.skip("needs `unshare -m`: run as root, or with user namespaces")

    def make(folder: Path) -> str:
        place = tmp_path / "blind-python"
        mount = 'mount -t tmpfs none "$0" && exec "$@"'
        place.write_text(f"#!/bin/sh\nexec unshare -m sh -c '{mount}' {folder} {cluster.python} \"$@\"\n")
        place.chmod(0o755)
        return str(place)

    return make


def test_executors_that_do_not_see_the_vault(lake: SmallLake, cluster: Cluster, blind) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    said = backup(cluster, **{"spark.pyspark.python": blind(lake.vault)})
    assert said.code == 14, said
    assert re.match("an executor on .* does not see the vault: nothing of this run is in file://", said.errors[0])
    assert said.hints[0].startswith("use a store that all executors reach")
    assert call("points", "--json").result["points"] == []


def test_executors_that_do_not_see_the_tables(lake: SmallLake, cluster: Cluster, blind) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    configure(cluster, **{"spark.pyspark.python": blind(lake.warehouse)})
    with shell({"BERGUNG_SPARK_MASTER": cluster.master}) as there:
        said = there.call("backup", "lake", "--json")
    assert said.code == 3, said
    failed = {each["table"]: each["message"] for each in said.result["failed"]}
    assert sorted(failed) == ["lake.sales.eu.stock", "lake.sales.orders"]
    assert all(re.match("an executor does not see file:/.*, which is there", fact) for fact in failed.values()), failed
    (point,) = call("points", "--json").result["points"]
    assert point["tables"] == 1, "the one without files is whole"


def test_executors_that_bring_files_to_folders_of_their_own(lake: SmallLake, cluster: Cluster, blind) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    assert call("backup", "lake.sales", "--engine", "process").code == 0
    before = tree(lake.warehouse)
    lake.lose("sales", "orders")
    configure(cluster, **{"spark.pyspark.python": blind(lake.warehouse)})
    with shell({"BERGUNG_SPARK_MASTER": cluster.master}) as there:
        said = there.call("restore", "lake.sales.orders")
    assert said.code in (3, 14), said
    assert "executors have other folders under the same names" in said.err
    assert ("orders",) not in lake.catalog.list_tables("sales"), "no table is registered that has no files"
    assert call("restore", "lake.sales.orders", "--engine", "process").code == 0
    assert tree(lake.warehouse) == before
