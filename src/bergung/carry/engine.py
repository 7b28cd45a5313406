"""How steps over Arrow tables are run; the form is the same for this process and for Spark."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from typing import Protocol
from zlib import crc32

import pyarrow as pa

from bergung.iceberg.columns import table, values

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class Map:
    """Each part of the rows goes through a function; what it yields has this schema."""

    function: Callable[[Batches], Batches]
    schema: pa.Schema


@dataclass(frozen=True)
class Spread:
    """A row goes to the part that its integer column names."""

    column: str
    parts: int


@dataclass(frozen=True)
class Shuffle:
    """Rows that agree in these columns meet in one part."""

    columns: tuple[str, ...]
    parts: int


Step = Map | Spread | Shuffle


class Engine(Protocol):
    """Runs steps; rows go in at the driver and come out there, what is between stays where it is."""

    parallelism: int
    """How many parts are worked on at once."""

    def run(self, rows: pa.Table, steps: Sequence[Step]) -> pa.Table:
        """One action: every function sees its rows at least once, and repeats must be harmless."""
        ...

    def interrupt(self) -> None:
        """Stop what runs, from another thread."""
        ...


class ProcessEngine:
    """The steps in this process, on threads: for tests, for little work, and where no JVM may start."""

    def __init__(self, parallelism: int) -> None:
        self.parallelism = parallelism

    def run(self, rows: pa.Table, steps: Sequence[Step]) -> pa.Table:
        """Parts run side by side; the order of the rows is kept as far as the steps keep it."""
        with ThreadPoolExecutor(self.parallelism) as pool:
            parts = reduce(lambda parts, step: _apply(pool, parts, step), steps, [rows])
        return pa.concat_tables(parts)

    def interrupt(self) -> None:
        """Threads end with their part; there is nothing to stop."""


def _apply(pool: ThreadPoolExecutor, parts: list[pa.Table], step: Step) -> list[pa.Table]:
    if isinstance(step, Map):
        # One part needs no thread: starting it costs more than most of what is done so.
        return [_mapped(parts[0], step)] if len(parts) == 1 else list(pool.map(lambda part: _mapped(part, step), parts))
    rows = pa.concat_tables(parts)
    if isinstance(step, Spread):
        return _split(rows, values(rows.column(step.column)), step.parts)
    keys = zip(*(values(rows.column(name)) for name in step.columns), strict=True)
    return _split(rows, [crc32(repr(key).encode()) % step.parts for key in keys], step.parts)


def _mapped(part: pa.Table, step: Map) -> pa.Table:
    return pa.Table.from_batches(step.function(iter(part.to_batches())), schema=step.schema)


def _split(rows: pa.Table, numbers: list[int], parts: int) -> list[pa.Table]:
    places: list[list[int]] = [[] for _ in range(parts)]
    for place, number in enumerate(numbers):
        places[number].append(place)
    picks = pa.schema([("at", pa.int64())])
    return [rows.take(table(picks, {"at": found}).column("at")) for found in places if found] or [rows]
