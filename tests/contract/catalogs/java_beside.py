"""Java engines in a process of their own: a JVM that runs already takes no more jars."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.managers import BaseManager
from typing import Any

from pyspark.sql import SparkSession

from bergung.spark import jars
from bergung.spark.session import SessionSettings, default_cache, open_session
from tests.contract.catalogs.java_engine import EXTENSIONS, JavaEngine

POSTGRES_JAR = jars.Jar(
    "org.postgresql", "postgresql", "42.7.7", "157963d60ae66d607e09466e8c0cdf8087e9cb20d0159899ffca96bca2528460"
)


class _Process(BaseManager):
    """Holds the engines; what it hands out calls them there."""


def _made(settings: Mapping[str, str]) -> JavaEngine:
    return JavaEngine(_session(), settings)


def _session() -> SparkSession:
    """Of the process that this is called in."""
    paths = jars.ensure(default_cache(), (*jars.PINNED, POSTGRES_JAR))
    with_jars = {"spark.driver.extraClassPath": os.pathsep.join(map(str, paths))}
    return open_session(SessionSettings(iceberg=True, short=True, confs={**EXTENSIONS, **with_jars}))


_METHODS = ["create_namespace", "properties", "create_table", "append", "pointer", "rows", "tables", "sql", "refused", "called"]
_Process.register("made", _made, exposed=_METHODS)


class JavaBeside:
    """A JavaEngine over there."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.name: str = engine.called()

    def __getattr__(self, method: str) -> Any:
        return getattr(self._engine, method)


class JavaProcess:
    """Where the engines are."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    def engine(self, settings: Mapping[str, str]) -> JavaBeside:
        """A new one, a catalog with these settings."""
        return JavaBeside(self._manager.made(dict(settings)))


@contextmanager
def java_beside() -> Iterator[JavaProcess]:
    """While inside, the process is there; Spark starts with its first engine."""
    with _Process(ctx=get_context("spawn")) as manager:
        yield JavaProcess(manager)
