"""What goes wrong between us and a bucket, as the user reads it: what it is, and what to do. No secret is ever in it."""

import os
from collections.abc import Callable
from dataclasses import replace

import pytest

from bergung.clock import SystemClock
from bergung.errors import BergungError, NotAllowed, StoreError
from bergung.stores.access import Access
from bergung.stores.s3.store import S3Store
from bergung.stores.s3.writing import WHOLE_BYTES
from tests.contract.stores.child import in_child
from tests.servers.process import HOST, free_port
from tests.servers.s3 import SECRET, OwnBucket, S3Server

ORIGIN = "[[access]] 1 of /etc/bergung.toml"


@pytest.fixture(params=["versitygw_server", pytest.param("minio_server", marks=pytest.mark.nightly)])
def server(request: pytest.FixtureRequest) -> S3Server:
    found: S3Server = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def bucket(server: S3Server) -> OwnBucket:
    return server.new_bucket()


def with_access(bucket: OwnBucket, **words: object) -> S3Store:
    access = replace(bucket.server.access(), origin=ORIGIN, **words)  # type: ignore[arg-type]
    return S3Store(f"s3://{bucket.name}/vault", (access,))


def every_call(store: S3Store) -> list[Callable[[], object]]:
    return [
        lambda: store.head("key"),
        lambda: store.read("key"),
        lambda: list(store.blocks("key")),
        lambda: store.put_if_absent("key", [b"x"]),
        lambda: store.open("key"),
        lambda: store.put_if_absent("key", iter([b"x" * (WHOLE_BYTES + 1)])),
        lambda: list(store.list("")),
        lambda: list(store.list_versions("")),
        lambda: store.delete("key"),
        lambda: store.copy("key", "copy"),
    ]


def said_by_all(store: S3Store, kind: type[BergungError]) -> str:
    said = []
    for call in every_call(store):
        with pytest.raises(kind) as caught:
            call()
        assert caught.value.hint and SECRET not in f"{caught.value.message} {caught.value.hint} {store!r}"
        said.append(caught.value.message)
    return "\n".join(said)


def test_34_1_a_wrong_secret(bucket: OwnBucket) -> None:
    said = said_by_all(with_access(bucket, secret="wrongwrongwrong"), NotAllowed)
    for line in said.splitlines():
        assert line.startswith("wrong credentials") and "secret" in line and ORIGIN in line
    assert "wrongwrongwrong" not in said


def test_34_2_a_key_that_nobody_knows(bucket: OwnBucket) -> None:
    for line in said_by_all(with_access(bucket, key_id="stranger"), NotAllowed).splitlines():
        assert line.startswith("wrong credentials") and "does not know key stranger" in line and ORIGIN in line


def test_34_3_nobody_may(bucket: OwnBucket) -> None:
    for line in said_by_all(with_access(bucket, key_id="", secret="", anonymous=True), NotAllowed).splitlines():
        assert line.startswith("not allowed: s3:") and "nobody (anonymous" in line


def test_34_4_no_bucket(server: S3Server) -> None:
    for line in said_by_all(with_access(OwnBucket(server, "nobody-made-this")), StoreError).splitlines():
        assert f"there is no bucket nobody-made-this at {server.endpoint}" in line


def test_34_5_the_wrong_region_is_put_right_by_what_the_server_says(bucket: OwnBucket) -> None:
    store = with_access(bucket, region="eu-west-7")
    put = store.put_if_absent("key", iter([b"x" * 9_000_000]))
    assert store.read("key", start=8_999_999) == b"x" and store.head("key").version == put.version
    assert [found.key for found in store.list("")] == ["key"]


def test_34_6_nobody_listens_there() -> None:
    access = Access("s3://", f"http://{HOST}:{free_port()}", "us-east-1", "key", SECRET, origin=ORIGIN)
    began = SystemClock().monotonic()
    with pytest.raises(StoreError, match="cannot be reached") as caught:
        S3Store("s3://bucket/vault", (access,)).head("key")
    assert ORIGIN in caught.value.hint and "asked" in caught.value.message
    assert SystemClock().monotonic() - began < 10


def test_34_7_no_credentials_at_all(bucket: OwnBucket) -> None:
    def look() -> None:
        for name in [*os.environ]:
            if name.startswith("AWS_"):
                del os.environ[name]
        os.environ |= {"AWS_EC2_METADATA_DISABLED": "true", "HOME": "/nowhere", "AWS_CONFIG_FILE": "/nowhere/config"}
        os.environ["AWS_SHARED_CREDENTIALS_FILE"] = "/nowhere/credentials"
        with_access(bucket, key_id="", secret="").head("key")

    with pytest.raises(NotAllowed, match="no credentials for") as caught:
        in_child(look)
    assert "environment" in caught.value.hint or ORIGIN in caught.value.hint


def test_34_8_a_profile_that_nobody_wrote(bucket: OwnBucket) -> None:
    with pytest.raises(NotAllowed, match="nobody-wrote-this"):
        with_access(bucket, key_id="", secret="", profile="nobody-wrote-this").head("key")
