"""Copies that the store makes itself: no byte passes here, and the point is as good as any."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from bergung.backup.request import BackupRequest
from bergung.backup.run import run_backup
from bergung.carry.effects import Effects, here
from bergung.carry.job import Job, TableJob
from bergung.carry.keeping import keep_file
from bergung.carry.rows import LISTED
from bergung.catalogs.select import select_tables
from bergung.catalogs.settings import open_catalog
from bergung.stores.base import Stat
from bergung.stores.digest import digest_of
from bergung.stores.open import Stores
from bergung.stores.s3.store import S3Store
from bergung.vault.receipts import HELD, MISSING
from bergung.vault.vault import open_vault
from tests.command import call
from tests.faults.counting_store import Counts, counting_open
from tests.integration.real_lake import RealLake, access_entry, s3_properties
from tests.servers.s3 import S3Server

MIB = 1024 * 1024
ROWS = 600_000
"""More than a MiB of Parquet: what is smaller passes here, in fewer requests."""


class Restless(S3Store):
    """Somebody overwrites or deletes what was just looked at."""

    then: list[Callable[[], object]] = []

    def head(self, key: str) -> Stat:
        found = super().head(key)
        if self.then:
            self.then.pop(0)()
        return found


def test_a_source_that_changes_after_the_look_is_looked_at_again(versitygw_server: S3Server) -> None:
    lake, vault = versitygw_server.new_bucket(), versitygw_server.new_bucket().store()
    path, contents = "t/data/a.parquet", [letter * MIB for letter in (b"a", b"b", b"c")]
    source = Restless(f"s3://{lake.name}", (versitygw_server.access(),))
    job = Job(vault.url, "run", {0: TableJob("t", "tables/t/", f"s3://{lake.name}/t")})
    job = replace(job, open=lambda url, access=(): vault if url == vault.url else source)
    row = {**dict.fromkeys(LISTED.names), "table": 0, "path": f"s3://{lake.name}/{path}", "declared_bytes": MIB}

    source.put_if_absent(path, [contents[0]])
    source.then = [partial(lake.overwrite, path.removeprefix("t/"), content, "t") for content in contents[1:]]
    (held,) = keep_file(job, [row]).rows
    assert (held["state"], held["digest"]) == (HELD, digest_of(contents[2])) and source.then == []
    assert held["source_version"] == source.head(path).version
    assert vault.read("tables/t/" + held["blob_key"]) == contents[2]

    vault.delete("tables/t/" + held["blob_key"])
    source.then = [partial(source.delete, path)]
    (missing,) = keep_file(job, [row]).rows
    assert (missing["state"], missing["error"]) == (MISSING, None)
    assert list(vault.list("tables/")) == []


@pytest.mark.parametrize("server", ["versitygw_server", pytest.param("minio_server", marks=pytest.mark.nightly)])
def test_on_one_endpoint_the_store_copies_itself(
    server: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3: S3Server = request.getfixturevalue(server)
    lake, vault = s3.new_bucket(), s3.new_bucket()
    sql = {"type": "sql", "uri": f"sqlite:///{tmp_path}/lake.db"}
    properties = {**sql, "warehouse": f"s3://{lake.name}/warehouse", **s3_properties(s3)}
    real = RealLake(tmp_path / "home", properties, f"s3://{vault.name}/vault", access_entry(vault))
    real.announce(monkeypatch)
    assert call("init").code == 0
    real.make("orders", range(ROWS))
    real.append("orders", range(ROWS, 2 * ROWS))
    before = real.rows("orders")

    counts = Counts()
    stores = counting_open(counts, Stores((s3.access(),)))
    selected = select_tables(["lake"], [], partial(open_catalog, open_store=stores))
    result = run_backup(Effects(engine=here, open_store=stores), open_vault(real.vault, stores), BackupRequest(("lake",)), selected)
    assert result.record.backup_metadata.status == "complete"
    assert len([one for one in counts.of("copy_from", "tables/") if one.key.endswith(".parquet")]) == 2
    read = [one for one in counts.of("blocks") if one.key.endswith(".parquet") and one.key.startswith("warehouse/")]
    assert read == [], "none of the data files passed here"
    assert call("verify").code == 0
    assert real.lose("orders")
    assert call("restore", "--all").code == 0
    assert real.rows("orders") == before
