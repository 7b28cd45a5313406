"""Bytes of one version: found with the fewest requests and rights, gone on with where a connection broke."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bergung.errors import BergungError
from bergung.stores.base import Opened, Stat
from bergung.stores.s3.bucket import Bucket, Said
from bergung.stores.s3.kinds import Kind, kind_of, sdk_errors
from bergung.stores.s3.listing import versions_of
from bergung.stores.s3.patience import Patience
from bergung.stores.s3.versions import NULL, is_etag, keeps_versions, name_of, stat_of
from bergung.stores.s3.words import changed, missing

LARGE_BYTES = 64 * 1024 * 1024
"""From here on one connection is not enough: several ranges are fetched at once."""

_RANGE_BYTES = 8 * 1024 * 1024
_RANGES_AHEAD = 4
_ELSEWHERE = {Kind.MISSING, Kind.NO_VERSION, Kind.PRECONDITION}


@dataclass(frozen=True)
class Answer:
    """A version that was found, and its bytes from where they were asked for; no body where that lies behind its end."""

    stat: Stat | None
    body: Any


def head(bucket: Bucket, key: str) -> Stat:
    """What lies under the key now."""
    try:
        return stat_of(key, bucket.ask("head_object", key, meant={Kind.MISSING}))
    except Said as said:
        bucket.check_is_there()
        raise missing(bucket.address(key)) from said


def facts(bucket: Bucket, key: str, version: str | None) -> dict[str, Any]:
    """All that a HEAD says of a version; `AskedById` is there when it is not the newest."""
    newest: dict[str, Any] = {}
    with suppress(Said):
        newest = bucket.ask("head_object", key, meant={Kind.MISSING})
    if newest and version in (None, stat_of(key, newest).version):
        return newest
    if version is not None and keeps_versions(bucket):
        by_id = NULL if is_etag(version) else version
        with suppress(Said):
            older = bucket.ask("head_object", key, meant={*_ELSEWHERE, Kind.IS_MARKER}, VersionId=by_id)
            if stat_of(key, older).version == version:
                return {**older, "AskedById": by_id}
    raise _gone(bucket, key, version, is_there=bool(newest))


def read(bucket: Bucket, key: str, start: int, length: int | None, version: str | None) -> bytes:
    """A range, shorter where the object ends before it."""
    patience = Patience(bucket.clock)
    # No range can say "nothing", and whether the version is there still counts.
    range_ = _range(start, 1 if length == 0 else length)
    while True:
        try:
            body = open_version(bucket, key, version, range_).body
            content: bytes = b"" if body is None else body.read()
            return content if length is None else content[:length]
        except sdk_errors() as error:
            if not bucket.goes_on(kind_of(error), error, key, patience):
                raise bucket.failure("get_object", key, error, patience) from error


def open_whole(bucket: Bucket, key: str, version: str | None, block_bytes: int) -> Opened:
    """All of that version, or of the one that is found."""
    answer = open_version(bucket, key, version, {})
    assert answer.stat is not None, "only a range can lie behind the end"
    return Opened(answer.stat, _blocks(bucket, answer.stat, answer.body, block_bytes))


def open_version(bucket: Bucket, key: str, version: str | None, range_: dict[str, Any]) -> Answer:
    """The version; SourceChanged or MissingObject where it is not there."""
    found = _newest(bucket, key, version, range_)
    if isinstance(found, Answer):
        return found
    if version is not None and keeps_versions(bucket):
        older = _older(bucket, key, version, range_)
        if older is not None:
            return older
    raise _gone(bucket, key, version, is_there=found)


def _newest(bucket: Bucket, key: str, version: str | None, range_: dict[str, Any]) -> Answer | bool:
    """The newest, when it is the one that is meant (by its id it would need a right of its own); else whether there is one."""
    condition: dict[str, Any] = {"IfMatch": version} if version is not None and is_etag(version) else {}
    try:
        answer = bucket.ask("get_object", key, meant={*_ELSEWHERE, Kind.RANGE}, **range_, **condition)
    except Said as said:
        if said.kind is Kind.RANGE:
            return version in (None, head(bucket, key).version) and Answer(None, None) or True
        return said.kind is Kind.PRECONDITION
    if version in (None, name_of(answer.get("VersionId"), answer["ETag"])):
        return Answer(stat_of(key, answer), answer["Body"])
    answer["Body"].close()
    return True


def _older(bucket: Bucket, key: str, version: str, range_: dict[str, Any]) -> Answer | None:
    by: dict[str, Any] = {"VersionId": NULL, "IfMatch": version} if is_etag(version) else {"VersionId": version}
    try:
        answer = bucket.ask("get_object", key, meant={*_ELSEWHERE, Kind.RANGE, Kind.IS_MARKER}, **range_, **by)
    except Said as said:
        if said.kind is Kind.RANGE:
            return Answer(None, None)
        if said.kind is Kind.IS_MARKER:
            raise missing(f"{bucket.address(key)}, version {version}, is a marker") from said
        return None
    return Answer(stat_of(key, answer), answer["Body"])


def _gone(bucket: Bucket, key: str, version: str | None, *, is_there: bool) -> BergungError:
    if version is not None:
        if is_there or (keeps_versions(bucket) and any(not each.is_marker for each in versions_of(bucket, key))):
            return changed(bucket.address(key), version)
    bucket.check_is_there()
    return missing(bucket.address(key))


def _blocks(bucket: Bucket, stat: Stat, body: Any, block_bytes: int) -> Iterator[bytes]:
    """Of a large object only the first range comes with the first answer."""
    if stat.size_bytes < LARGE_BYTES:
        yield from _stream(bucket, stat, body, block_bytes, stat.size_bytes)
        return
    yield from _stream(bucket, stat, body, block_bytes, _RANGE_BYTES)
    for content in _ahead(bucket, stat, _RANGE_BYTES):
        view = memoryview(content)
        for start in range(0, len(content), block_bytes):
            yield bytes(view[start : start + block_bytes])


def _stream(bucket: Bucket, stat: Stat, body: Any, block_bytes: int, end: int) -> Iterator[bytes]:
    at, failed_at, patience = 0, -1, Patience(bucket.clock)
    try:
        while at < end:
            try:
                block = body.read(min(block_bytes, end - at))
            except sdk_errors() as error:
                # A connection that breaks again and again is patiently taken up as long as it brings something.
                patience = patience if failed_at == at else Patience(bucket.clock)
                failed_at = at
                if not bucket.goes_on(kind_of(error), error, stat.key, patience):
                    raise bucket.failure("get_object", stat.key, error, patience) from error
                body.close()
                body = open_version(bucket, stat.key, stat.version, _range(at, None)).body
                continue
            at += len(block)
            yield block
    finally:
        body.close()


def _ahead(bucket: Bucket, stat: Stat, begin: int) -> Iterator[bytes]:
    """Ranges in their order, a few fetched while one is used."""
    pool = ThreadPoolExecutor(_RANGES_AHEAD)
    coming: deque[Future[bytes]] = deque()
    try:
        for start in range(begin, stat.size_bytes, _RANGE_BYTES):
            coming.append(pool.submit(read, bucket, stat.key, start, _RANGE_BYTES, stat.version))
            if len(coming) == _RANGES_AHEAD:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _range(start: int, length: int | None) -> dict[str, Any]:
    if start == 0 and length is None:
        return {}
    end = "" if length is None else str(start + length - 1)
    return {"Range": f"bytes={start}-{end}"}
