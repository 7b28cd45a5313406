"""A second copy of a vault on real object stores: by the server of one endpoint, between two, from disk and to disk."""

from pathlib import Path
from secrets import token_bytes

import pytest

from bergung.errors import DamageFound
from bergung.stores.digest import digest_of
from bergung.stores.open import open_path
from bergung.vault.objects import bring
from tests.command import call
from tests.faults.counting_store import CountingStore, Counts
from tests.integration.real_lake import RealLake, access_entry, s3_properties
from tests.integration.test_round_trip import sqlite
from tests.servers.s3 import S3Server

FAR, NEAR, DISK = "far", "near", "disk"


@pytest.mark.parametrize("source", [NEAR, DISK])
@pytest.mark.parametrize("target", [NEAR, FAR, DISK])
def test_the_copy_brings_everything_back(
    versitygw_server: S3Server, other_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, target: str
) -> None:
    buckets = {NEAR: versitygw_server.new_bucket(), FAR: other_server.new_bucket()}
    second = versitygw_server.new_bucket() if target == NEAR else buckets[FAR]
    addresses = {NEAR: f"s3://{second.name}/copy", FAR: f"s3://{second.name}/copy", DISK: str(tmp_path / "copy")}
    vault = str(tmp_path / "vault") if source == DISK else f"s3://{buckets[NEAR].name}/vault"
    properties = {
        **sqlite(tmp_path),
        "warehouse": f"s3://{versitygw_server.new_bucket().name}/wh",
        **s3_properties(versitygw_server),
    }
    toml = access_entry(buckets[NEAR]) + access_entry(second)
    lake = RealLake(tmp_path / "home", properties, vault, toml)
    lake.announce(monkeypatch)
    assert call("init").code == 0
    # Long enough that one endpoint copies it by itself.
    lake.make("orders", range(300_000))
    assert call("backup", "lake").code == 0
    lake.append("orders", range(10))
    assert call("backup", "lake").code == 0

    to = addresses[target]
    said = call("vault", "copy", to, "--data", "all", "--json")
    assert (said.code, len(said.result["points"])) == (0, 2), said.err
    assert said.result["verified"]["read"] == said.result["brought"]
    again = call("vault", "copy", to, "--json").result
    assert (again["brought"]["files"], again["points"]) == (0, [])
    lake.append("orders", range(10, 20))
    point = call("backup", "lake", "--json").result
    more = call("vault", "copy", to, "--json").result
    assert (more["brought"]["files"], more["brought"]["bytes"]) == (4, point["new_bytes"])

    before = lake.rows("orders")
    assert lake.lose("orders")
    _wipe(lake, vault)
    assert call("points").code == 10
    assert call("restore", "--all", "--vault", to).code == 0
    assert lake.rows("orders") == before
    assert call("verify", "--vault", to).code == 0
    lake.append("orders", range(20, 30))
    assert call("backup", "lake", "--vault", to, "--json").result["backup_type"] == "incremental"


def _wipe(lake: RealLake, address: str) -> None:
    store, prefix = open_path(address, access=lake.owner)
    for key in [found.key for found in store.list(f"{prefix}/")]:
        store.delete(key)


def test_one_endpoint_copies_a_large_file_by_itself_and_never_other_bytes(versitygw_server: S3Server) -> None:
    own, counts, content = versitygw_server.new_bucket(), Counts(), token_bytes(2 * 1024 * 1024)
    source, target = (CountingStore(bucket.store("vault"), counts) for bucket in (own, versitygw_server.new_bucket()))
    for key in ("blob", "attacked"):
        source.put_if_absent(key, [content])
    own.overwrite("attacked", content[::-1], "vault")
    counts.clear()
    assert bring((source, target), "blob", digest_of(content)) == len(content)
    assert (counts.requests("copy_from"), counts.requests("blocks"), counts.requests("put_if_absent")) == (1, 0, 0)
    assert bring((source, target), "blob", digest_of(content)) is None, "it lies there"
    with pytest.raises(DamageFound):
        bring((source, target), "attacked", digest_of(content))
    assert [stat.key for stat in target.list("")] == ["blob"]
