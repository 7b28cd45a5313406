"""A request is carried out and its answer is lost: what was written is known again, never reported as somebody else's."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from bergung.errors import ObjectExists, SourceChanged, StoreError
from bergung.stores.s3.store import S3Store
from bergung.stores.s3.writing import WHOLE_BYTES
from tests.faults.s3.hurry import FastClock
from tests.servers.cutting_proxy import Strikes, cutting_proxy
from tests.servers.s3 import OwnBucket, S3Server

LARGE = secrets.token_bytes(WHOLE_BYTES + 5)
MIB = 1024 * 1024


@dataclass(frozen=True)
class Ground:
    bucket: OwnBucket
    store: S3Store
    strikes: Strikes
    past: S3Store
    """The same bucket, not through the proxy."""


@pytest.fixture(params=[False, True], ids=["plain", "versioned"])
def ground(versitygw_server: S3Server, request: pytest.FixtureRequest) -> Iterator[Ground]:
    bucket = versitygw_server.new_bucket(versioned=request.param)
    with cutting_proxy(versitygw_server.endpoint) as (endpoint, strikes):
        through = OwnBucket(replace(versitygw_server, endpoint=endpoint), bucket.name)
        yield Ground(bucket, through.store(), strikes, bucket.store())


def is_put(method: str, path: str) -> bool:
    return method == "PUT" and "?" not in path


def is_complete(method: str, path: str) -> bool:
    return method == "POST" and "uploadId=" in path


def is_part(method: str, path: str) -> bool:
    return method == "PUT" and "partNumber=" in path


def is_get(method: str, path: str) -> bool:
    return method == "GET" and path.partition("?")[0].endswith("/key")


def test_a_put_whose_answer_was_lost_is_known_again(ground: Ground) -> None:
    ground.strikes.lose(is_put, times=2)
    put = ground.store.put_if_absent("key", [b"mine"])
    assert ground.past.head("key") == put and ground.past.read("key") == b"mine"
    assert len(list(ground.past.list_versions("key"))) == 1


def test_a_write_that_is_refused_while_it_is_sent_is_known_as_refused(ground: Ground) -> None:
    """Some servers refuse and close before they have read the body: the answer is lost, however often it is sent again."""
    ground.past.put_if_absent("key", [b"theirs"])
    ground.strikes.lose(is_put, times=1000)
    with pytest.raises(ObjectExists):
        hurried(ground).put_if_absent("key", iter([b"mine"]))
    assert len([seen for seen in ground.strikes.seen if seen.startswith("PUT")]) == 1
    assert ground.past.read("key") == b"theirs"


def test_a_write_that_never_came_is_sent_again(ground: Ground) -> None:
    ground.strikes.answer(is_put, 503, b"<Error><Code>SlowDown</Code></Error>")
    ground.strikes.drop(is_put, times=2)
    put = ground.store.put_if_absent("key", iter([b"mine"]))
    assert ground.past.head("key").version == put.version and ground.past.read("key") == b"mine"


def test_a_completion_whose_answer_was_lost_is_known_again(ground: Ground) -> None:
    ground.strikes.lose(is_complete)
    put = ground.store.put_if_absent("key", iter([LARGE]))
    assert ground.past.head("key").version == put.version and ground.past.read("key") == LARGE
    assert ground.bucket.unfinished() == [] and len(list(ground.past.list_versions("key"))) == 1


@pytest.mark.parametrize("content", [b"same", LARGE], ids=["small", "large"])
def test_somebody_elses_object_is_not_taken_for_our_own_though_its_bytes_are_the_same(ground: Ground, content: bytes) -> None:
    def blocks() -> Iterator[bytes]:
        yield content
        ground.past.put_if_absent("key", [content])

    ground.strikes.answer(is_complete if content is LARGE else is_put, 503, b"<Error><Code>SlowDown</Code></Error>")
    with pytest.raises(ObjectExists):
        ground.store.put_if_absent("key", blocks())
    assert ground.past.read("key") == content and ground.bucket.unfinished() == []


def test_parts_whose_answers_were_lost_are_sent_again(ground: Ground) -> None:
    ground.strikes.lose(is_part, times=3)
    ground.store.put_if_absent("key", iter([LARGE]))
    assert ground.past.read("key") == LARGE


def test_a_copy_whose_answers_were_lost(ground: Ground) -> None:
    ground.past.put_if_absent("source", [b"x" * MIB])
    ground.strikes.lose(is_part)
    ground.strikes.lose(is_complete)
    ground.store.copy("source", "key")
    assert ground.past.read("key") == b"x" * MIB and ground.bucket.unfinished() == []


@pytest.mark.parametrize("matches", [is_complete, is_part])
def test_an_error_inside_an_answer_of_200_is_one(ground: Ground, matches: object) -> None:
    ground.past.put_if_absent("source", [b"x" * MIB])
    said = b'<?xml version="1.0"?>\n<Error><Code>InternalError</Code><Message>try again</Message></Error>'
    strike = ground.strikes.answer(matches, 200, said, times=2)  # type: ignore[arg-type]
    ground.store.copy("source", "key")
    assert strike.fired == 2 and ground.past.read("key") == b"x" * MIB


def test_a_read_goes_on_where_it_broke_off(ground: Ground) -> None:
    content = secrets.token_bytes(5 * MIB)
    put = ground.past.put_if_absent("key", [content])
    ground.strikes.halve(is_get, times=3)
    assert b"".join(ground.store.blocks("key", version=put.version)) == content
    ranges = [seen for seen in ground.strikes.seen if seen.startswith("GET") and "/key" in seen]
    assert len(ranges) == 4
    ground.strikes.halve(is_get)
    assert ground.store.read("key") == content


def test_an_object_that_changed_while_the_connection_was_broken_is_not_mixed(ground: Ground) -> None:
    ground.past.put_if_absent("key", [b"a" * (4 * MIB)])
    ground.strikes.halve(is_get)
    found = ground.store.blocks("key")
    taken = [next(found)]
    ground.bucket.overwrite("key", b"b" * (4 * MIB))
    try:
        taken.extend(found)
    except SourceChanged:
        assert not ground.past.keeps_versions
    assert set(b"".join(taken)) == {ord("a")}


def test_a_store_that_stays_busy_ends_in_an_error_that_says_so(ground: Ground) -> None:
    ground.strikes.answer(is_put, 503, b"<Error><Code>SlowDown</Code><Message>later</Message></Error>", times=1000)
    with pytest.raises(StoreError, match=r"SlowDown.*asked \d+ times in \d+ s"):
        hurried(ground).put_if_absent("key", [b"x"])
    assert list(ground.past.list("")) == []


def hurried(ground: Ground) -> S3Store:
    """A clock that runs a hundred times as fast, so that patience ends in a second."""
    return S3Store(ground.store.url, ground.store.accesses, FastClock())
