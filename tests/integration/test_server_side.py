"""Copies that the store makes itself: no byte passes here, and the point is as good as any."""

from functools import partial
from pathlib import Path

import pytest

from bergung.backup.request import BackupRequest
from bergung.backup.run import run_backup
from bergung.carry.effects import Effects, here
from bergung.catalogs.select import select_tables
from bergung.catalogs.settings import open_catalog
from bergung.stores.open import Stores
from bergung.vault.vault import open_vault
from tests.command import call
from tests.faults.counting_store import Counts, counting_open
from tests.integration.real_lake import RealLake, access_entry, s3_properties
from tests.servers.s3 import S3Server

ROWS = 600_000
"""More than a MiB of Parquet: what is smaller passes here, in fewer requests."""


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
