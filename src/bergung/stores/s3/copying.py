"""Copies that the store makes itself: create-only, of one version of the source, whatever the size.

CopyObject ignores If-None-Match on some servers and ends at 5 GB, so a copy is an upload whose parts are copied and whose
completion is conditional: three requests, or more for what is larger.
"""

from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from bergung.errors import NotAllowed
from bergung.stores.base import Copied
from bergung.stores.s3.bucket import Bucket, Said
from bergung.stores.s3.kinds import Kind
from bergung.stores.s3.multipart import SHA256, Part, Upload
from bergung.stores.s3.reading import facts
from bergung.stores.s3.words import changed
from bergung.stores.s3.writing import MARK, new_mark, own_or_taken, put_whole, refuse_what_is_there, stat_of_write

ONE_PART_BYTES = 5 * 1024**3
_PART_BYTES = 1024**3
_PARTS_AT_ONCE = 4


_without_checksums: set[str] = set()


class NoSight(NotAllowed):
    """Whoever may write the copy may not read the source."""


class _NoChecksum(Exception):
    """This store works out no checksum of a part that it copies."""


def copy(source: Bucket, source_key: str, version: str | None, target: Bucket, key: str) -> Copied:
    """The digest comes with it where the store works one out: for a copy in one part its checksum is that of the object."""
    refuse_what_is_there(target, key)
    answer = facts(source, source_key, version)
    if answer["ContentLength"] == 0:
        return Copied(put_whole(target, key, b""), None)
    words = _words(source, source_key, answer)
    # The checksum of several parts is no digest of the object, so there it is not asked for.
    if answer["ContentLength"] <= ONE_PART_BYTES and target.endpoint not in _without_checksums:
        try:
            return _copy(words, answer, target, key, SHA256)
        except _NoChecksum:
            _without_checksums.add(target.endpoint)
    return _copy(words, answer, target, key, None)


def _copy(words: dict[str, Any], answer: dict[str, Any], target: Bucket, key: str, algorithm: str | None) -> Copied:
    mark = new_mark()
    with Upload(target, key, {MARK: mark}, algorithm) as upload:
        upload.parts = _parts(upload, words, answer["ContentLength"])
        try:
            written = stat_of_write(key, answer["ContentLength"], upload.complete())
        except Said as said:
            written = own_or_taken(target, key, mark, said)
    return Copied(written, _digest(upload.parts))


def _words(source: Bucket, source_key: str, answer: dict[str, Any]) -> dict[str, Any]:
    """How a part names its source: the version by its id where it is not the newest, and by its ETag in any case."""
    named = {"Bucket": source.name, "Key": source_key}
    asked_by_id = answer.get("AskedById")
    return {"CopySource": {**named, "VersionId": asked_by_id} if asked_by_id else named, "CopySourceIfMatch": answer["ETag"]}


def _parts(upload: Upload, words: dict[str, Any], size_bytes: int) -> list[Part]:
    if size_bytes <= ONE_PART_BYTES:
        return [_part(upload, 1, words)]
    ranges = [f"bytes={start}-{min(start + _PART_BYTES, size_bytes) - 1}" for start in range(0, size_bytes, _PART_BYTES)]
    with ThreadPoolExecutor(_PARTS_AT_ONCE) as pool:
        numbered = enumerate(ranges, 1)
        return [*pool.map(lambda each: _part(upload, each[0], {**words, "CopySourceRange": each[1]}), numbered)]


def _part(upload: Upload, number: int, words: dict[str, Any]) -> Part:
    what = f"s3://{words['CopySource']['Bucket']}/{words['CopySource']['Key']}"
    try:
        return upload.copy_part(number, words)
    except Said as said:
        if said.kind is Kind.NO_CHECKSUM:
            raise _NoChecksum from said
        if said.kind is Kind.DENIED:
            raise NoSight(f"{what} cannot be read by whoever writes the copy", "allow s3:GetObject on it to them") from said
        raise changed(what, words["CopySourceIfMatch"]) from said


def _digest(parts: list[Part]) -> str | None:
    checksum = parts[0].get("ChecksumSHA256") if len(parts) == 1 else None
    return None if checksum is None else f"sha256:{b64decode(checksum).hex()}"
