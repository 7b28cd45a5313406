"""What our client of a store asks by HTTP: when, how it ends, and how much of it one after another. The SDK itself tells."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import local
from typing import Any

from bergung.clock import SystemClock
from bergung.stores.access import Access
from bergung.stores.s3.clients import clients

SENT, ANSWERED = "before-send.s3", "response-received.s3"


@dataclass(frozen=True)
class Request:
    """One try, from when it was sent to when its answer began, or was given up."""

    method: str
    url: str
    sent_bytes: int
    began: float
    ended: float
    failed: bool

    @property
    def seconds(self) -> float:
        return self.ended - self.began


@dataclass
class Asked:
    """All tries of all threads."""

    requests: list[Request] = field(default_factory=list)
    _thread: local = field(default_factory=local)

    def in_turn(self) -> list[Request]:
        """The longest row of requests of which each was sent after the one before was answered.

        So many times the way there and back had to be waited for: what is asked at once counts once. It tells nothing where
        answers come at once.
        """
        found: list[Request] = []
        for request in sorted(self.requests, key=lambda each: each.ended):
            if not found or request.began >= found[-1].ended:
                found.append(request)
        return found

    def sent(self, request: Any, **_: Any) -> None:
        self._thread.asked = (request.method, request.url, int(request.headers.get("Content-Length") or 0), time.perf_counter())

    def answered(self, exception: Exception | None, **_: Any) -> None:
        self.requests.append(Request(*self._thread.asked, time.perf_counter(), exception is not None))


@contextmanager
def listening(access: Access, address: str) -> Iterator[Asked]:
    """To the client that this process has for that access, while inside."""
    asked, events = Asked(), clients.of(access, address, SystemClock()).meta.events
    handlers = {SENT: asked.sent, ANSWERED: asked.answered}
    for name, handler in handlers.items():
        events.register(name, handler)
    try:
        yield asked
    finally:
        for name, handler in handlers.items():
            events.unregister(name, handler)
