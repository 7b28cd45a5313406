"""Whether the executors of a session that was just opened are there and can do our work, in bounded time."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import Any, TypeVar

import pyspark
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from bergung.carry.presence import PRESENT, present
from bergung.errors import BergungError
from bergung.spark.failures import translated

T = TypeVar("T")


def require_executors(session: SparkSession, patience_seconds: float) -> None:
    """Wait for the first task to end; a cluster without room would otherwise be waited for without a word."""
    frame = session.range(0, 1, 1, 1).mapInArrow(present, from_arrow_schema(PRESENT))  # type: ignore[arg-type]
    try:
        bounded(frame.toArrow, patience_seconds)
    except TimeoutError as error:
        session.interruptAll()
        hint = "look at the cluster's own page for free cores and memory; ask for less: spark.cores.max, spark.executor.memory"
        fact = f"no executor has done a first task after {patience_seconds:g} s"
        raise BergungError(fact, f"{hint}; or wait longer: spark.patience = 3600") from error


def require_version(session: SparkSession, address: str) -> None:
    """A Connect server of another Spark fails much later, in words that do not say so."""
    theirs, ours = session.version, pyspark.__version__
    if theirs.split(".")[:2] != ours.split(".")[:2]:
        hint = f"use a Connect server of Spark {'.'.join(ours.split('.')[:2])}"
        raise BergungError(f"the Connect server at {address} runs Spark {theirs}, this is {ours}", hint)


def bounded(act: Callable[[], T], patience_seconds: float) -> T:
    """What it returns, or TimeoutError; Spark's failures as ours. Without patience it may take for ever."""
    done: Future[Any] = Future()
    Thread(target=_do, args=(act, done), daemon=True).start()
    try:
        result: T = done.result(patience_seconds or None)
    except (PySparkException, Py4JError) as error:
        raise translated(error) from error
    return result


def _do(act: Callable[[], T], done: "Future[T]") -> None:
    try:
        done.set_result(act())
    except BaseException as error:  # noqa: BLE001 - it goes on to whoever waits, whatever it is
        done.set_exception(error)
