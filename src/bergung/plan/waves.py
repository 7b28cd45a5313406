"""Slices of work into waves of some twenty seconds, each spread evenly."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace

FIRST_WAVE_BYTES = 1024 * 1024 * 1024
"""A worker's share of the first wave, when nothing is known of the speed."""
WAVE_SECONDS = 25.0
PARTS_PER_WORKER = 3
FILE_WEIGHT = 64 * 1024
"""A file costs about as much as so many bytes, however small it is."""


@dataclass(frozen=True)
class Slice:
    """A stretch of a stored task list."""

    part: str
    start: int
    count: int
    bytes: int

    @property
    def weight(self) -> int:
        return self.bytes + self.count * FILE_WEIGHT


def wave_bytes(parallelism: int, done_bytes: int, seconds: float, limit: int | None = None) -> int:
    """How much the next wave takes, from what the waves before achieved; `limit` is what is allowed in a second."""
    most = FIRST_WAVE_BYTES * parallelism if limit is None else int(limit * WAVE_SECONDS)
    if not done_bytes or seconds <= 0:
        return most
    return max(min(FIRST_WAVE_BYTES * parallelism // 8, most), int(done_bytes / seconds * WAVE_SECONDS))


def take_wave(slices: Sequence[Slice], budget: int) -> int:
    """How many of the slices, from the front, make the next wave; at least one."""
    total = 0
    for count, slice_ in enumerate(slices):
        total += slice_.weight
        if total > budget and count:
            return count
    return len(slices)


def spread(slices: Sequence[Slice], parallelism: int) -> list[int]:
    """The part that each slice goes to, so that all parts weigh about the same."""
    parts = [(0, part) for part in range(min(len(slices), parallelism * PARTS_PER_WORKER))]
    heapify(parts)
    places = [0] * len(slices)
    for place in sorted(range(len(slices)), key=lambda place: -slices[place].weight):
        weight, part = parts[0]
        places[place] = part
        heapreplace(parts, (weight + slices[place].weight, part))
    return places
