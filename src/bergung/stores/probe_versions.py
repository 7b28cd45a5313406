"""What a store with versions and locks promises besides."""

import time
from datetime import timedelta

from bergung.errors import NotAllowed, Refused
from bergung.stores.base import Store

_NOT_SEEN = "not seen: whoever asks has no right"
_LOCKED_FOR = timedelta(seconds=4)


def hidden_bytes_stay(store: Store, name: str) -> str:
    """What is deleted can be read by its version, and is listed."""
    put = store.put_if_absent(name, [b"kept"])
    try:
        store.delete(name)
    except NotAllowed:
        return f"{_NOT_SEEN} to delete"
    is_marker = [found.is_marker for found in store.list_versions(name) if found.key == name]
    if store.read(name, version=put.version) != b"kept" or is_marker != [False, True]:
        raise Refused(f"{store.url} does not keep what is deleted, although it says so", "do not rely on its versions")
    return "what is deleted is kept under its version"


def a_lock_holds(store: Store, name: str) -> str:
    """For a few seconds; afterwards it is over, so that the probe leaves nothing."""
    put = store.put_if_absent(name, [b"locked"])
    # By the store's own clock, which decides.
    until = put.modified_at + _LOCKED_FOR
    try:
        store.lock(name, put.version, until)
    except NotAllowed:
        return f"{_NOT_SEEN} to lock"
    try:
        store.delete(name, version=put.version)
    except NotAllowed:
        time.sleep(_LOCKED_FOR.total_seconds() + 1)
        return "a locked version is not deleted"
    raise Refused(f"{store.url} deleted a version that was locked until {until.isoformat()}", "do not rely on its locks")
