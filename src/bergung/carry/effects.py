"""What a verb works with: time, names, stores, an engine, and somebody who watches."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from bergung.carry.engine import Engine, ProcessEngine, Step
from bergung.clock import Clock, SystemClock
from bergung.iceberg.columns import values
from bergung.model.brakes import NO_BRAKES, Brakes
from bergung.model.ids import Ids, RandomIds
from bergung.stores.base import OpenStore
from bergung.stores.open import open_store

FEW = {"declared_bytes": 16 * 1024 * 1024, "count": 50_000}
FEW_ROWS = 2_000
"""Less than this is done at once in this process: a Spark job costs more than that."""


class Watch(Protocol):
    """Somebody who is told how far a run has come, and may stop it."""

    def step(self, name: str) -> None:
        """A named step begins."""
        ...

    def progress(self, files: int, bytes_: int, total: tuple[int, int]) -> None:
        """So much of so much has been carried."""
        ...

    def stopped(self) -> bool:
        """True once the user wants no further wave."""
        ...


class NobodyWatches:
    """For programs that do not look."""

    def step(self, name: str) -> None: ...

    def progress(self, files: int, bytes_: int, total: tuple[int, int]) -> None: ...

    def stopped(self) -> bool:
        return False


@dataclass(frozen=True)
class Effects:
    """Everything outside that a verb touches; `engine` opens the data plane at its first use."""

    engine: Callable[[], Engine]
    clock: Clock = field(default_factory=SystemClock)
    ids: Ids = field(default_factory=RandomIds)
    open_store: OpenStore = open_store
    watch: Watch = field(default_factory=NobodyWatches)
    brakes: Brakes = NO_BRAKES

    def run(self, rows: pa.Table, *steps: Step) -> pa.Table:
        """Run steps where it is quickest: few rows here, many on the engine."""
        return (here() if self.is_little(rows) else self.engine()).run(rows, steps)

    def is_little(self, rows: pa.Table) -> bool:
        """Whether steps over these rows run in this process, whatever the engine."""
        return _is_little(rows)


def _is_little(rows: pa.Table) -> bool:
    if rows.num_rows >= FEW_ROWS:
        return False
    known = [name for name in FEW if name in rows.schema.names]
    return all(sum(size or 0 for size in values(rows.column(name))) < FEW[name] for name in known)


def here() -> ProcessEngine:
    """This process, with more threads than cores since they mostly wait for a store."""
    return ProcessEngine(4 * (os.cpu_count() or 2))
