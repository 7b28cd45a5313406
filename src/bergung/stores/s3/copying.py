"""Copies that the store makes itself: create-only, of one version of the source, whatever the size.

CopyObject ignores If-None-Match on some servers and ends at 5 GB, so a copy is an upload whose parts are copied and whose
completion is conditional: three requests, or more for what is larger.
"""

from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from bergung.stores.base import Copied
from bergung.stores.s3.bucket import Bucket, Said
from bergung.stores.s3.kinds import Kind
from bergung.stores.s3.multipart import SHA256, Part, Upload
from bergung.stores.s3.reading import facts
from bergung.stores.s3.words import changed
from bergung.stores.s3.writing import MARK, new_mark, own_or_taken, refuse_what_is_there, stat_of_upload
from bergung.stores.streaming import other_bytes

WORTH_BYTES = 1024 * 1024
"""Below this a read and a write are two requests against three."""

ONE_PART_BYTES = 5 * 1024**3
_PART_BYTES = 1024**3
_PARTS_AT_ONCE = 4

_without_checksums: set[str] = set()
_blind: set[tuple[str, str]] = set()
"""Pairs of buckets of which the first cannot be read by who writes the second."""


class CannotCopy(Exception):
    """Not by the store itself."""


class _NoChecksum(Exception):
    """This store works out no checksum of a part that it copies."""


@dataclass(frozen=True)
class Source:
    """One version, found."""

    bucket: Bucket
    key: str
    answer: dict[str, Any]

    @property
    def size_bytes(self) -> int:
        """All of it."""
        size: int = self.answer["ContentLength"]
        return size

    @property
    def words(self) -> dict[str, Any]:
        """How a part names it: by its id where it is not the newest, and by its ETag in any case."""
        named = {"Bucket": self.bucket.name, "Key": self.key}
        by_id = self.answer.get("AskedById")
        return {"CopySource": {**named, "VersionId": by_id} if by_id else named, "CopySourceIfMatch": self.answer["ETag"]}


def find(bucket: Bucket, key: str, version: str | None) -> Source:
    """SourceChanged or MissingObject where it is not there."""
    return Source(bucket, key, facts(bucket, key, version))


def is_worth_it(source: Source, target: Bucket) -> bool:
    """Large enough, and not known to be out of sight."""
    return source.size_bytes >= WORTH_BYTES and (source.bucket.name, target.name) not in _blind


def copy(source: Source, target: Bucket, key: str, digest: str | None = None) -> Copied:
    """The digest comes with it where the store works one out: for a copy in one part its checksum is that of the object.

    One that is expected is compared before the copy is completed, and so before it is visible; CannotCopy where the store works
    none out.
    """
    refuse_what_is_there(target, key)
    # The checksum of several parts is no digest of the object, so there it is not asked for.
    if source.size_bytes <= ONE_PART_BYTES and target.endpoint not in _without_checksums:
        try:
            return _copy(source, (target, key), SHA256, digest)
        except _NoChecksum:
            _without_checksums.add(target.endpoint)
    if digest is not None:
        raise CannotCopy
    return _copy(source, (target, key), None, None)


def _copy(source: Source, place: tuple[Bucket, str], algorithm: str | None, digest: str | None) -> Copied:
    target, key = place
    mark = new_mark()
    with Upload(target, key, {MARK: mark}, algorithm) as upload:
        upload.parts = _parts(upload, source)
        _compare(source, _digest(upload.parts), digest)
        try:
            written = stat_of_upload(target, key, source.size_bytes, upload.complete())
        except Said as said:
            written = own_or_taken(target, key, mark, said)
    return Copied(written, _digest(upload.parts))


def _parts(upload: Upload, source: Source) -> list[Part]:
    size_bytes = source.size_bytes
    if size_bytes <= ONE_PART_BYTES:
        return [_part(upload, source, 1, {})]
    starts = range(0, size_bytes, _PART_BYTES)
    ranges = [{"CopySourceRange": f"bytes={start}-{min(start + _PART_BYTES, size_bytes) - 1}"} for start in starts]
    with ThreadPoolExecutor(_PARTS_AT_ONCE) as pool:
        return [*pool.map(lambda numbered: _part(upload, source, *numbered), enumerate(ranges, 1))]


def _part(upload: Upload, source: Source, number: int, range_: dict[str, str]) -> Part:
    try:
        part = upload.copy_part(number, {**source.words, **range_})
    except Said as said:
        if said.kind is Kind.NO_CHECKSUM:
            raise _NoChecksum from said
        if said.kind in (Kind.DENIED, Kind.UNKNOWN_CALL):
            _blind.add((source.bucket.name, upload.bucket.name))
            raise CannotCopy from said
        raise changed(source.bucket.address(source.key), source.words["CopySourceIfMatch"]) from said
    # versitygw names the source's own checksum, which is none of its bytes where they came in parts.
    if "-" in (part.get("ChecksumSHA256") or ""):
        raise CannotCopy
    return part


def _compare(source: Source, found: str | None, digest: str | None) -> None:
    if digest is None or found == digest:
        return
    if found is None:
        raise _NoChecksum
    raise other_bytes(source.key)


def _digest(parts: list[Part]) -> str | None:
    checksum = parts[0].get("ChecksumSHA256") if len(parts) == 1 else None
    return None if checksum is None else f"sha256:{b64decode(checksum).hex()}"
