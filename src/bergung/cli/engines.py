"""Which engine carries: Spark, this process, or whichever is quicker for the work at hand."""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Any

import pyarrow as pa

from bergung.carry.engine import Engine, ProcessEngine, Step
from bergung.iceberg.columns import values

SPARK, PROCESS, AUTO = "spark", "process", "auto"
LITTLE_BYTES = 1024 * 1024 * 1024
"""About what this process carries in the seconds that a Spark session needs to open."""
LITTLE_METADATA = 32 * 1024 * 1024
"""The same for manifests, which are decoded by one core here."""


class Engines:
    """Opens the engine at its first use, or ahead in a thread of its own; never twice."""

    def __init__(self, kind: str, **spark: Any) -> None:
        """Further words are those of `spark.session.SessionSettings`."""
        self.kind = kind
        self._spark_settings = {"master": "", "remote": "", "confs": {}, **spark}
        self._here: Engine = ProcessEngine(os.cpu_count() or 2)
        self._auto: Engine = AutoEngine(self, self._here)
        self._opening: Future[Any] | None = None
        self._lock = Lock()

    def __call__(self) -> Engine:
        """The engine of this run."""
        if self.kind == SPARK:
            return self.spark()
        return self._here if self.kind == PROCESS else self._auto

    def open_ahead(self) -> None:
        """Begin to open Spark while other work goes on."""
        self._begin()

    def spark(self) -> Engine:
        """The Spark engine; the first caller waits some seconds."""
        engine: Engine = self._begin().result()
        return engine

    def is_open(self) -> bool:
        """True when Spark can be used without waiting."""
        return self._opening is not None and self._opening.done() and self._opening.exception() is None

    def interrupt(self) -> bool:
        """Stop what Spark runs; False when there is none to stop."""
        if not self.is_open():
            return False
        # The caller may be a signal handler in the middle of a call to Spark.
        Thread(target=self.spark().interrupt, daemon=True).start()
        return True

    def close(self) -> None:
        """Tell a cluster or a server that the session is over; one that runs here ends with this process."""
        if self._opening is not None and self.is_open() and not self._is_local():
            self._opening.result().session.stop()

    def _is_local(self) -> bool:
        master, remote = self._spark_settings["master"], self._spark_settings["remote"]
        return not remote and (master in ("", "local") or str(master).startswith("local["))

    def _begin(self) -> Future[Any]:
        with self._lock:
            if self._opening is None:
                self._opening = Future()
                # Not in the main thread: there Spark would take Ctrl-C for itself. A daemon: nobody need wait for it.
                Thread(target=_open, args=(self._opening, self._spark_settings), daemon=True).start()
            return self._opening


def _open(opening: "Future[Any]", settings: Mapping[str, Any]) -> None:
    try:
        from bergung.spark.engine import SparkEngine
        from bergung.spark.session import SessionSettings, open_session

        session = open_session(SessionSettings(**{"short": True, **settings}))
        opening.set_result(SparkEngine(session, _parallelism(session, settings)))
    except BaseException as error:  # noqa: BLE001 - it goes on to whoever waits, whatever it is
        opening.set_exception(error)


def _parallelism(session: Any, settings: Mapping[str, Any]) -> int:
    """A Connect server does not tell how many cores it has."""
    if settings["remote"]:
        return int(settings["confs"].get("spark.default.parallelism") or os.cpu_count() or 2)
    return int(session.sparkContext.defaultParallelism)


class AutoEngine:
    """Begins here, at once; opens Spark beside that when the work turns out to be much, and goes on there."""

    def __init__(self, engines: Engines, here: Engine) -> None:
        self._engines = engines
        self._here = here
        self._bytes = 0
        self.parallelism = here.parallelism

    def run(self, rows: pa.Table, steps: Sequence[Step]) -> pa.Table:
        """One action, where it is quicker."""
        return self._choose(rows).run(rows, steps)

    def _choose(self, rows: pa.Table) -> Engine:
        self._bytes += _sum(rows, "bytes")
        if self._engines.is_open() or _sum(rows, "declared_bytes") > LITTLE_METADATA:
            engine = self._engines.spark()
            self.parallelism = engine.parallelism
            return engine
        if self._bytes > LITTLE_BYTES:
            self._engines.open_ahead()
        return self._here

    def interrupt(self) -> None:
        """Stop what runs."""
        self._engines.interrupt()


def _sum(rows: pa.Table, name: str) -> int:
    return sum(size or 0 for size in values(rows.column(name))) if name in rows.schema.names else 0
