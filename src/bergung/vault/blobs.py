"""The bytes of tables' files: kept under their own path where that can be, never twice, never over others."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from bergung.errors import DamageFound, ObjectExists, Refused
from bergung.stores.base import Copied, Store
from bergung.stores.digest import Expecting, Hashing, digest_of_blocks, find_version, passed
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
    offered = Hashing(source())
    try:
        return _store(vault, folder + own, own, offered) if copy is None else _copied(vault, folder + own, own, copy)
    except (ObjectExists, Refused):
        # What was offered to its end is known; of the rest little was asked for.
        whole = offered if offered.is_whole else passed(source())
    return _settle(vault, folder, path, source, Kept(own, whole.digest, whole.size_bytes, False))


def _store(vault: Store, key: str, own: str, offered: Hashing) -> Kept:
    vault.put_if_absent(key, offered)
    return Kept(own, offered.digest, offered.size_bytes, True)


def _copied(vault: Store, key: str, own: str, copy: Copy) -> Kept:
    """A store that works out no digest on the way has what it made read again: nobody else has seen the bytes."""
    copied = copy(key)
    digest = copied.digest or digest_of_blocks(vault.blocks(key, version=copied.stat.version))
    return Kept(own, digest, copied.stat.size_bytes, True)


def _settle(vault: Store, folder: str, path: str, source: Blocks, kept: Kept) -> Kept:
    """The key is taken or impossible: compare by content, and go beside when it differs (format.md R5)."""
    if holds(vault, folder + kept.blob_key, kept):
        return kept
    for number in count():
        beside = beside_key(path, kept.digest, number)
        try:
            again = Hashing(source())
            vault.put_if_absent(folder + beside, again)
            return Kept(beside, again.digest, again.size_bytes, True)
        except ObjectExists:
            # Somebody who knows the file could have planted junk there, but not under every number.
            if holds(vault, folder + beside, kept):
                return Kept(beside, kept.digest, kept.size_bytes, False)
    raise AssertionError("count never ends")


def holds(vault: Store, key: str, kept: Kept) -> bool:
    """True when some version under the key has these bytes."""
    try:
        return find_version(vault, key, kept.digest, kept.size_bytes) is not None
    except Refused:
        return False


def blocks_of(vault: Store, key: str, digest: str) -> Iterable[bytes]:
    """A blob in blocks; the last is followed by DamageFound when the bytes were not those of the digest."""
    return Expecting(vault.blocks(key), key, digest)


def version_with(vault: Store, key: str, digest: str) -> str:
    """The version under the key that has these bytes (format.md R8)."""
    version = find_version(vault, key, digest)
    if version is None:
        raise DamageFound(f"{key} is lost: no version of it has the bytes that the receipts name", "run bergung verify")
    return version
