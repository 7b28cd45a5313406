"""The README's lines for a vault in a bucket do what they say."""

import shlex
from pathlib import Path

import pytest

from tests.command import call
from tests.integration.real_lake import RealLake, access_entry
from tests.servers.s3 import OwnBucket, S3Server

README = Path(__file__).parents[2] / "README.md"


def test_a_vault_in_a_locked_bucket_and_its_copy(
    versitygw_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versitygw_server.client.create_bucket(Bucket="backups", ObjectLockEnabledForBucket=True)
    properties = {"type": "sql", "uri": f"sqlite:///{tmp_path}/lake.db", "warehouse": f"file://{tmp_path}/warehouse"}
    entry = access_entry(OwnBucket(versitygw_server, "backups"))
    lake = RealLake(tmp_path / "home", properties, str(tmp_path / "not the README's"), entry)
    lake.announce(monkeypatch)
    lake.make("orders")
    before = lake.rows("orders")
    commands = README.read_text().partition("## Your own catalog")[2].split("```")[3].strip().splitlines()
    assert [shlex.split(command)[1] for command in commands] == ["init", "backup", "vault"]
    for command in commands:
        said = call(*shlex.split(command.replace("/other/place", f"{tmp_path}/copy"))[1:])
        assert said.code == 0, said.err
    assert lake.lose("orders")
    assert call("restore", "--all", "--vault", f"{tmp_path}/copy").code == 0
    assert lake.rows("orders") == before
