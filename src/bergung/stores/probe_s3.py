"""What only S3 promises: that a wrong signature and wrong bytes are refused."""

from dataclasses import replace

from bergung.errors import NotAllowed, Refused
from bergung.stores.base import Store
from bergung.stores.s3.store import S3Store


def a_wrong_secret_is_refused(store: Store, name: str) -> str:
    """Somebody who has the key's name alone must not get in."""
    assert isinstance(store, S3Store)
    forged = tuple(replace(each, secret=f"{each.secret[::-1]}x", renew=None) if each.secret else each for each in store.accesses)
    try:
        S3Store(store.url, forged).put_if_absent(name, [b"x"])
    except NotAllowed:
        return "a request with a wrong secret is refused"
    raise Refused(f"{store.url} takes a request with a wrong secret", "this is a stand-in for tests, not a store")


def a_wrong_checksum_is_refused(store: Store, name: str) -> str:
    """What changed on the way must not be kept."""
    assert isinstance(store, S3Store)
    if store.refuses_wrong_bytes(name):
        return "bytes that do not fit their checksum are refused"
    raise Refused(
        f"{store.url} takes bytes that do not fit their checksum", "read back what was written: bergung verify --data all"
    )
