"""`--lock` on buckets with Object Lock, by the command line."""

from datetime import timedelta
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from bergung.clock import SystemClock, from_text
from tests.command import call
from tests.integration.real_lake import RealLake, access_entry, s3_properties
from tests.servers.s3 import S3Server


@pytest.mark.parametrize("server", ["versitygw_server", pytest.param("minio_server", marks=pytest.mark.nightly)])
def test_nobody_deletes_what_a_locked_point_needs(
    server: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3: S3Server = request.getfixturevalue(server)
    lake, vault = s3.new_bucket(), s3.new_bucket(locked=True)
    sql = {"type": "sql", "uri": f"sqlite:///{tmp_path}/lake.db"}
    properties = {**sql, "warehouse": f"s3://{lake.name}/warehouse", **s3_properties(s3)}
    real = RealLake(tmp_path / "home", properties, f"s3://{vault.name}/vault", access_entry(vault))
    real.announce(monkeypatch)
    assert call("init").code == 0
    real.make("orders")
    real.append("orders", range(10, 20))
    before, began = real.rows("orders"), SystemClock().now()
    said = call("backup", "lake", "--lock", "30d", "--json").result
    until = from_text(said["tables"][0]["locked_until"])
    assert until >= began + timedelta(days=30)

    pages = s3.client.get_paginator("list_object_versions").paginate(Bucket=vault.name)
    versions = [each for page in pages for each in page.get("Versions", []) if "/runs/" not in each["Key"]]
    assert len(versions) > 12
    for each in versions:
        named = {"Bucket": vault.name, "Key": each["Key"], "VersionId": each["VersionId"]}
        with pytest.raises(ClientError, match="AccessDenied|WORM|ObjectLocked"):
            s3.client.delete_object(**named)
        held = s3.client.get_object_retention(**named)["Retention"]["RetainUntilDate"]
        assert abs(held - until) < timedelta(seconds=2)
    assert real.lose("orders")
    assert call("restore", "--all").code == 0 and call("verify").code == 0
    assert real.rows("orders") == before


def test_a_bucket_without_locks_is_refused(versitygw_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = versitygw_server.new_bucket()
    properties = {"type": "sql", "uri": f"sqlite:///{tmp_path}/lake.db", "warehouse": f"file://{tmp_path}/warehouse"}
    real = RealLake(tmp_path / "home", properties, f"s3://{vault.name}", access_entry(vault))
    real.announce(monkeypatch)
    assert call("init").code == 0
    real.make("orders")
    said = call("backup", "lake", "--lock", "30d")
    assert said.code == 14 and "cannot lock" in said.errors[0] and "Object Lock" in said.hints[0]
