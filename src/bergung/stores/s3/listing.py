"""Keys and versions in their order, page by page."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import unquote_plus
from xml.etree import ElementTree

from bergung.clock import from_text
from bergung.errors import StoreError
from bergung.stores.base import Stat, Version
from bergung.stores.s3.bucket import Bucket
from bergung.stores.s3.clients import RAW
from bergung.stores.s3.versions import keeps_versions, name_of, quoted, to_second


def objects(bucket: Bucket, prefix: str) -> Iterator[Stat]:
    """Every object below the prefix, each once, by key; named as a HEAD would name it."""
    if not keeps_versions(bucket):
        yield from _plain(bucket, prefix)
        return
    for found in versions(bucket, prefix):
        if found.is_latest and not found.is_marker:
            yield Stat(found.key, found.size_bytes, found.version, found.modified_at)


def folders(bucket: Bucket, prefix: str) -> Iterator[str]:
    """The names between the prefix and the next slash, each once; what lies below is not listed."""
    asked: dict[str, Any] = {"Prefix": prefix, "Delimiter": "/"}
    words = asked
    while True:
        page = bucket.ask("list_objects_v2", **words)
        for row in page.get("CommonPrefixes", ()):
            yield row["Prefix"][len(prefix) : -1]
        if not page.get("IsTruncated"):
            return
        words = _next(bucket, words, {**asked, "ContinuationToken": page.get("NextContinuationToken")})


def versions(bucket: Bucket, prefix: str) -> Iterator[Version]:
    """Every version and marker below the prefix, by key, oldest first. A page that repeats rows does no harm."""
    key, rows = "", dict[str, Version]()
    for row in _rows(bucket, prefix):
        if row.key != key:
            yield from reversed(rows.values())
            key, rows = row.key, {}
        rows.setdefault(row.version, row)
    yield from reversed(rows.values())


def versions_of(bucket: Bucket, key: str) -> list[Version]:
    """Those of one key; keys come in order, so the key itself comes before all that begin with it."""
    own = []
    for row in versions(bucket, key):
        if row.key != key:
            break
        own.append(row)
    return own


def _plain(bucket: Bucket, prefix: str) -> Iterator[Stat]:
    words: dict[str, Any] = {"Prefix": prefix}
    while True:
        page = bucket.ask("list_objects_v2", **words)
        for row in page.get("Contents", ()):
            yield Stat(row["Key"], row["Size"], quoted(row["ETag"]), to_second(row["LastModified"]))
        if not page.get("IsTruncated"):
            return
        words = _next(bucket, words, {"Prefix": prefix, "ContinuationToken": page.get("NextContinuationToken")})


def _rows(bucket: Bucket, prefix: str) -> Iterator[Version]:
    """As the store gives them: by key, newest first."""
    words: dict[str, Any] = {"Prefix": prefix}
    while True:
        page = bucket.ask("list_object_versions", **words)
        yield from _read_page(page[RAW])
        if not page.get("IsTruncated"):
            return
        follows = {"Prefix": prefix, "KeyMarker": page.get("NextKeyMarker")}
        if page.get("NextVersionIdMarker"):
            follows["VersionIdMarker"] = page["NextVersionIdMarker"]
        words = _next(bucket, words, follows)


def _next(bucket: Bucket, words: dict[str, Any], follows: dict[str, Any]) -> dict[str, Any]:
    if follows == words or None in follows.values():
        raise StoreError(
            f"the list of s3://{bucket.name}/{words['Prefix']} does not come to its end", "see: bergung vault validate"
        )
    return follows


def _read_page(raw: bytes) -> Iterator[Version]:
    page = ElementTree.fromstring(raw)
    is_encoded = any(_name(child) == "EncodingType" and child.text == "url" for child in page)
    for child in page:
        if _name(child) in ("Version", "DeleteMarker"):
            fields = {_name(each): each.text or "" for each in child}
            key = unquote_plus(fields["Key"]) if is_encoded else fields["Key"]
            yield _version(key, fields, is_marker=_name(child) == "DeleteMarker")


def _version(key: str, fields: dict[str, str], *, is_marker: bool) -> Version:
    moment: datetime = from_text(fields["LastModified"])
    is_latest = fields.get("IsLatest") == "true"
    version = fields["VersionId"] if is_marker else name_of(fields.get("VersionId"), fields.get("ETag", ""))
    return Version(key, int(fields.get("Size") or 0), version, to_second(moment), is_latest, is_marker)


def _name(element: ElementTree.Element) -> str:
    """Without its namespace, which not every store gives."""
    return element.tag.rpartition("}")[2]
