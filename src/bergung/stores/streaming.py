"""A copy from one store into another, block by block."""

from collections.abc import Iterator

from bergung.errors import DamageFound
from bergung.stores.base import Copied, Store
from bergung.stores.digest import Hashing


def stream(source: tuple[Store, str, str | None], target: tuple[Store, str], digest: str | None = None) -> Copied:
    """Create-only; hashed as it passes. The source is a store, a key and a version, the target a store and a key."""
    (store, key, version), (target_store, target_key) = source, target
    passing = Hashing(store.blocks(key, version=version))
    written = target_store.put_if_absent(target_key, passing if digest is None else _only(passing, key, digest))
    return Copied(written, passing.digest)


def _only(passing: Hashing, key: str, digest: str) -> Iterator[bytes]:
    """The error comes after the last block, and so before anything is visible."""
    yield from passing
    if passing.digest != digest:
        raise other_bytes(key)


def other_bytes(key: str) -> DamageFound:
    """What is said of bytes that are not what their digest says."""
    return DamageFound(f"{key} has other bytes than its digest says", "run bergung verify")
