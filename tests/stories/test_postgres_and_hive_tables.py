"""Tables of a SQL catalog on PostgreSQL and of a Hive Metastore, lost and taken back; PyIceberg is who lives with them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.hive import HiveCatalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.manifest import clear_manifest_cache
from tools.servers import CannotBuild

from tests.command import call
from tests.servers.hive import hive_metastore
from tests.servers.needed import absent
from tests.servers.postgres import postgres
from tests.stories.small_lake import SCHEMA

ORDERS = ("sales", "orders")


@pytest.fixture(scope="module", params=["postgres", "hive"])
def uri(request: pytest.FixtureRequest) -> Iterator[str]:
    try:
        if request.param == "hive":
            with hive_metastore() as found:
                yield found
        else:
            with postgres() as server:
                yield server.uri
    except CannotBuild as why:
        absent(why)


@pytest.fixture
def catalog(uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    """The catalog `lake`, known to every command, with one table of two snapshots; and a vault on a disk."""
    announce(uri, tmp_path, monkeypatch)
    kind = HiveCatalog if uri.startswith("thrift:") else SqlCatalog
    catalog: Catalog = kind("lake", uri=uri, warehouse=f"file://{tmp_path}/warehouse")
    if ("sales",) in catalog.list_namespaces():
        forget(catalog)
    catalog.create_namespace("sales", {"owner": "anna", "note": "what was sold", "location": f"file://{tmp_path}/warehouse/sales"})
    catalog.create_table(ORDERS, SCHEMA)
    append(catalog, 1, 2, 3)
    append(catalog, 4)
    assert call("init").code == 0
    return catalog


def announce(uri: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "home").mkdir()
    monkeypatch.chdir(folder / "home")
    settings = {"BERGUNG_VAULT": folder / "vault", "BERGUNG_ENGINE": "process", "PYICEBERG_CATALOG__LAKE__URI": uri}
    for key, text in {**settings, "HOME": folder / "home", "XDG_CONFIG_HOME": folder / "home"}.items():
        monkeypatch.setenv(key, str(text))


def forget(catalog: Catalog) -> None:
    for table in catalog.list_tables("sales"):
        catalog.drop_table(table)
    catalog.drop_namespace("sales")


def append(catalog: Catalog, *ids: int) -> None:
    data = pa.table({"id": ids, "name": [f"name {id_}" for id_ in ids]}, SCHEMA)
    catalog.load_table(ORDERS).append(data)


def rows(catalog: Catalog) -> dict[int, list[int]]:
    """The ids of every retained snapshot."""
    clear_manifest_cache()
    table = catalog.load_table(ORDERS)
    ids = [snapshot.snapshot_id for snapshot in table.metadata.snapshots]
    return {id_: sorted(table.scan(snapshot_id=id_).to_arrow()["id"].to_pylist()) for id_ in ids}


def test_a_database_is_lost_and_comes_back(catalog: Catalog, tmp_path: Path) -> None:
    before, pointer = rows(catalog), catalog.load_table(ORDERS).metadata_location
    properties = dict(catalog.load_namespace_properties("sales"))
    said = call("backup", "lake")
    assert said.code == 0, said.err
    forget(catalog)
    shutil.rmtree(tmp_path / "warehouse")
    said = call("restore", "--all")
    assert said.code == 0, said.err
    assert rows(catalog) == before
    assert catalog.load_table(ORDERS).metadata_location == pointer
    after = catalog.load_namespace_properties("sales")
    assert {key: after[key] for key in ("owner", "note")} == {"owner": "anna", "note": "what was sold"}
    assert after["location"] == properties["location"]
    append(catalog, 5)
    assert sorted(rows(catalog).values())[-1] == [1, 2, 3, 4, 5]


def test_a_table_is_taken_back_and_lives_on(catalog: Catalog) -> None:
    before = rows(catalog)
    assert call("backup", "lake.sales.orders").code == 0
    catalog.load_table(ORDERS).delete("id < 3")
    later = catalog.load_table(ORDERS).metadata_location
    refused = call("restore", "lake.sales.orders")
    assert refused.code == 14 and f"with another state: {later}" in refused.err
    said = call("restore", "lake.sales.orders", "--confirm")
    assert said.code == 0, said.err
    assert rows(catalog) == before
    append(catalog, 5)
    assert sorted(rows(catalog).values())[-1] == [1, 2, 3, 4, 5]


def test_a_server_that_is_gone_is_told(catalog: Catalog, uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    port = uri.rpartition(":")[2].partition("/")[0]
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", uri.replace(port, "1"))
    said = call("backup", "lake")
    assert said.code == 1
    assert "is not there" in said.err and "hint:" in said.err
    assert "p%40ss" not in said.err and "p@ss" not in said.err
