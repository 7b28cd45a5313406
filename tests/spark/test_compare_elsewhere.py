"""compare as a program of its own: tables in S3 at two endpoints, executors on a cluster, a Connect server."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from connect_server import connect_server
from pyiceberg.catalog.sql import SqlCatalog

from bergung.spark import jars
from bergung.spark.session import default_cache
from tests.command import Said, child
from tests.integration.real_lake import s3_properties
from tests.servers.s3 import REGION, S3Server
from tests.servers.spark_cluster import CONFS, Cluster
from tests.servers.versitygw import versitygw
from tests.stories.small_lake import SmallLake


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallLake:
    """Two tables; the second has one row more."""
    made = SmallLake(tmp_path)
    made.announce(monkeypatch)
    made.make("sales", "orders")
    made.make("sales", "copies", rows=range(11))
    return made


def one_row_more(said: Said) -> dict[str, Any]:
    assert said.code == 6, said.err
    (found,) = said.result["compared"]
    assert (found["rows_a"], found["rows_b"]) == (10, 11)
    assert found["sample"] == [{"only_in": "b", "times": 1, "values": {"id": 10, "name": "name 10"}}]
    return dict(found)


def test_tables_in_s3_each_with_its_own_endpoint_and_keys(
    lake: SmallLake, versitygw_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A by what its catalog declares, B by bergung.toml."""
    in_s3(lake, "a", versitygw_server, rows=10)
    for key, value in {"uri": f"sqlite:///{lake.folder}/a.db", **s3_properties(versitygw_server)}.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__A__{key.replace('-', '_').replace('.', '__').upper()}", value)
    with versitygw(tmp_path / "other", keys=("another", "anotherssecret")) as other:
        b = in_s3(lake, "b", other, rows=11)
        monkeypatch.setenv("SECRET_OF_B", other.secret)
        entry = {"prefix": b.rpartition("/metadata/")[0], "endpoint": other.endpoint, "region": REGION, "key_id": other.key_id}
        lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in entry.items())
        Path("bergung.toml").write_text(f'[[access]]\n{lines}\nsecret = "env:SECRET_OF_B"\n')
        one_row_more(child("compare", "a.db.t", b, "--json"))
        monkeypatch.setenv("SECRET_OF_B", "wrong")
        refused = child("compare", "a.db.t", b)
    assert refused.code == 12, refused.err


def in_s3(lake: SmallLake, name: str, server: S3Server, rows: int) -> str:
    """The metadata file of a table of so many rows."""
    place = f"s3://{server.new_bucket().name}/a b"
    catalog = SqlCatalog(name, uri=f"sqlite:///{lake.folder}/{name}.db", warehouse=place, **s3_properties(server))
    catalog.create_namespace("db")
    data = pa.table({"id": range(rows), "name": [f"name {number}" for number in range(rows)]})
    table = catalog.create_table("db.t", data.schema)
    table.append(data)
    return str(table.metadata_location)


def test_on_a_cluster(lake: SmallLake, cluster: Cluster) -> None:
    confs = {**CONFS, "spark.pyspark.python": str(cluster.python)}
    lines = [f"{json.dumps(name.removeprefix('spark.'))} = {json.dumps(value)}" for name, value in confs.items()]
    Path("bergung.toml").write_text("\n".join(["[spark]", *lines, ""]))
    one_row_more(child("compare", "lake.sales.orders", "lake.sales.copies", "--json", env={"BERGUNG_SPARK_MASTER": cluster.master}))


def test_through_connect(lake: SmallLake, tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    places = ",".join(map(str, jars.ensure(default_cache())))
    with connect_server(tmp_path / "server", {"spark.jars": places}) as remote:
        env = {"BERGUNG_SPARK_REMOTE": remote}
        one_row_more(child("compare", "lake.sales.orders", "lake.sales.copies", "--json", env=env))


def test_through_a_connect_server_without_iceberg(lake: SmallLake, tmp_path: Path) -> None:
    with connect_server(tmp_path) as remote:
        said = child("compare", "lake.sales.orders", "lake.sales.copies", env={"BERGUNG_SPARK_REMOTE": remote})
    assert said.code == 2 and said.errors[0].startswith("Spark, where it runs, lacks jars to read Iceberg tables"), said.err
    assert "docs/spark.md" in said.hints[0]
