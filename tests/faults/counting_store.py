"""A store around a real one that counts what is asked of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import NamedTuple

from bergung.stores.base import BLOCK_BYTES, Copied, Opened, OpenStore, Stat, Store, Version
from bergung.stores.open import open_store
from bergung.stores.streaming import stream
from tests.faults.faulty_store import unwrapped

_ANY = ""


class Request(NamedTuple):
    """One call of the seam; bytes are those that came back or were taken."""

    operation: str
    key: str
    bytes_: int


@dataclass
class Counts:
    """All requests to all stores that were opened with it, of any thread."""

    made: list[Request] = field(default_factory=list)
    _guard: Lock = field(default_factory=Lock)

    def add(self, operation: str, key: str, bytes_: int = 0) -> None:
        with self._guard:
            self.made.append(Request(operation, key, bytes_))

    def of(self, operation: str = _ANY, prefix: str = "") -> list[Request]:
        """The requests of that operation (or any) to keys that start with the prefix."""
        return [one for one in self.made if operation in (_ANY, one.operation) and one.key.startswith(prefix)]

    def requests(self, operation: str = _ANY, prefix: str = "") -> int:
        return len(self.of(operation, prefix))

    def bytes(self, operation: str = _ANY, prefix: str = "") -> int:
        return sum(one.bytes_ for one in self.of(operation, prefix))

    def keys(self, operation: str = _ANY, prefix: str = "") -> set[str]:
        return {one.key for one in self.of(operation, prefix)}

    def clear(self) -> None:
        self.made.clear()


class CountingStore:
    """Every call counts, whether it ends well or not; `make_durable` counts once for each key."""

    def __init__(self, inner: Store, counts: Counts) -> None:
        self.url = inner.url
        self.keeps_versions = inner.keeps_versions
        self.can_lock = inner.can_lock
        self.inner = inner
        self._counts = counts

    def head(self, key: str) -> Stat:
        self._counts.add("head", key)
        return self.inner.head(key)

    def read(self, key: str, *, start: int = 0, length: int | None = None, version: str | None = None) -> bytes:
        taken = 0
        try:
            content = self.inner.read(key, start=start, length=length, version=version)
            taken = len(content)
            return content
        finally:
            self._counts.add("read", key, taken)

    def blocks(self, key: str, *, version: str | None = None, block_bytes: int = BLOCK_BYTES) -> Iterator[bytes]:
        yield from self._counted(key, self.inner.blocks(key, version=version, block_bytes=block_bytes))

    def open(self, key: str) -> Opened:
        """Counts as blocks, once it is read."""
        opened = self.inner.open(key)
        return Opened(opened.stat, self._counted(key, opened.blocks))

    def _counted(self, key: str, blocks: Iterable[bytes]) -> Iterator[bytes]:
        passing = _Passing(blocks)
        try:
            yield from passing
        finally:
            self._counts.add("blocks", key, passing.bytes_)

    def put_if_absent(self, key: str, blocks: Iterable[bytes]) -> Stat:
        passing = _Passing(blocks)
        try:
            return self.inner.put_if_absent(key, passing)
        finally:
            self._counts.add("put_if_absent", key, passing.bytes_)

    def list(self, prefix: str) -> Iterator[Stat]:
        self._counts.add("list", prefix)
        return self.inner.list(prefix)

    def folders(self, prefix: str) -> Iterator[str]:
        self._counts.add("folders", prefix)
        return self.inner.folders(prefix)

    def list_versions(self, prefix: str) -> Iterator[Version]:
        self._counts.add("list_versions", prefix)
        return self.inner.list_versions(prefix)

    def copy(self, source_key: str, key: str) -> Stat:
        self._counts.add("copy", key)
        return self.inner.copy(source_key, key)

    def copies_from(self, source: Store, size_bytes: int | None = None) -> bool:
        return self.inner.copies_from(unwrapped(source), size_bytes)

    def copy_from(
        self, source: Store, source_key: str, key: str, *, version: str | Stat | None = None, digest: str | None = None
    ) -> Copied:
        if not self.copies_from(source):
            # Through this seam, so that its bytes are counted.
            return stream((source, source_key, version), (self, key), digest)
        self._counts.add("copy_from", key)
        return self.inner.copy_from(unwrapped(source), source_key, key, version=version, digest=digest)

    def lock(self, key: str, version: str, until: datetime) -> None:
        self._counts.add("lock", key)
        self.inner.lock(key, version, until)

    def locked_until(self, key: str, version: str) -> datetime | None:
        self._counts.add("locked_until", key)
        return self.inner.locked_until(key, version)

    def delete(self, key: str, *, version: str | None = None) -> None:
        self._counts.add("delete", key)
        self.inner.delete(key, version=version)

    def make_durable(self, keys: Iterable[str]) -> None:
        named = [*keys]
        for key in named:
            self._counts.add("make_durable", key)
        self.inner.make_durable(named)


class _Passing:
    """Blocks that are counted as they pass."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = blocks
        self.bytes_ = 0

    def __iter__(self) -> Iterator[bytes]:
        for block in self._blocks:
            self.bytes_ += len(block)
            yield block


def counting_open(counts: Counts, inner: OpenStore = open_store) -> OpenStore:
    """Opens real stores that count into `counts`."""
    return lambda url, access=(): CountingStore(inner(url, access), counts)
