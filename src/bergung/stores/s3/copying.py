"""Copies that the store makes itself: create-only, of one version of the source, whatever the size.

CopyObject ignores If-None-Match on some servers and ends at 5 GB, so a copy is an upload whose parts are copied and whose
completion is conditional: three requests, or more for what is larger, after the look at the source that names its version.
"""

from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from bergung.stores.base import Copied, Stat
from bergung.stores.digest import other_bytes
from bergung.stores.s3.bucket import Bucket, Said
from bergung.stores.s3.kinds import Kind
from bergung.stores.s3.multipart import SHA256, Part, Upload
from bergung.stores.s3.reading import facts
from bergung.stores.s3.words import changed
from bergung.stores.s3.writing import MARK, looked_first, new_mark, noticing, own_or_taken, refuse_what_is_there, stat_of_upload

WORTH_BYTES = 1024 * 1024
"""Below this a read and a write are two requests against four."""

_LOOK_BYTES = 1024**3
"""From here on a look at the target is little beside a copy that would be in vain."""

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
    size_bytes: int
    etag: str
    by_id: str | None = None

    @property
    def words(self) -> dict[str, Any]:
        """How a part names it: by its id where it is not the newest, and by its ETag in any case."""
        named = {"Bucket": self.bucket.name, "Key": self.key}
        return {"CopySource": {**named, "VersionId": self.by_id} if self.by_id else named, "CopySourceIfMatch": self.etag}


def find(bucket: Bucket, key: str, version: str | Stat | None) -> Source:
    """SourceChanged or MissingObject where it is not there; what was found already is not looked for again."""
    if isinstance(version, Stat) and version.etag:
        return Source(bucket, key, version.size_bytes, version.etag)
    answer = facts(bucket, key, version.version if isinstance(version, Stat) else version)
    return Source(bucket, key, answer["ContentLength"], answer["ETag"], answer.get("AskedById"))


def is_worth_it(source: Bucket, target: Bucket, size_bytes: int | None) -> bool:
    """Not known to be out of sight, and large enough where the size is known."""
    return (source.name, target.name) not in _blind and (size_bytes is None or size_bytes >= WORTH_BYTES)


def copy(source: Source, target: Bucket, key: str, digest: str | None = None) -> Copied:
    """The digest comes with it where the store works one out: for a copy in one part its checksum is that of the object.

    One that is expected is compared before the copy is completed, and so before it is visible; CannotCopy where the store works
    none out.
    """
    if not looked_first(target, key) and source.size_bytes >= _LOOK_BYTES:
        refuse_what_is_there(target, key)
    with noticing(target):
        return _copied(source, (target, key), digest)


def _copied(source: Source, place: tuple[Bucket, str], digest: str | None) -> Copied:
    target = place[0]
    # The checksum of several parts is no digest of the object, so there it is not asked for.
    if source.size_bytes <= ONE_PART_BYTES and target.endpoint not in _without_checksums:
        try:
            return _copy(source, place, SHA256, digest)
        except _NoChecksum:
            _without_checksums.add(target.endpoint)
    if digest is not None:
        raise CannotCopy
    return _copy(source, place, None, None)


def _copy(source: Source, place: tuple[Bucket, str], algorithm: str | None, digest: str | None) -> Copied:
    target, key = place
    mark = new_mark()
    with Upload(target, key, {MARK: mark}, algorithm) as upload:
        upload.parts = _parts(upload, source)
        _compare(source, _digest(upload.parts), digest)
        try:
            written = stat_of_upload(target, key, source.size_bytes, upload.complete())
        except Said as said:
            written = own_or_taken(target, key, mark, said.kind)
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
