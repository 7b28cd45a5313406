"""The whole round trip through the command line, where users are: object stores, other catalogs, two endpoints at once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command import call
from tests.integration.real_lake import RealLake, access_entry, s3_properties
from tests.servers.s3 import S3Server

Make = Callable[[pytest.FixtureRequest, Path], RealLake]


def sqlite(folder: Path) -> dict[str, str]:
    return {"type": "sql", "uri": f"sqlite:///{folder}/lake.db"}


def on_one_endpoint(request: pytest.FixtureRequest, folder: Path) -> RealLake:
    server: S3Server = request.getfixturevalue("versitygw_server")
    lake, vault = server.new_bucket(), server.new_bucket()
    properties = {**sqlite(folder), "warehouse": f"s3://{lake.name}/warehouse", **s3_properties(server)}
    return RealLake(folder / "home", properties, f"s3://{vault.name}/vault", access_entry(vault))


def on_two_endpoints(request: pytest.FixtureRequest, folder: Path) -> RealLake:
    server, other = (request.getfixturevalue(name) for name in ("versitygw_server", "other_server"))
    lake, vault = server.new_bucket(), other.new_bucket()
    properties = {**sqlite(folder), "warehouse": f"s3://{lake.name}/warehouse", **s3_properties(server)}
    return RealLake(folder / "home", properties, f"s3://{vault.name}/vault", access_entry(vault))


def from_disk_to_s3(request: pytest.FixtureRequest, folder: Path) -> RealLake:
    vault = request.getfixturevalue("versitygw_server").new_bucket()
    properties = {**sqlite(folder), "warehouse": f"file://{folder}/warehouse"}
    return RealLake(folder / "home", properties, f"s3://{vault.name}", access_entry(vault))


def from_s3_to_disk(request: pytest.FixtureRequest, folder: Path) -> RealLake:
    server: S3Server = request.getfixturevalue("versitygw_server")
    properties = {**sqlite(folder), "warehouse": f"s3a://{server.new_bucket().name}/warehouse", **s3_properties(server)}
    return RealLake(folder / "home", properties, str(folder / "vault"))


PLACES: list[Make] = [on_one_endpoint, on_two_endpoints, from_disk_to_s3, from_s3_to_disk]


@pytest.fixture(params=PLACES, ids=lambda make: make.__name__)
def lake(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RealLake:
    made: RealLake = request.param(request, tmp_path)
    made.announce(monkeypatch)
    assert call("init").code == 0
    return made


def test_what_was_lost_comes_back(lake: RealLake) -> None:
    lake.make("orders")
    lake.make("items", range(100, 140))
    first = call("backup", "lake", "--json").result
    assert (first["status"], first["exit_code"]) == ("complete", 0)
    lake.append("orders", range(10, 30))
    lake.delete("orders", "id < 5")
    second = call("backup", "lake.sales.*", "--json").result
    assert second["status"] == "complete" and second["new_files"] < first["new_files"] + 8
    again = call("backup", "lake", "--json").result
    assert again["new_bytes"] == 0

    before = {name: lake.rows(name) for name in ("orders", "items")}
    assert len(before["orders"]) == 3
    assert all(lake.lose(name) for name in before)
    restored = call("restore", "--all", "--json").result
    assert restored["exit_code"] == 0, restored
    assert (restored["status"], sorted(restored["done"])) == ("complete", ["lake.sales.items", "lake.sales.orders"])
    assert {name: lake.rows(name) for name in before} == before
    lake.append("orders", [1000])
    assert call("backup", "lake", "--json").result["status"] == "complete"
    assert call("verify").code == 0


def test_damage_in_place_is_mended_and_nothing_else_is_touched(lake: RealLake) -> None:
    lake.make("orders")
    lake.append("orders", range(10, 20))
    assert call("backup", "lake").code == 0
    before = lake.rows("orders")
    table = lake.catalog.load_table(("sales", "orders"))
    lost = table.inspect.files()["file_path"].to_pylist()[0]
    assert lake.remove(lost)
    found = call("restore", "lake.sales.orders", "--json").result
    assert (found["status"], found["written"]["files"]) == ("complete", 1)
    assert lake.rows("orders") == before


def test_a_metadata_file_that_is_gone_comes_back(lake: RealLake) -> None:
    lake.make("orders")
    lake.append("orders", range(10, 20))
    assert call("backup", "lake").code == 0
    before = lake.rows("orders")
    assert lake.remove(lake.catalog.load_table(("sales", "orders")).metadata_location)
    assert call("restore", "lake.sales.orders", "--dry-run", "--json").result["tables"][0]["absent"]["files"] == 1
    assert call("restore", "lake.sales.orders").code == 0
    assert lake.rows("orders") == before
