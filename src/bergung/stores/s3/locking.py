"""Locks of versions: until when nobody may delete them."""

from datetime import UTC, datetime

from bergung.stores.s3.bucket import Bucket, Said
from bergung.stores.s3.kinds import Kind
from bergung.stores.s3.versions import NULL, is_etag

COMPLIANCE = "COMPLIANCE"
"""The mode that nobody can take back, not even the account's owner."""

_NEVER = {Kind.NO_LOCKS, Kind.UNKNOWN_CALL}


_lockable: dict[tuple[str, str], bool] = {}


def can_lock(bucket: Bucket) -> bool:
    """Whether it was made with Object Lock; asked once in a process."""
    asked = (bucket.endpoint, bucket.name)
    if asked not in _lockable:
        try:
            answer = bucket.ask("get_object_lock_configuration", meant={*_NEVER, Kind.MISSING, Kind.DENIED})
            _lockable[asked] = answer.get("ObjectLockConfiguration", {}).get("ObjectLockEnabled") == "Enabled"
        except Said:
            _lockable[asked] = False
    return _lockable[asked]


def lock(bucket: Bucket, key: str, version: str, until: datetime, mode: str = COMPLIANCE) -> None:
    """Keep that version until then; no lock is ever made shorter."""
    retention = {"Mode": mode, "RetainUntilDate": until.astimezone(UTC)}
    bucket.ask("put_object_retention", key, VersionId=_id(version), Retention=retention)


def locked_until(bucket: Bucket, key: str, version: str) -> datetime | None:
    """Until when it is kept; None where anybody with the right may delete it."""
    try:
        answer = bucket.ask("get_object_retention", key, meant=_NEVER, VersionId=_id(version))
    except Said:
        return None
    until: datetime | None = answer.get("Retention", {}).get("RetainUntilDate")
    return None if until is None or until <= bucket.clock.now() else until.astimezone(UTC)


def _id(version: str) -> str:
    return NULL if is_etag(version) else version
