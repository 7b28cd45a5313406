"""A bucket, or what lies below a prefix of it, as a store."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from bergung.clock import Clock, SystemClock
from bergung.errors import Refused, UsageError
from bergung.stores.access import Access
from bergung.stores.base import Copied, Opened, Stat, Store, Version
from bergung.stores.s3 import copying, deleting, listing, locking, reading, versions, writing
from bergung.stores.s3.bucket import Bucket
from bergung.stores.s3.clients import clients
from bergung.stores.streaming import stream

BLOCK_BYTES = 1024 * 1024
_CLOCK = SystemClock()
_DOTS = {".", ".."}


class S3Store:
    """`s3://bucket` or `s3://bucket/folder`; what the accesses do not say is the SDK's own business."""

    def __init__(self, url: str, accesses: tuple[Access, ...] = (), clock: Clock = _CLOCK) -> None:
        name, _, folder = url.removeprefix("s3://").partition("/")
        if not name:
            raise UsageError(f"an address without a bucket: {url}", "write s3://bucket/folder")
        self.url = f"s3://{name}/{folder}".rstrip("/")
        self._bucket = Bucket(name, accesses, clock)
        self._base = f"{folder.rstrip('/')}/" if folder.rstrip("/") else ""

    def __reduce__(self) -> tuple[type["S3Store"], tuple[str, tuple[Access, ...]]]:
        return type(self), (self.url, self.accesses)

    def __repr__(self) -> str:
        return f"S3Store({self.url!r})"

    @property
    def accesses(self) -> tuple[Access, ...]:
        """The ways in."""
        return self._bucket.accesses

    @property
    def endpoint(self) -> str:
        """Who answers."""
        return self._bucket.access(self._base or None).endpoint

    def way_in(self, key: str) -> Access:
        """How that key is reached just now, with keys where a profile stands for them: for readers that are not ours."""
        path = self._bucket.address(self._base + key)
        return clients.in_full(self._bucket.access(self._base + key), path, self._bucket.clock)

    @property
    def can_lock(self) -> bool:
        """As the bucket says, asked once."""
        return locking.can_lock(self._bucket)

    @property
    def keeps_versions(self) -> bool:
        """As the bucket says, asked once."""
        return versions.keeps_versions(self._bucket)

    def head(self, key: str) -> Stat:
        """What lies under the key now."""
        return self._own(reading.head(self._bucket, self._full(key)))

    def read(self, key: str, *, start: int = 0, length: int | None = None, version: str | None = None) -> bytes:
        """A range, shorter where the object ends before it, or all."""
        return reading.read(self._bucket, self._full(key), start, length, version)

    def blocks(self, key: str, *, version: str | None = None, block_bytes: int = BLOCK_BYTES) -> Iterator[bytes]:
        """The whole object in blocks, all of one version; of a large one several ranges are fetched at once."""
        yield from reading.open_whole(self._bucket, self._full(key), version, block_bytes).blocks

    def open(self, key: str) -> Opened:
        """The answer to one GET says what it is of."""
        opened = reading.open_whole(self._bucket, self._full(key), None, BLOCK_BYTES)
        return replace(opened, stat=self._own(opened.stat))

    def put_if_absent(self, key: str, blocks: Iterable[bytes]) -> Stat:
        """In one request or in parts, each with a checksum; the bucket itself refuses a second one."""
        return self._own(writing.put(self._bucket, self._plain(key), blocks))

    def list(self, prefix: str) -> Iterator[Stat]:
        """Every object whose key starts with the prefix, in the order of the keys."""
        for found in listing.objects(self._bucket, self._base + prefix):
            yield self._own(found)

    def folders(self, prefix: str) -> Iterator[str]:
        """By the bucket itself, in one request for a thousand."""
        yield from listing.folders(self._bucket, self._base + prefix)

    def list_versions(self, prefix: str) -> Iterator[Version]:
        """Every version and marker, by key, oldest first."""
        for found in listing.versions(self._bucket, self._base + prefix):
            yield replace(found, key=found.key[len(self._base) :])

    def copy(self, source_key: str, key: str) -> Stat:
        """By the store itself; no byte passes here."""
        return self.copy_from(self, source_key, key).stat

    def copies_from(self, source: Store, size_bytes: int | None = None) -> bool:
        """From a bucket at the same endpoint, where it may read that; what is small passes here, which takes fewer requests."""
        if not isinstance(source, S3Store) or source.endpoint != self.endpoint:
            return False
        return copying.is_worth_it(source._bucket, self._bucket, size_bytes)

    def copy_from(
        self, source: Store, source_key: str, key: str, *, version: str | Stat | None = None, digest: str | None = None
    ) -> Copied:
        """By the store itself, or block by block."""
        if not isinstance(source, S3Store) or not self.copies_from(source):
            return stream((source, source_key, version), (self, key), digest)
        found = copying.find(source._bucket, source._full(source_key), version)
        if not self.copies_from(source, found.size_bytes):
            return stream((source, source_key, version), (self, key), digest)
        try:
            copied = copying.copy(found, self._bucket, self._plain(key), digest)
        except copying.CannotCopy:
            return stream((source, source_key, version), (self, key), digest)
        return replace(copied, stat=self._own(copied.stat))

    def delete(self, key: str, *, version: str | None = None) -> None:
        """A marker where versions are kept, else the object; or just that version."""
        deleting.delete(self._bucket, self._plain(key), version)

    def refuses_wrong_bytes(self, key: str) -> bool:
        """Whether the store works out the checksum itself; nothing is left there."""
        return writing.refuses_wrong_bytes(self._bucket, self._plain(key))

    def make_durable(self, keys: Iterable[str]) -> None:
        """It is: a bucket acknowledges and shows nothing that is not. So nothing is asked."""

    def lock(self, key: str, version: str, until: datetime) -> None:
        """Nobody deletes that version before then."""
        locking.lock(self._bucket, self._full(key), version, until)

    def locked_until(self, key: str, version: str) -> datetime | None:
        """Until when nobody deletes that version; None where everybody may."""
        return locking.locked_until(self._bucket, self._full(key), version)

    def _full(self, key: str) -> str:
        if not key:
            raise Refused("not a key for an object: ''")
        return self._bucket.checked(self._base + key)

    def _plain(self, key: str) -> str:
        """For what changes something: some stores take `a/../b` for `b`."""
        if not _DOTS.isdisjoint(key.split("/")):
            raise Refused(f"a key with a segment of dots alone: {key!r}", "stores do not agree which object that is")
        return self._full(key)

    def _own(self, stat: Stat) -> Stat:
        return replace(stat, key=stat.key[len(self._base) :])
