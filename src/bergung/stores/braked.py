"""Stores that take their time: so many bytes and requests a second, and no more."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from threading import local
from typing import Any, cast

from bergung.clock import SystemClock
from bergung.model.brakes import Brakes
from bergung.stores.access import Access
from bergung.stores.base import Copied, Opened, OpenStore, Stat, Store

_OF_THREAD = local()
_CLOCK = SystemClock()


@dataclass(frozen=True)
class Pace:
    """The share of one worker."""

    seconds_per_byte: float
    seconds_per_request: float


def pace_of(brakes: Brakes, workers: int) -> Pace:
    """Each worker keeps to its share, so that together they never pass the whole."""
    of_bytes, of_requests = (workers / limit if limit else 0.0 for limit in (brakes.bytes_per_second, brakes.requests_per_second))
    return Pace(of_bytes, of_requests)


@dataclass(frozen=True)
class BrakedOpen:
    """Opens stores as `inner` does; what is done with them waits."""

    inner: OpenStore
    pace: Pace

    def __call__(self, url: str, access: tuple[Access, ...] = ()) -> Store:
        """All stores that one thread has open wait for the same brake."""
        return cast(Store, _BrakedStore(self.inner(url, access), self.pace))


class _Brake:
    """Time already spoken for; what was not used is lost."""

    def __init__(self) -> None:
        self._free_at = 0.0

    def take(self, seconds: float) -> None:
        now = _CLOCK.monotonic()
        self._free_at = max(self._free_at, now) + seconds
        time.sleep(self._free_at - now)


def _brake() -> _Brake:
    if not hasattr(_OF_THREAD, "brake"):
        _OF_THREAD.brake = _Brake()
    return cast(_Brake, _OF_THREAD.brake)


class _BrakedStore:
    """Every call of the seam is a request; bytes count once, where they are read.

    The further requests that a large file takes are not counted: its bytes keep them rare.
    """

    def __init__(self, inner: Store, pace: Pace) -> None:
        self.inner = inner
        self.pace = pace

    def __getattr__(self, name: str) -> Any:
        if name in ("inner", "pace"):
            raise AttributeError(name)
        found = getattr(self.inner, name)
        if not callable(found):
            return found
        _brake().take(self.pace.seconds_per_request)
        return found

    def read(self, key: str, **how: Any) -> bytes:
        """As the store does, and then the wait for what came."""
        _brake().take(self.pace.seconds_per_request)
        data = self.inner.read(key, **how)
        _brake().take(self.pace.seconds_per_byte * len(data))
        return data

    def blocks(self, key: str, **how: Any) -> Iterator[bytes]:
        """As the store does, with a wait after each block."""
        _brake().take(self.pace.seconds_per_request)
        return self._slowly(self.inner.blocks(key, **how))

    def open(self, key: str) -> Opened:
        """The same."""
        _brake().take(self.pace.seconds_per_request)
        opened = self.inner.open(key)
        return Opened(opened.stat, self._slowly(opened.blocks))

    def copies_from(self, source: Store, size_bytes: int | None = None) -> bool:
        """As the store does."""
        return self.inner.copies_from(_plain(source), size_bytes)

    def copy_from(
        self, source: Store, source_key: str, key: str, *, version: str | Stat | None = None, digest: str | None = None
    ) -> Copied:
        """What the store copies itself is a request; what passes here waits as it does elsewhere."""
        if not self.copies_from(source):
            return self.inner.copy_from(source, source_key, key, version=version, digest=digest)
        _brake().take(self.pace.seconds_per_request)
        return self.inner.copy_from(_plain(source), source_key, key, version=version, digest=digest)

    def _slowly(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        for block in blocks:
            yield block
            _brake().take(self.pace.seconds_per_byte * len(block))


def _plain(store: Store) -> Store:
    return store.inner if isinstance(store, _BrakedStore) else store
