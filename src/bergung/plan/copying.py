"""How a copy of a vault goes about it: so many points at a time, so that a killed one loses little."""

from dataclasses import dataclass

from bergung.model.record import Count

POINTS, FILES, BYTES = 64, 100_000, 32 * 1024**3
"""Each batch of points is sealed in the copy before the next begins. Small points go together: a batch costs some looks."""


@dataclass(frozen=True)
class CopyPlan:
    """What the second vault has not: points that it will have, and what has to be carried for them."""

    points: tuple[str, ...]
    bring: Count
    slots: int
    """Entries of both logs."""


def is_full(points: int, new: Count) -> bool:
    """Whether a batch of so many points, that stored so much when they were made, is to end here."""
    return points >= POINTS or new.files >= FILES or new.bytes >= BYTES
