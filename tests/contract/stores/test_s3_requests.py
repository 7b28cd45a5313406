"""What each act costs: the requests that a server sees, and what is worked out twice of what they carry."""

import hashlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from bergung.clock import SystemClock
from bergung.errors import DamageFound, NotAllowed, ObjectExists, StoreError
from bergung.stores.digest import Expecting, Hashing, digest_of, find_version
from bergung.stores.memory import MemoryStore
from bergung.stores.s3 import writing
from bergung.stores.s3.clients import clients
from bergung.stores.s3.store import S3Store
from bergung.stores.s3.writing import WHOLE_BYTES
from bergung.stores.streaming import stream
from bergung.vault.blobs import keep
from tests.faults.s3.hurry import FastClock
from tests.servers.certificate import self_signed
from tests.servers.s3 import OwnBucket, S3Server
from tests.servers.versitygw import versitygw

MIB = 1024 * 1024
CONTENT = secrets.token_bytes(12 * MIB)
LARGE = secrets.token_bytes(WHOLE_BYTES + 1)


@dataclass(frozen=True)
class Sent:
    method: str
    query: str
    headers: dict[str, str]


@dataclass
class Seen:
    """A bucket's store, and what is sent there from now on."""

    store: S3Store
    bucket: OwnBucket
    sent: list[Sent] = field(default_factory=list)

    def note(self, request: Any, **_: Any) -> None:
        path, _, query = request.url.partition("?")
        if f"/{self.bucket.name}/" in path:
            headers = {name: value.decode() if isinstance(value, bytes) else str(value) for name, value in request.headers.items()}
            self.sent.append(Sent(request.method, "&".join(sorted(each.partition("=")[0] for each in query.split("&"))), headers))

    def taken(self) -> list[str]:
        """What was asked since the last time."""
        found = [f"{each.method} {each.query}".strip() for each in self.sent]
        self.sent.clear()
        return found


@pytest.fixture(params=["versitygw_server", pytest.param("minio_server", marks=pytest.mark.nightly)])
def server(request: pytest.FixtureRequest) -> S3Server:
    found: S3Server = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def seen(server: S3Server) -> Iterator[Seen]:
    yield from noted(server.new_bucket())


def noted(bucket: OwnBucket) -> Iterator[Seen]:
    store = bucket.store()
    client = clients.of(bucket.server.access(), store.url, SystemClock())
    found = Seen(store, bucket)
    # Whatever is asked about the bucket itself is asked once, whoever comes first.
    found.store.put_if_absent("first", [b"x"])
    client.meta.events.register("before-send.s3", found.note)
    try:
        yield found
    finally:
        client.meta.events.unregister("before-send.s3", found.note)


def source(content: bytes) -> Hashing:
    return Hashing(content[start : start + MIB] for start in range(0, len(content), MIB))


CREATE, PART, COMPLETE = "POST uploads", "PUT partNumber&uploadId", "POST uploadId"


def test_41_1_what_goes_into_one_request_is_one(seen: Seen) -> None:
    passing = source(CONTENT)
    seen.store.put_if_absent("key", passing)
    seen.store.make_durable(["key"])
    assert seen.taken() == ["PUT"]
    assert seen.store.read("key") == CONTENT and passing.digest == digest_of(CONTENT)


def test_41_2_what_is_larger_is_looked_for_and_goes_in_parts(seen: Seen) -> None:
    seen.store.put_if_absent("key", source(LARGE))
    assert sorted(seen.taken()) == sorted(["HEAD", CREATE, PART, PART, PART, COMPLETE])
    with pytest.raises(ObjectExists):
        seen.store.put_if_absent("key", source(LARGE))
    assert seen.taken() == ["HEAD"]


def test_41_3_a_read_is_one(seen: Seen) -> None:
    put = seen.store.put_if_absent("key", [CONTENT])
    seen.taken()
    opened = seen.store.open("key")
    assert b"".join(opened.blocks) == CONTENT and opened.stat.version == put.version
    assert seen.taken() == ["GET"]
    assert find_version(seen.store, "key", digest_of(CONTENT), len(CONTENT)) == put.version
    assert seen.taken() == ["GET"]


def test_41_4_a_copy_of_what_was_looked_at_is_three(seen: Seen) -> None:
    seen.store.put_if_absent("key", [CONTENT])
    stat = seen.store.head("key")
    # The first of a process finds out whether this store works out checksums of what it copies.
    seen.store.copy("key", "first copy")
    seen.taken()
    copied = seen.store.copy_from(seen.store, "key", "copy", version=stat)
    assert seen.taken() == [CREATE, PART, COMPLETE]
    assert seen.store.head("copy").version == copied.stat.version and seen.store.read("copy") == CONTENT


