"""Taking away: a marker, an object, or one version of it."""

from bergung.stores.s3.bucket import Bucket, Said
from bergung.stores.s3.kinds import Kind
from bergung.stores.s3.listing import versions_of
from bergung.stores.s3.locking import locked_until
from bergung.stores.s3.reading import head
from bergung.stores.s3.versions import NULL, is_etag, keeps_versions
from bergung.stores.s3.words import changed, locked, missing


def delete(bucket: Bucket, key: str, version: str | None) -> None:
    """MissingObject where nothing lies: a bucket would say yes to that."""
    if version is not None and keeps_versions(bucket):
        _delete_version(bucket, key, version)
        return
    if version not in (None, head(bucket, key).version):
        raise changed(bucket.address(key), version)
    bucket.ask("delete_object", key)


def _delete_version(bucket: Bucket, key: str, version: str) -> None:
    there = versions_of(bucket, key)
    if version not in (each.version for each in there):
        is_there = any(not each.is_marker for each in there)
        raise changed(bucket.address(key), version) if is_there else missing(bucket.address(key))
    try:
        bucket.ask("delete_object", key, meant={Kind.DENIED}, VersionId=NULL if is_etag(version) else version)
    except Said as said:
        # Some servers say no more than "denied" of a lock.
        until = locked_until(bucket, key, version)
        if until is not None:
            raise locked(f"{bucket.address(key)}, version {version}, until {until.isoformat()}") from said
        raise bucket.failure("delete_object", key, said.error) from said
