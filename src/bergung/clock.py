"""The only place that asks what time it is."""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


class Clock(Protocol):
    """Time as an effect, so that tests decide it."""

    def now(self) -> datetime:
        """This moment, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds from some start, never going back."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """This moment, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds from some start, never going back."""
        return time.monotonic()


def to_text(moment: datetime) -> str:
    """ISO 8601 with microseconds and Z, so that text order is time order."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def from_text(text: str) -> datetime:
    """Read what `to_text` wrote, or any ISO 8601 time with a zone."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"time without a zone: {text!r}")
    return moment.astimezone(UTC)


def from_ms(epoch_ms: int) -> datetime:
    """Iceberg's milliseconds since 1970 as a moment."""
    return _EPOCH + epoch_ms * _MS


def to_ms(moment: datetime) -> int:
    """The millisecond since 1970 that a moment lies in; in whole numbers, for a float is now and then one too early."""
    return (moment - _EPOCH) // _MS
