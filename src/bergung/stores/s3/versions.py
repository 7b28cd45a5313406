"""What a version is called, and whether a bucket keeps any."""

from datetime import UTC, datetime
from typing import Any

from bergung.stores.base import Stat
from bergung.stores.s3.bucket import Bucket, Said
from bergung.stores.s3.kinds import Kind

NULL = "null"
"""The id of what was written while no versions were kept; it may be overwritten, so its ETag is its name."""

_UNSAID = {Kind.DENIED, Kind.UNKNOWN_CALL}
_kept: dict[tuple[str, str], bool] = {}


def name_of(version_id: str | None, etag: str) -> str:
    """By its id where the bucket gives one, else by its ETag, which is in quotes."""
    return version_id if version_id and version_id != NULL else quoted(etag)


def is_etag(version: str) -> bool:
    """Whether it is called by its ETag."""
    return version.startswith('"')


def quoted(etag: str) -> str:
    """With quotes, which some stores leave away in lists."""
    return etag if etag.startswith('"') else f'"{etag}"'


def stat_of(key: str, answer: dict[str, Any]) -> Stat:
    """The facts in the answer to a HEAD or a GET."""
    whole = answer.get("ContentRange", "").rpartition("/")[2]
    size_bytes = int(whole) if whole.isdecimal() else answer["ContentLength"]
    etag = answer.get("ETag", "")
    return Stat(key, size_bytes, name_of(answer.get("VersionId"), etag), to_second(answer["LastModified"]), etag)


def to_second(moment: datetime) -> datetime:
    """A HEAD says no more than the second, so nothing else here does."""
    return moment.astimezone(UTC).replace(microsecond=0)


def keeps_versions(bucket: Bucket) -> bool:
    """Asked once in a process. Where that is not allowed, an id in the list of versions tells; else there are none for us."""
    asked = (bucket.access(None).endpoint, bucket.name)
    if asked not in _kept:
        _kept[asked] = _says_so(bucket)
    return _kept[asked]


def _says_so(bucket: Bucket) -> bool:
    try:
        return bucket.ask("get_bucket_versioning", meant=_UNSAID).get("Status") in ("Enabled", "Suspended")
    except Said as said:
        return said.kind is Kind.DENIED and _shows_some(bucket)


def _shows_some(bucket: Bucket) -> bool:
    try:
        page = bucket.ask("list_object_versions", meant=_UNSAID, MaxKeys=1)
    except Said:
        return False
    return any(row.get("VersionId", NULL) != NULL for row in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())))
