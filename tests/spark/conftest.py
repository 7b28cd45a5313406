"""One Spark for the whole run, one lake made once: a test that changes it gets it put back afterwards."""

import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from connect_server import connect_server
from pyspark.sql import SparkSession

import readers
from bergung.demo.lake import commit_more, make_lake
from bergung.spark.session import SessionSettings, iceberg_catalog_conf, open_session
from maintenance import metadata_location
from tests.servers.spark_cluster import CONFS as spark_cluster_confs
from tests.servers.spark_cluster import Cluster, spark_cluster
from truth import Truth, truth_of

CONFS = {
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    **readers.COLD,
}


@dataclass(frozen=True)
class Lake:
    """A catalog of its own in a folder of its own, known to the session by its name."""

    spark: SparkSession
    name: str
    folder: Path

    @property
    def warehouse(self) -> Path:
        return self.folder / "warehouse"

    @property
    def sqlite_path(self) -> Path:
        return self.folder / "catalog.db"

    def sql(self, text: str) -> None:
        self.spark.sql(text)

    def tables(self) -> list[str]:
        """Names below the catalog, with a dot between levels."""
        with sqlite3.connect(self.sqlite_path) as database:
            rows = database.execute("SELECT table_namespace || '.' || table_name FROM iceberg_tables ORDER BY 1").fetchall()
        return [row[0] for row in rows]

    def full(self, table: str) -> str:
        return f"{self.name}.{table}"

    def location(self, table: str) -> str:
        """The metadata file that the catalog names now."""
        return metadata_location(self.spark, self.full(table))

    def truth(self, table: str) -> Truth:
        """By all readers, Spark too."""
        return truth_of(self.location(table), self.spark, self.full(table))

    def keep(self, place: Path) -> None:
        """A copy to put back later: absolute paths in the metadata tie a lake to its folder."""
        shutil.copytree(self.warehouse, place / "warehouse")
        _copy_database(self.sqlite_path, place / "catalog.db")

    def put_back(self, place: Path) -> None:
        shutil.rmtree(self.warehouse, ignore_errors=True)
        shutil.copytree(place / "warehouse", self.warehouse)
        _copy_database(place / "catalog.db", self.sqlite_path)


def new_lake(spark: SparkSession, name: str, folder: Path) -> Lake:
    lake = Lake(spark, name, folder)
    folder.mkdir(parents=True, exist_ok=True)
    for key, value in iceberg_catalog_conf(name, lake.warehouse, lake.sqlite_path).items():
        if key.startswith("spark.sql.catalog."):
            spark.conf.set(key, value)
    return lake


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = open_session(SessionSettings(master="local[2,4]", iceberg=True, short=True, confs=CONFS))
    yield session
    session.stop()


@pytest.fixture(scope="session")
def lake_as_made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """After `make_lake` and `commit_more`; only for tests that change nothing."""
    lake = new_lake(spark, "lake", tmp_path_factory.mktemp("lake"))
    make_lake(spark, lake.name, rows=400)
    commit_more(spark, lake.name, rows=400)
    return lake


@pytest.fixture(scope="session")
def _kept(lake_as_made: Lake, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("kept")
    lake_as_made.keep(place)
    return place


@pytest.fixture
def lake(lake_as_made: Lake, _kept: Path) -> Iterator[Lake]:
    """The same lake for tests that change, damage or drop its tables: put back when the test is over."""
    yield lake_as_made
    lake_as_made.put_back(_kept)


@pytest.fixture
def empty_lake(spark: SparkSession, tmp_path: Path) -> Lake:
    """A fresh catalog with no tables, at its own path, under its own name."""
    return new_lake(spark, f"lake_{tmp_path.name}", tmp_path / "lake")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A master and two workers; a test that kills one of them takes a cluster of its own."""
    with spark_cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture(scope="session")
def cluster_by_connect(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Connect server whose executors are on that cluster."""
    confs = {"spark.master": cluster.master, **spark_cluster_confs}
    with connect_server(tmp_path_factory.mktemp("connect"), confs, cluster.python) as address:
        yield address


def _copy_database(source: Path, target: Path) -> None:
    # Not as a file: Spark's pool of connections keeps the one at `target` open.
    with sqlite3.connect(source) as read, sqlite3.connect(target) as written:
        read.backup(written)
