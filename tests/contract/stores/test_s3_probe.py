"""What the probe sees on real servers, and the one that it refuses: moto's, which says yes to everything."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bergung.errors import Refused
from bergung.stores.probe import examine, probe
from bergung.stores.s3.store import S3Store
from tests.servers.process import HOST, answers, free_port, running
from tests.servers.s3 import KEY_ID, REGION, SECRET, OwnBucket, S3Server

ALL = ["create-only", "at once", "large files", "ranges", "lists", "signatures", "checksums", "versions", "locks"]


@pytest.fixture(scope="module")
def moto_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    port = free_port()
    command = [Path(sys.executable).with_name("moto_server"), "-H", HOST, "-p", str(port)]
    url = f"http://{HOST}:{port}"
    with running(command, tmp_path_factory.mktemp("moto"), lambda: answers(url)):
        yield S3Server("moto", url)


@pytest.fixture(params=["versitygw_server", pytest.param("minio_server", marks=pytest.mark.nightly)])
def server(request: pytest.FixtureRequest) -> S3Server:
    found: S3Server = request.getfixturevalue(request.param)
    return found


def names(store: S3Store) -> list[str]:
    found = list(examine(store))
    assert [finding.fact for finding in found if not finding.is_kept] == []
    assert list(store.list("")) == [] and list(store.list_versions("")) == []
    return [finding.promise.name for finding in found]


def test_33_1_a_plain_bucket_keeps_every_promise(server: S3Server) -> None:
    assert names(server.new_bucket().store()) == ALL[:-2]


def test_33_2_a_bucket_with_locks_keeps_them_all_and_is_left_empty(server: S3Server) -> None:
    bucket = server.new_bucket(locked=True)
    assert names(bucket.store()) == ALL and bucket.unfinished() == []


def test_33_3_a_server_that_takes_everything_is_refused(moto_server: S3Server) -> None:
    store = moto_server.new_bucket().store()
    broken = {finding.promise.name: finding for finding in examine(store) if not finding.is_kept}
    assert {"signatures", "checksums"} <= set(broken)
    with pytest.raises(Refused) as caught:
        probe(store)
    assert store.url in caught.value.message and caught.value.hint


def test_33_4_a_bucket_that_is_not_there_is_named(server: S3Server) -> None:
    with pytest.raises(Exception, match="there is no bucket nobody-made-this"):
        probe(OwnBucket(server, "nobody-made-this").store())


def test_33_5_the_command_says_it_and_ends_with_14(moto_server: S3Server, server: S3Server, tmp_path: Path) -> None:
    good, bad = server.new_bucket().name, moto_server.new_bucket().name
    entries = [access_entry(good, server), access_entry(bad, moto_server)]
    (tmp_path / "bergung.toml").write_text("\n".join(entries))
    (tmp_path / "secret").write_text(SECRET)
    taken = run_in(tmp_path, "vault", "validate", f"s3://{good}/vault", "--json")
    refused = run_in(tmp_path, "vault", "validate", f"s3://{bad}/vault", "--json")
    assert (taken.returncode, refused.returncode) == (0, 14), taken.stdout + refused.stdout + taken.stderr + refused.stderr
    promises = {each["promise"]: each for each in json.loads(refused.stdout.splitlines()[-1])["promises"]}
    assert promises["signatures"]["kept"] is False and promises["ranges"]["kept"] is True
    assert SECRET not in taken.stdout + refused.stdout
    init = run_in(tmp_path, "init", "--vault", f"s3://{bad}/vault")
    assert init.returncode == 14 and "wrong secret" in init.stderr


def access_entry(bucket: str, server: S3Server) -> str:
    values = {"prefix": f"s3://{bucket}/", "endpoint": server.endpoint, "region": REGION, "key_id": KEY_ID, "secret": "file:secret"}
    return "\n".join(["[[access]]", *(f'{name} = "{value}"' for name, value in values.items())])


def run_in(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [Path(sys.executable).with_name("bergung"), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
