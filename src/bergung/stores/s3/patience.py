"""Asking again, with jitter and for a bounded time."""

import random
import time
from collections.abc import Iterator

from bergung.clock import Clock

PATIENCE_SECONDS = 90.0
STRANGER_SECONDS = 5.0
"""For a store that has never answered: most likely its address is wrong."""

_FIRST_SECONDS, _LONGEST_SECONDS = 0.1, 10.0


class Patience:
    """How long one request is asked again; `tries` and `seconds` say how often and how long it was."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = clock.monotonic()
        self._delays = _delays()
        self.tries = 1

    @property
    def seconds(self) -> float:
        """Since the first try."""
        return self._clock.monotonic() - self._began

    def wait(self, limit_seconds: float = PATIENCE_SECONDS, asked_seconds: float = 0.0) -> bool:
        """Sleep before the next try, as long as the store asked for where it did; False when the time is up."""
        delay = max(next(self._delays), asked_seconds)
        if self.seconds + delay > limit_seconds:
            return False
        time.sleep(delay)
        self.tries += 1
        return True


def _delays() -> Iterator[float]:
    """Twice as long each time; jitter keeps many workers from coming back together."""
    delay = _FIRST_SECONDS
    while True:
        yield delay * random.uniform(0.5, 1.0)
        delay = min(delay * 2, _LONGEST_SECONDS)
