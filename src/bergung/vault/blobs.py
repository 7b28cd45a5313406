"""The bytes of tables' files: kept under their own path where that can be, never twice, never over others."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

from bergung.errors import DamageFound, ObjectExists, Refused
from bergung.stores.base import Copied, Store
from bergung.stores.digest import Hashing, digest_of_blocks, find_version
from bergung.vault.layout import beside_key, blob_key

Blocks = Callable[[], Iterator[bytes]]
Copy = Callable[[str], Copied]
"""Makes the object of that key in the vault, create-only."""


@dataclass(frozen=True)
class Kept:
    """A blob in the vault; `is_new` when this call stored it."""

    blob_key: str
    digest: str
    size_bytes: int
    is_new: bool


def keep(vault: Store, folder: str, place: tuple[str, str], source: Blocks, copy: Copy | None = None) -> Kept:
    """Store a file of a table, or find that it is held: `place` is the table's location and the file's path.

    With `copy` the vault's store brings it to a free key itself; where one is taken, bytes are compared here.
    """
    location, path = place
    own = blob_key(location, path)
    try:
        return _store(vault, folder + own, own, source) if copy is None else _copied(vault, folder + own, own, copy)
    except (ObjectExists, Refused):
        return _settle(vault, folder, (own, path), source)


def _store(vault: Store, key: str, own: str, source: Blocks) -> Kept:
    hashing = Hashing(source())
    vault.put_if_absent(key, hashing)
    return Kept(own, hashing.digest, hashing.size_bytes, True)


def _copied(vault: Store, key: str, own: str, copy: Copy) -> Kept:
    """A store that works out no digest on the way has what it made read again: nobody else has seen the bytes."""
    copied = copy(key)
    digest = copied.digest or digest_of_blocks(vault.blocks(key, version=copied.stat.version))
    return Kept(own, digest, copied.stat.size_bytes, True)


def _settle(vault: Store, folder: str, place: tuple[str, str], source: Blocks) -> Kept:
    """The key is taken or impossible: compare by content, and go beside when it differs (format.md R5)."""
    own, path = place
    hashing = Hashing(source())
    for _ in hashing:
        pass
    kept = Kept(own, hashing.digest, hashing.size_bytes, False)
    if holds(vault, folder + own, kept.digest):
        return kept
    for number in count():
        beside = beside_key(path, kept.digest, number)
        try:
            again = Hashing(source())
            vault.put_if_absent(folder + beside, again)
            return Kept(beside, again.digest, again.size_bytes, True)
        except ObjectExists:
            # Somebody who knows the file could have planted junk there, but not under every number.
            if holds(vault, folder + beside, kept.digest):
                return Kept(beside, kept.digest, kept.size_bytes, False)
    raise AssertionError("count never ends")


def holds(vault: Store, key: str, digest: str) -> bool:
    """True when some version under the key has these bytes."""
    try:
        return find_version(vault, key, digest) is not None
    except Refused:
        return False


def blocks_of(vault: Store, key: str, digest: str) -> Iterator[bytes]:
    """A blob in blocks; the last is followed by DamageFound when the bytes were not those of the digest.

    Who writes them must make nothing visible before the iterator has ended well.
    """
    hashing = Hashing(vault.blocks(key))
    yield from hashing
    if hashing.digest != digest:
        raise DamageFound(f"{key} has other bytes than its digest says", "run bergung verify")


def version_with(vault: Store, key: str, digest: str) -> str:
    """The version under the key that has these bytes (format.md R8)."""
    version = find_version(vault, key, digest)
    if version is None:
        raise DamageFound(f"{key} is lost: no version of it has the bytes that the receipts name", "run bergung verify")
    return version
