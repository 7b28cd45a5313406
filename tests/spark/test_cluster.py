"""The whole story on a standalone cluster, and through a Connect server whose executors are there: as on this process alone."""

import json
from pathlib import Path

import pytest
from shell import Shell, shell

from tests.command import call, tree
from tests.servers.spark_cluster import CONFS, Cluster
from tests.stories.small_lake import SmallLake

TABLES = (("sales", "orders"), ("sales", "eu", "stock"), ("empty",))
MODES = ("cluster", pytest.param("cluster_by_connect", marks=pytest.mark.nightly))


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallLake:
    made = SmallLake(tmp_path)
    made.announce(monkeypatch)
    monkeypatch.setenv("BERGUNG_ENGINE", "spark")
    made.catalog.create_namespace("bare")
    made.make("sales", "orders")
    made.make("sales", "eu", "stock", rows=range(300))
    made.make("bare", "empty", rows=())
    return made


@pytest.fixture(params=MODES)
def settings(request: pytest.FixtureRequest, cluster: Cluster) -> dict[str, str]:
    """What a user sets, beside bergung.toml."""
    where = request.getfixturevalue(request.param)
    if isinstance(where, Cluster):
        return {"BERGUNG_SPARK_MASTER": where.master}
    return {"BERGUNG_SPARK_REMOTE": where, "PYSPARK_PYTHON": "nothing that is there: the server decides"}


def configure(cluster: Cluster, **more: str) -> None:
    """A bergung.toml where the user stands."""
    confs = {**CONFS, "spark.pyspark.python": str(cluster.python), **more}
    lines = [f"{json.dumps(name.removeprefix('spark.'))} = {json.dumps(value)}" for name, value in confs.items()]
    Path("bergung.toml").write_text("\n".join(["[spark]", *lines, ""]))


def test_the_round_trip_is_that_of_this_process(lake: SmallLake, cluster: Cluster, settings: dict[str, str]) -> None:
    configure(cluster)
    with shell(settings, on_executors=True) as there:
        ends(there, "init")
        twin = lake.folder / "twin"
        assert call("init", "--vault", str(twin)).code == 0
        for rows in (range(0), range(1000, 1010)):
            lake.append(("sales", "orders"), rows)
            ends(there, "backup", "lake")
            assert call("backup", "lake", "--engine", "process", "--vault", str(twin)).code == 0
            assert tables_of(lake.vault) == tables_of(twin), "not the same bytes as by this process"
        points = call("points", "--json").result["points"]
        assert [point["backup_type"] for point in points] == ["full", "incremental"]
        files, before = tree(lake.warehouse), lake.rows("sales", "orders")
        lake.lose("sales", "orders")
        lake.lose("sales", "eu", "stock")
        ends(there, "restore", "lake.sales")
        assert tree(lake.warehouse) == files and lake.rows("sales", "orders") == before
        ends(there, "verify", "--data", "all")
    assert used_executors(cluster)


def ends(there: Shell, *words: str) -> None:
    said = there.call(*words)
    assert said.code == 0, (words, said.out, said.err)


def tables_of(vault: Path) -> dict[str, str]:
    """All blobs and receipts."""
    return {str(Path(path).relative_to(vault)): digest for path, digest in tree(vault / "tables").items()}


def used_executors(cluster: Cluster) -> bool:
    return any(cluster.folder.glob("worker-*/*/app-*/*/stderr"))
