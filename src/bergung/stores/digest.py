"""Tagged digests, `sha256:<hex>`, and reading by them."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import takewhile

from bergung.errors import DamageFound, MissingObject, Refused
from bergung.stores.base import Store, Version

_TAGGED = re.compile(r"sha256:[0-9a-f]{64}")


def digest_of(content: bytes) -> str:
    """The digest of bytes that are at hand."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


class Hashing:
    """Blocks that are counted and hashed as they pass; the digest is that of what has passed so far."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = blocks
        self._hash = hashlib.sha256()
        self.size_bytes = 0
        self.is_whole = False
        """Whether they have come to their end."""

    def __iter__(self) -> Iterator[bytes]:
        for block in self._blocks:
            self._hash.update(block)
            self.size_bytes += len(block)
            yield block
        self.is_whole = True

    @property
    def digest(self) -> str:
        """Of all that has passed; of the whole once the blocks have come to their end."""
        return f"sha256:{self._hash.hexdigest()}"


class Expecting(Hashing):
    """After the last block comes DamageFound where the bytes were not those of the digest.

    Who writes them must make nothing visible before the blocks have ended well.
    """

    def __init__(self, blocks: Iterable[bytes], key: str, digest: str) -> None:
        super().__init__(blocks)
        self._key = key
        self._expected = digest

    def __iter__(self) -> Iterator[bytes]:
        yield from super().__iter__()
        if self.digest != self._expected:
            raise other_bytes(self._key)


def other_bytes(key: str) -> DamageFound:
    """What is said of bytes that are not what their digest says."""
    return DamageFound(f"{key} has other bytes than its digest says", "run bergung verify")


def digest_of_blocks(blocks: Iterable[bytes]) -> str:
    """The digest of what need not fit into memory."""
    return passed(blocks).digest


def passed(blocks: Iterable[bytes]) -> Hashing:
    """What is known of blocks that nobody wants: they have come to their end."""
    passing = Hashing(blocks)
    for _ in passing:
        pass
    return passing


def read_verified(store: Store, key: str, digest: str) -> bytes:
    """The bytes of that digest: the newest, or an older version's when those are gone or others; DamageFound else."""
    _check_kind(digest)
    found = "nothing there"
    with suppress(MissingObject):
        content = store.read(key)
        found = digest_of(content)
        if found == digest:
            return content
    for version in _versions(store, key):
        content = store.read(key, version=version.version)
        if digest_of(content) == digest:
            return content
    raise DamageFound(f"{key} should be {digest}, but found {found}", "see what it harms: bergung verify")


def find_version(store: Store, key: str, digest: str, size_bytes: int | None = None) -> str | None:
    """The newest version whose bytes have that digest, read block by block; with a size, no other sizes are read."""
    _check_kind(digest)
    for version, found_bytes, blocks in _newest_first(store, key):
        if size_bytes in (None, found_bytes) and digest_of_blocks(blocks) == digest:
            return version
    return None


def _newest_first(store: Store, key: str) -> Iterator[tuple[str, int, Iterator[bytes]]]:
    """Versions, sizes, blocks; the older ones are asked for only when the newest was not enough."""
    newest = None
    with suppress(MissingObject):
        found = store.open(key)
        newest = found.stat.version
        yield newest, found.stat.size_bytes, found.blocks
    for version in _versions(store, key):
        if version.version != newest:
            yield version.version, version.size_bytes, store.blocks(key, version=version.version)


def _versions(store: Store, key: str) -> list[Version]:
    """Newest first, without markers. Keys come in order, so the key itself comes before all that begin with it."""
    own = takewhile(lambda version: version.key == key, store.list_versions(key))
    return [version for version in reversed(list(own)) if not version.is_marker]


def _check_kind(digest: str) -> None:
    if not _TAGGED.fullmatch(digest):
        raise Refused(f"a digest of a kind that this version cannot check: {digest!r}", "use a newer Bergung")
