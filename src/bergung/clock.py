"""The only place that asks what time it is."""

import time
from datetime import UTC, datetime
from typing import Protocol


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
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def from_text(text: str) -> datetime:
    """Read what `to_text` wrote, or any ISO 8601 time with a zone."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"time without a zone: {text!r}")
    return moment.astimezone(UTC)


def from_ms(epoch_ms: int) -> datetime:
    """Iceberg's milliseconds since 1970 as a moment."""
    return datetime.fromtimestamp(epoch_ms / 1000, UTC)


def to_ms(moment: datetime) -> int:
    """A moment as Iceberg's milliseconds since 1970."""
    return int(moment.timestamp() * 1000)
