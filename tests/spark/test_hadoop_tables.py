"""A warehouse folder as a catalog: lost and restored, or taken back to a point, and its tables live on."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from bergung.catalogs.settings import open_catalog
from bergung.demo import tables
from bergung.model.names import table_name
from life_after import Life
from maintenance import append, compact, metadata_location
from tests.command import call
from truth import Truth, truth_of

ORDERS, STOCK = "shop.orders", "shop.eu.stock"


@pytest.fixture
def name(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A catalog with a table that has position deletes and one with compressed metadata, and a vault that holds both."""
    name = f"hadoop{tmp_path.name}".replace("_", "").lower()
    warehouse = (tmp_path / "warehouse").as_uri()
    spark.conf.set(f"spark.sql.catalog.{name}", "org.apache.iceberg.spark.SparkCatalog")
    for key, value in {"type": "hadoop", "warehouse": warehouse, "cache-enabled": "false"}.items():
        spark.conf.set(f"spark.sql.catalog.{name}.{key}", value)
    tables.orders(spark, f"{name}.{ORDERS}", 200)
    tables.stock(spark, f"{name}.{STOCK}", 100)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    variables = {"BERGUNG_VAULT": str(tmp_path / "vault"), "BERGUNG_ENGINE": "process"}
    variables |= dict.fromkeys(("HOME", "XDG_CONFIG_HOME"), str(home))
    for key, value in {"TYPE": "hadoop", "WAREHOUSE": warehouse}.items():
        variables[f"PYICEBERG_CATALOG__{name.upper()}__{key}"] = value
    for key, value in variables.items():
        monkeypatch.setenv(key, value)
    assert call("init").code == 0
    said = call("backup", name)
    assert said.code == 0, said.err
    yield name
    for table in (ORDERS, STOCK):
        spark.sql(f"DROP TABLE IF EXISTS {name}.{table}")


def test_a_warehouse_is_lost_and_comes_back(name: str, spark: SparkSession, tmp_path: Path) -> None:
    before = {table: truth(spark, name, table) for table in (ORDERS, STOCK)}
    pointers = {table: pointer(name, table) for table in before}
    shutil.rmtree(tmp_path / "warehouse")
    said = call("restore", "--all")
    assert said.code == 0, said.err
    assert {table: pointer(name, table) for table in before} == pointers
    for table, promised in before.items():
        lives_on(spark, name, table, promised)


def test_a_table_that_went_on_is_taken_back_as_its_next_version(name: str, spark: SparkSession) -> None:
    promised, then = truth(spark, name, ORDERS), pointer(name, ORDERS)
    append(spark, f"{name}.{ORDERS}")
    compact(spark, f"{name}.{ORDERS}")
    later = pointer(name, ORDERS)
    refused = call("restore", f"{name}.{ORDERS}")
    assert refused.code == 14 and f"with another state: {later}" in refused.err
    said = call("restore", f"{name}.{ORDERS}", "--confirm")
    assert said.code == 0, said.err
    assert number(pointer(name, ORDERS)) == number(later) + 1 > number(then)
    again = call("restore", f"{name}.{ORDERS}", "--confirm")
    assert again.code == 0 and number(pointer(name, ORDERS)) == number(later) + 1
    # What was written after the point belongs to no version any more.
    lives_on(spark, name, ORDERS, promised, has_orphans=True)


def test_a_table_that_lost_its_newest_files_comes_back(name: str, spark: SparkSession, tmp_path: Path) -> None:
    promised, then = truth(spark, name, ORDERS), pointer(name, ORDERS)
    folder = tmp_path / "warehouse" / "shop" / "orders"
    for lost in (*folder.glob(f"metadata/*v{number(then)}.*"), *folder.glob("data/*/*.parquet")):
        lost.unlink()
    said = call("restore", f"{name}.{ORDERS}")
    assert said.code == 0, said.err
    assert pointer(name, ORDERS) == then
    lives_on(spark, name, ORDERS, promised)


def lives_on(spark: SparkSession, name: str, table: str, promised: Truth, *, has_orphans: bool = False) -> None:
    """All of the suite but PyIceberg's clean-up, which knows no such catalog."""
    life = Life(spark, f"{name}.{table}", promised)
    life.check("as it came back")
    life.writes()
    if not has_orphans:
        life.has_no_orphans()
    life.expires_incrementally_by_core()
    life.expires_by_spark()
    life.expires_reachable_by_core()


def truth(spark: SparkSession, name: str, table: str) -> Truth:
    return truth_of(metadata_location(spark, f"{name}.{table}"), spark, f"{name}.{table}")


def pointer(name: str, table: str) -> str:
    return open_catalog(name).locate(table_name(f"{name}.{table}")).metadata_location


def number(location: str) -> int:
    return int(location.rpartition("/v")[2].partition(".")[0])
