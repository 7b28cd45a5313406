"""Objects that have a digest, brought from one vault into another under the same key."""

from bergung.errors import DamageFound, MissingObject, ObjectExists, Refused
from bergung.stores.base import Store
from bergung.stores.digest import find_version
from bergung.vault.blobs import version_with


def bring(stores: tuple[Store, Store], key: str, digest: str, trusted_bytes: int | None = None) -> int | None:
    """From the first store into the second; its length, None when it lay there. DamageFound when the first has lost it.

    The bytes become visible only when they have the digest, hashed as they pass here or by the server that copies them. What
    lies there is read, but for one of the trusted length.
    """
    source, target = stores
    try:
        return target.copy_from(source, key, key, digest=digest).stat.size_bytes
    except ObjectExists:
        _refuse_other(target, key, digest, trusted_bytes)
        return None
    except (DamageFound, MissingObject):
        # Somebody wrote over it or hid it: an older version may still have the bytes (format.md R8).
        version = version_with(source, key, digest)
    try:
        return target.copy_from(source, key, key, version=version, digest=digest).stat.size_bytes
    except ObjectExists:
        _refuse_other(target, key, digest, trusted_bytes)
        return None


def _refuse_other(target: Store, key: str, digest: str, trusted_bytes: int | None) -> None:
    """Keys of a copy are fixed by the records: there is no other place for it to go."""
    if trusted_bytes is not None and target.head(key).size_bytes == trusted_bytes:
        return
    if find_version(target, key, digest) is None:
        fact = f"other bytes lie in {target.url} where {key} belongs"
        raise Refused(fact, "find out who wrote them; remove them, or copy to another place")
