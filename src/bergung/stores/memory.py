"""Objects in this process: a bucket as others see it, with versions and locks when asked for."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count
from threading import RLock

from bergung.clock import Clock, SystemClock
from bergung.errors import MissingObject, NotAllowed, ObjectExists, Refused, SourceChanged, UsageError
from bergung.stores.base import BLOCK_BYTES, Copied, Opened, Stat, Store, Version
from bergung.stores.streaming import look_and_read, stream

_stores: dict[str, "MemoryStore"] = {}


@dataclass(frozen=True)
class _Entry:
    """One version of an object; without bytes it is a marker."""

    version: str
    content: bytes | None
    modified_at: datetime
    locked_until: datetime | None = None


class _Bucket:
    """The versions under each key, oldest first; one at most where versions are not kept. Who changes it holds the guard."""

    def __init__(self, keeps_versions: bool) -> None:
        self.keeps_versions = keeps_versions
        self.guard = RLock()
        self._entries: dict[str, tuple[_Entry, ...]] = {}
        self._numbers = count(1)

    def add(self, key: str, content: bytes | None, now: datetime, locked_until: datetime | None = None) -> _Entry:
        entry = _Entry(f"{next(self._numbers):08d}", content, now, locked_until)
        self._entries[key] = (*self._entries.get(key, ()), entry) if self.keeps_versions else (entry,)
        return entry

    def exchange(self, key: str, old: _Entry, new: _Entry | None) -> None:
        changed = (new if entry is old else entry for entry in self._entries.pop(key))
        if left := tuple(entry for entry in changed if entry is not None):
            self._entries[key] = left

    def holds(self, key: str) -> bool:
        entries = self._entries.get(key, ())
        return bool(entries) and entries[-1].content is not None

    def latest(self, key: str) -> _Entry:
        with self.guard:
            if not self.holds(key):
                raise MissingObject(f"no such object: {key!r}")
            return self._entries[key][-1]

    def find(self, key: str, version: str) -> _Entry:
        with self.guard:
            entries = self._entries.get(key, ())
        found = next((entry for entry in entries if entry.version == version), None)
        if found is not None:
            return found
        if any(entry.content is not None for entry in entries):
            raise SourceChanged(f"version {version} of {key!r} is not there any more", "run the same command again")
        raise MissingObject(f"no such object: {key!r}")

    def below(self, prefix: str) -> list[tuple[str, tuple[_Entry, ...]]]:
        with self.guard:
            return sorted((key, entries) for key, entries in self._entries.items() if key.startswith(prefix))


class MemoryStore:
    """Found again by its url within this process; a second store of the same name takes the place of the first.

    `lock_for` locks every version as it is written, which needs versions. `overwrite` and `put_marker` are
    not of the seam: they are what other clients of a real bucket can do.
    """

    def __init__(
        self, name: str, *, versioned: bool = False, lock_for: timedelta | None = None, clock: Clock | None = None
    ) -> None:
        self.url = f"memory://{name}"
        self._name = name
        self._lock_for = lock_for
        self._clock = clock or SystemClock()
        self._bucket = _Bucket(versioned or lock_for is not None)
        _stores[name] = self

    @property
    def keeps_versions(self) -> bool:
        """As asked for."""
        return self._bucket.keeps_versions

    @property
    def can_lock(self) -> bool:
        """Where there are versions."""
        return self._bucket.keeps_versions

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return memory_store, (self._name,)

    def head(self, key: str) -> Stat:
        """What lies under the key now."""
        return _stat(key, self._bucket.latest(key))

    def read(self, key: str, *, start: int = 0, length: int | None = None, version: str | None = None) -> bytes:
        """A range, shorter where the object ends before it, or all."""
        content = self._content(key, version)
        return content[start : len(content) if length is None else start + length]

    def blocks(self, key: str, *, version: str | None = None, block_bytes: int = BLOCK_BYTES) -> Iterator[bytes]:
        """The whole object in blocks, of the version that is there when the first is asked for."""
        content = self._content(key, version)
        for start in range(0, len(content), block_bytes):
            yield content[start : start + block_bytes]

    def open(self, key: str) -> Opened:
        """A look, then the blocks."""
        return look_and_read(self, key)

    def put_if_absent(self, key: str, blocks: Iterable[bytes]) -> Stat:
        """Nothing shows before the last block; over a marker a new version is made, as real buckets do."""
        if not key:
            raise Refused("not a key for an object: ''")
        self._refuse_what_is_there(key)
        content = b"".join(blocks)
        with self._bucket.guard:
            self._refuse_what_is_there(key)
            return self.overwrite(key, content)

    def list(self, prefix: str) -> Iterator[Stat]:
        """Every object that no marker hides, as things are when the first is asked for."""
        for key, entries in self._bucket.below(prefix):
            if entries[-1].content is not None:
                yield _stat(key, entries[-1])

    def folders(self, prefix: str) -> Iterator[str]:
        """The beginnings of the keys that go on below."""
        rests = (stat.key.removeprefix(prefix) for stat in self.list(prefix))
        yield from dict.fromkeys(rest.partition("/")[0] for rest in rests if "/" in rest)

    def list_versions(self, prefix: str) -> Iterator[Version]:
        """Every version and marker, by key, oldest first."""
        for key, entries in self._bucket.below(prefix):
            for entry in entries:
                yield _version(key, entry, is_latest=entry is entries[-1])

    def copy(self, source_key: str, key: str) -> Stat:
        """Create-only copy."""
        return self.put_if_absent(key, self.blocks(source_key))

    def copies_from(self, source: Store, size_bytes: int | None = None) -> bool:
        """All bytes are here anyway."""
        return False

    def copy_from(
        self, source: Store, source_key: str, key: str, *, version: str | Stat | None = None, digest: str | None = None
    ) -> Copied:
        """Block by block."""
        return stream((source, source_key, version), (self, key), digest)

    def delete(self, key: str, *, version: str | None = None) -> None:
        """With versions: a marker on top; or just that version, which may be a marker, unless it is locked."""
        with self._bucket.guard:
            found = self._bucket.latest(key) if version is None else self._bucket.find(key, version)
            if version is None and self._bucket.keeps_versions:
                self.put_marker(key)
            elif found.locked_until is not None and self._clock.now() < found.locked_until:
                until = found.locked_until.isoformat()
                raise NotAllowed(f"version {found.version} of {key!r} is locked until {until}", "wait until then")
            else:
                self._bucket.exchange(key, found, None)

    def make_durable(self, keys: Iterable[str]) -> None:
        """Nothing here survives a power cut; the keys are looked up all the same."""
        for key in keys:
            self._bucket.latest(key)

    def overwrite(self, key: str, content: bytes) -> Stat:
        """What any other client of a real bucket can do: a PUT that asks nothing."""
        with self._bucket.guard:
            now = self._clock.now()
            until = None if self._lock_for is None else now + self._lock_for
            return _stat(key, self._bucket.add(key, content, now, until))

    def put_marker(self, key: str) -> None:
        """What any other client of a real bucket with versions can do: a DELETE that asks nothing."""
        with self._bucket.guard:
            self._bucket.add(key, None, self._clock.now())

    def lock(self, key: str, version: str, until: datetime) -> None:
        """Keep a version until then; no lock is ever made shorter."""
        if not self.can_lock:
            raise Refused(f"{self.url} keeps no versions, so it has no locks", "use a bucket with Object Lock")
        with self._bucket.guard:
            found = self._bucket.find(key, version)
            if found.locked_until is not None and until < found.locked_until:
                raise NotAllowed(f"version {version} of {key!r} is locked until {found.locked_until.isoformat()}")
            self._bucket.exchange(key, found, replace(found, locked_until=until))

    def locked_until(self, key: str, version: str) -> datetime | None:
        """Until when that version is kept, if it is now."""
        until = self._bucket.find(key, version).locked_until
        return None if until is None or until <= self._clock.now() else until

    def _refuse_what_is_there(self, key: str) -> None:
        if self._bucket.holds(key):
            raise ObjectExists(f"exists already: {key!r}")

    def _content(self, key: str, version: str | None) -> bytes:
        found = self._bucket.latest(key) if version is None else self._bucket.find(key, version)
        if found.content is None:
            raise MissingObject(f"version {version} of {key!r} is a marker")
        return found.content


def memory_store(name: str) -> MemoryStore:
    """The store of that name in this process."""
    if name not in _stores:
        raise UsageError(f"no memory store of that name in this process: {name!r}", "use a folder: file:///…")
    return _stores[name]


def _stat(key: str, entry: _Entry) -> Stat:
    return Stat(key, len(entry.content or b""), entry.version, entry.modified_at)


def _version(key: str, entry: _Entry, *, is_latest: bool) -> Version:
    size_bytes = len(entry.content or b"")
    return Version(key, size_bytes, entry.version, entry.modified_at, is_latest, is_marker=entry.content is None)