def test_41_5_where_keys_are_taken_later_writes_look_first(seen: Seen) -> None:
    """As in a run that was stopped and goes on: else it would send again all that lies there."""
    for number in range(3):
        seen.store.put_if_absent(f"{number}", [b"x"])
    seen.taken()
    for number in range(3):
        with pytest.raises(ObjectExists):
            seen.store.put_if_absent(f"{number}", source(CONTENT))
    assert seen.taken() == ["PUT", "HEAD", "HEAD", "HEAD"]
    with pytest.raises(ObjectExists):
        seen.store.copy_from(seen.store, "first", "0", version=seen.store.head("first"))
    seen.taken()
    for number in range(writing._LOOKS + 1):
        seen.store.put_if_absent(f"new {number}", source(b"x"))
    assert seen.taken() == ["HEAD", "PUT"] * writing._LOOKS + ["PUT"]


def test_41_6_what_is_at_hand_and_taken_makes_nobody_look(seen: Seen) -> None:
    """Documents are claimed, and a claim that is lost says nothing of files."""
    with pytest.raises(ObjectExists):
        seen.store.put_if_absent("first", [b"y"])
    seen.taken()
    seen.store.put_if_absent("key", source(b"x"))
    assert seen.taken() == ["PUT"]


def test_41_7_a_file_that_lies_there_is_read_once_and_compared(seen: Seen) -> None:
    reads = []

    def blocks() -> Iterator[bytes]:
        reads.append(1)
        yield from source(CONTENT)

    place = ("s3://lake/t", "s3://lake/t/data/a.parquet")
    first = keep(seen.store, "tables/t/", place, blocks)
    writing._wary.clear()
    seen.taken()
    again = keep(seen.store, "tables/t/", place, blocks)
    assert (first.is_new, again.is_new, again.digest) == (True, False, digest_of(CONTENT))
    assert seen.taken() == ["PUT", "HEAD", "GET"] and len(reads) == 2


# 42 signatures


def test_42_1_the_hash_that_is_known_is_what_the_store_checks(seen: Seen) -> None:
    class Lying(Hashing):
        @property
        def digest(self) -> str:
            return digest_of(b"other")

    seen.store.put_if_absent("key", source(CONTENT))
    (sent,) = seen.sent
    assert sent.headers["X-Amz-Content-SHA256"] == hashlib.sha256(CONTENT).hexdigest()
    assert "x-amz-checksum-crc32" in sent.headers
    hurried = S3Store(seen.store.url, seen.store.accesses, FastClock())
    with pytest.raises(StoreError, match="SHA256Mismatch"):
        hurried.put_if_absent("lie", Lying([b"x"]))
    assert [found.key for found in seen.store.list("")] == ["first", "key"]


def test_42_2_bytes_that_are_not_what_they_should_be_are_not_sent(seen: Seen) -> None:
    with pytest.raises(DamageFound):
        seen.store.put_if_absent("key", Expecting([CONTENT], "key", digest_of(b"other")))
    assert seen.taken() == []
    memory = MemoryStore(seen.bucket.name)
    memory.put_if_absent("key", [CONTENT])
    stream((memory, "key", None), (seen.store, "key"), digest_of(CONTENT))
    assert seen.sent[0].headers["X-Amz-Content-SHA256"] == hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(scope="module")
def with_tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    folder = tmp_path_factory.mktemp("versitygw-tls")
    certificate, _ = self_signed(folder)
    with pytest.MonkeyPatch.context() as patch, versitygw(folder, tls=(certificate, folder / "key.pem")) as server:
        patch.setenv("AWS_CA_BUNDLE", str(certificate))
        yield server


def test_42_3_over_tls_a_checksum_is_enough(with_tls: S3Server) -> None:
    for seen in noted(with_tls.new_bucket()):
        seen.store.put_if_absent("large", source(LARGE))
        parts = [each.headers for each in seen.sent if "partNumber" in each.query]
        assert {each["X-Amz-Content-SHA256"] for each in parts} == {"UNSIGNED-PAYLOAD"} and len(parts) == 3
        assert all("x-amz-checksum-crc32" in each for each in parts)
        seen.sent.clear()
        seen.store.put_if_absent("known", source(CONTENT))
        assert seen.sent[0].headers["X-Amz-Content-SHA256"] == hashlib.sha256(CONTENT).hexdigest()
        assert seen.store.read("large") == LARGE and seen.store.read("known") == CONTENT
        assert writing.refuses_wrong_bytes(seen.store._bucket, "vault/wrong")
        forged = tuple(replace(each, secret="forged") for each in seen.store.accesses)
        with pytest.raises(NotAllowed, match="secret"):
            S3Store(seen.store.url, forged).put_if_absent("forged", source(LARGE))


def test_42_4_without_tls_every_body_is_signed(seen: Seen) -> None:
    seen.store.put_if_absent("large", source(LARGE))
    seen.store.put_if_absent("small", [b"x"])
    signed = {each.headers["X-Amz-Content-SHA256"] for each in seen.sent if each.method == "PUT"}
    assert "UNSIGNED-PAYLOAD" not in signed and hashlib.sha256(b"x").hexdigest() in signed and len(signed) == 4
