"""The round trip over a REST catalog: files that only the server's credentials reach, entries that it cannot read."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import requests

from bergung.clock import SystemClock, to_ms
from bergung.stores.access import Access
from tests.command import call
from tests.integration.real_lake import RealLake, access_entry, s3_properties
from tests.servers.rest_front import rest_front
from tests.servers.rest_server import RestServer, missing, rest_server
from tests.servers.s3 import REGION, S3Server


@dataclass
class RestLake(RealLake):
    """Its owner is not the one who backs it up."""

    keys: tuple[Access, ...] = field(default=(), repr=False)

    @property
    def owner(self) -> tuple[Access, ...]:
        return self.keys


@pytest.fixture
def on_disk(rest: RestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RestLake:
    return announced(RestLake(tmp_path / "home", {"type": "rest", "uri": rest.catalog()}, str(tmp_path / "vault")), monkeypatch)


@pytest.fixture
def on_s3(versitygw_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RestLake]:
    """The user declares where the store is, and the server vends the keys."""
    if missing():
        pytest.skip(f"needs a server: {missing()}")
    bucket, vault = versitygw_server.new_bucket(), versitygw_server.new_bucket()
    own = {
        **s3_properties(versitygw_server),
        "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "client.region": REGION,
        "warehouse": f"s3://{bucket.name}/warehouse",
        "include-credentials": "true",
    }
    with rest_server(tmp_path / "server", own) as server:
        declared = {"type": "rest", "uri": server.catalog(), "s3.endpoint": versitygw_server.endpoint, "s3.region": REGION}
        lake = RestLake(tmp_path / "home", declared, f"s3://{vault.name}/vault", access_entry(vault))
        lake.keys = (versitygw_server.access(),)
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
            monkeypatch.delenv(name, raising=False)
        yield announced(lake, monkeypatch)


def announced(lake: RestLake, monkeypatch: pytest.MonkeyPatch) -> RestLake:
    lake.announce(monkeypatch)
    assert call("init").code == 0
    return lake


def test_what_was_lost_comes_back(on_disk: RestLake) -> None:
    on_disk.make("orders")
    on_disk.append("orders", range(10, 20))
    assert call("backup", "lake", "--json").result["status"] == "complete"
    on_disk.append("orders", range(20, 30))
    assert call("backup", "lake", "--json").result["status"] == "complete"
    before = on_disk.rows("orders")
    assert on_disk.lose("orders") > 0
    restored = call("restore", "--all", "--json").result
    assert (restored["status"], restored["done"]) == ("complete", ["lake.sales.orders"])
    assert on_disk.rows("orders") == before
    on_disk.append("orders", [99])
    assert call("backup", "lake", "--json").result["status"] == "complete"
    assert call("verify").code == 0


def test_files_are_reached_by_what_the_server_vends(on_s3: RestLake) -> None:
    on_s3.make("orders")
    on_s3.append("orders", range(10, 20))
    backed = call("backup", "lake", "--json")
    assert backed.code == 0, backed.err + backed.out
    before = on_s3.rows("orders")
    table = on_s3.catalog.load_table(("sales", "orders"))
    assert on_s3.remove(table.inspect.files()["file_path"].to_pylist()[0])
    restored = call("restore", "lake.sales.orders", "--json")
    assert restored.code == 0, restored.out + restored.err
    assert (restored.result["status"], restored.result["written"]["files"]) == ("complete", 1)
    assert on_s3.rows("orders") == before


def test_credentials_for_a_folder_that_are_about_to_end_are_renewed(on_s3: RestLake, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first ones open nothing: what is read was read by those that the server gave on being asked again."""
    on_s3.make("orders")
    before = on_s3.rows("orders")
    loaded = requests.get(f"{on_s3.properties['uri']}/v1/namespaces/sales/tables/orders", timeout=30).json()
    config = loaded.pop("config")
    now = SystemClock().now()

    def vending(keys: dict[str, str], ends: datetime) -> dict[str, Any]:
        own = {**keys, "s3.session-token-expires-at-ms": str(to_ms(ends))}
        return {**loaded, "storage-credentials": [{"prefix": loaded["metadata"]["location"], "config": own}]}

    with rest_front(on_s3.properties["uri"]) as front:
        front.says("GET", "/orders[?]", vending(config, now + timedelta(hours=1)))
        ended = {"s3.access-key-id": "nobody", "s3.secret-access-key": "knows"}
        front.says("GET", "/orders[?]", vending(ended, now + timedelta(minutes=1)), times=2)
        RestLake(on_s3.home, {**on_s3.properties, "uri": front.url}, on_s3.vault, on_s3.toml).announce(monkeypatch)
        backed = call("backup", "lake", "--json")
        assert backed.code == 0, backed.out + backed.err
        assert len(front.requests("GET", "/orders[?]")) >= 3
        table = on_s3.catalog.load_table(("sales", "orders"))
        assert on_s3.remove(table.inspect.files()["file_path"].to_pylist()[0])
        assert call("restore", "lake.sales.orders").code == 0
    assert on_s3.rows("orders") == before


def test_a_point_says_nothing_of_metadata_that_is_the_files_own(on_disk: RestLake) -> None:
    """The server writes it out in letters of its own."""
    on_disk.make("orders")
    call("backup", "lake")
    shown = call("show", "latest", "--json")
    assert shown.code == 0
    assert '"served":null' in shown.out


def test_an_entry_whose_files_are_gone_is_whole_again(on_disk: RestLake) -> None:
    on_disk.make("orders")
    assert call("backup", "lake").code == 0
    before = on_disk.rows("orders")
    on_disk.wipe(on_disk.catalog.load_table(("sales", "orders")).location())
    refused = call("restore", "lake.sales.orders")
    assert refused.code == 14
    assert refused.errors == ["lake.sales.orders is in the catalog with a state that cannot be read"]
    done = call("restore", "lake.sales.orders", "--confirm")
    assert done.code == 0, done.err
    assert on_disk.rows("orders") == before


def test_an_entry_that_names_a_lost_file_goes_back_to_the_point(on_disk: RestLake) -> None:
    on_disk.make("orders")
    assert call("backup", "lake").code == 0
    before = on_disk.rows("orders")
    on_disk.append("orders", [77])
    on_disk.wipe(on_disk.catalog.load_table(("sales", "orders")).location())
    done = call("restore", "lake.sales.orders", "--confirm")
    assert done.code == 0, done.err
    assert on_disk.rows("orders") == before
    on_disk.append("orders", [78])
    assert len(on_disk.rows("orders")) == 2


def test_a_server_that_cannot_go_back_says_so_and_what_to_do(
    rest: RestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    properties = {"type": "rest", "uri": rest.catalog("plain")}
    lake = announced(RestLake(tmp_path / "home", properties, str(tmp_path / "vault")), monkeypatch)
    lake.make("orders")
    assert call("backup", "lake").code == 0
    before = lake.rows("orders")
    lake.append("orders", [77])
    failed = call("restore", "lake.sales.orders", "--confirm")
    assert failed.code != 0
    assert "cannot point lake.sales.orders elsewhere in place" in failed.err
    assert "no PURGE" in failed.err
    assert len(lake.rows("orders")) == 2
    lake.catalog.drop_table(("sales", "orders"))
    assert call("restore", "lake.sales.orders").code == 0
    assert lake.rows("orders") == before
