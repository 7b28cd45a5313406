"""The seam: what every store must do, and what callers may rely on."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from bergung.stores.access import Access

BLOCK_BYTES = 4 * 1024 * 1024
"""How much of a file is in memory at once."""


@dataclass(frozen=True)
class Stat:
    """One object as the store has it now."""

    key: str
    size_bytes: int
    version: str
    """Changes whenever the bytes under the key change: a version id, an ETag, or time and size."""
    modified_at: datetime
    etag: str = field(default="", compare=False, repr=False)
    """What a bucket names the bytes by, whatever the version is called; empty where nothing does, or where it was not said."""


@dataclass(frozen=True)
class Opened:
    """One version of an object, and its bytes; the error of a change may come after the last block."""

    stat: Stat
    blocks: Iterator[bytes]


@dataclass(frozen=True)
class Version:
    """One of the versions under a key; `is_marker` says that this one hides those before it."""

    key: str
    size_bytes: int
    version: str
    modified_at: datetime
    is_latest: bool
    is_marker: bool = False


@dataclass(frozen=True)
class Copied:
    """What a copy gave: the object, and its digest where somebody worked it out on the way."""

    stat: Stat
    digest: str | None


class Store(Protocol):
    """Objects under keys such as `a/b/c`.

    Nothing is ever overwritten: there is no put, only put_if_absent. Every call raises
    MissingObject, ObjectExists, NotAllowed, StoreFull, SourceChanged, StoreError, or Refused for a key
    that cannot be one here, and nothing else but where it is said. What returns an iterator raises when it is first asked,
    not before.
    """

    url: str
    """Opening this again, in any process, gives the same store."""

    @property
    def keeps_versions(self) -> bool:
        """True when what is written under a key hides what was there and does not end it."""
        ...

    @property
    def can_lock(self) -> bool:
        """True when a version can be kept from everybody until a moment."""
        ...

    def head(self, key: str) -> Stat:
        """What lies under the key; MissingObject when nothing does."""
        ...

    def read(self, key: str, *, start: int = 0, length: int | None = None, version: str | None = None) -> bytes:
        """A range, shorter where the object ends before it, or all.

        With a version: that one, on a store that keeps versions even when it is not the newest. SourceChanged when
        the key holds others only, MissingObject when it holds nothing.
        """
        ...

    def blocks(self, key: str, *, version: str | None = None, block_bytes: int = BLOCK_BYTES) -> Iterator[bytes]:
        """The whole object in blocks, all of one version: SourceChanged when it changes on the way.

        The error may come after the last block, so what was read counts only once the blocks have come to their end.
        """
        ...

    def open(self, key: str) -> Opened:
        """What lies under the key now, and all of just that version; over a network both come with one request."""
        ...

    def put_if_absent(self, key: str, blocks: Iterable[bytes]) -> Stat:
        """All the blocks or nothing becomes visible, and only where nothing was: ObjectExists else.

        When the key is taken from the start, no more blocks are asked for than go into one request, on a disk none. An error
        of the blocks passes as it is.
        """
        ...

    def list(self, prefix: str) -> Iterator[Stat]:
        """Every object whose key starts with the prefix, in the order of their keys, each once."""
        ...

    def folders(self, prefix: str) -> Iterator[str]:
        """Names between the prefix, which is empty or ends with `/`, and the next `/`, each once, in the order of the keys.

        A file system shows empty folders too; what only markers are below is not shown.
        """
        ...

    def list_versions(self, prefix: str) -> Iterator[Version]:
        """Every version and marker below the prefix, by key, oldest first; a store without versions has one each."""
        ...

    def copy(self, source_key: str, key: str) -> Stat:
        """Create-only copy inside the store."""
        ...

    def copies_from(self, source: "Store", size_bytes: int | None = None) -> bool:
        """Whether copy_from takes objects (of that size) of that store without their bytes passing through here."""
        ...

    def copy_from(
        self, source: "Store", source_key: str, key: str, *, version: str | Stat | None = None, digest: str | None = None
    ) -> Copied:
        """Create-only copy of the newest, or of that version, from any store: by the server where it can, else block by block.

        A version that comes as the Stat of a look at the newest is not looked at again. With a digest: DamageFound where the
        bytes have another, and nothing of them becomes visible.
        """
        ...

    def delete(self, key: str, *, version: str | None = None) -> None:
        """Without a version: a marker where the store has versions, else the object. MissingObject when nothing is there.

        With one: just that version, marker or not; SourceChanged and MissingObject as for read.
        """
        ...

    def lock(self, key: str, version: str, until: datetime) -> None:
        """Nobody deletes that version before then. NotAllowed where it is locked for longer, Refused where there are no locks."""
        ...

    def locked_until(self, key: str, version: str) -> datetime | None:
        """Until when nobody deletes that version; None where somebody may now."""
        ...

    def make_durable(self, keys: Iterable[str]) -> None:
        """When this returns, these objects and their names survive a power cut."""
        ...


class OpenStore(Protocol):
    """Opens the store of a url, in any process; handed down so that tests put faults around real stores."""

    def __call__(self, url: str, access: tuple[Access, ...] = ()) -> Store:
        """`access` is what somebody lends for this one, such as a catalog for a table's files."""
        ...
