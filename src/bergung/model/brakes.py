"""How much of a store and of a day a run may take."""

from dataclasses import dataclass
from datetime import datetime, time


@dataclass(frozen=True)
class Window:
    """From one time of the day to another, which may be of the next day."""

    opens: time
    closes: time

    def is_open(self, moment: datetime) -> bool:
        """`moment` is in the time zone that the window is meant in."""
        now = moment.time()
        if self.opens <= self.closes:
            return self.opens <= now < self.closes
        return now >= self.opens or now < self.closes

    def __str__(self) -> str:
        return f"{self.opens:%H:%M}-{self.closes:%H:%M}"


@dataclass(frozen=True)
class Brakes:
    """What is None is not limited."""

    bytes_per_second: int | None = None
    requests_per_second: int | None = None
    window: Window | None = None

    @property
    def is_slow(self) -> bool:
        """True when anything must wait."""
        return self.bytes_per_second is not None or self.requests_per_second is not None


NO_BRAKES = Brakes()
