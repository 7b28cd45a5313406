"""The steps of `carry.engine` as DataFrame operations; the same over Spark Connect."""

from collections.abc import Sequence

import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from bergung.carry.engine import Map, Spread, Step
from bergung.spark.failures import translated


class SparkEngine:
    """Runs steps on a session; rows and results pass the driver, all between stays on executors."""

    def __init__(self, session: SparkSession, parallelism: int) -> None:
        self.session = session
        self.parallelism = parallelism

    def run(self, rows: pa.Table, steps: Sequence[Step]) -> pa.Table:
        """One action for all the steps."""
        frame = self.session.createDataFrame(rows)
        for step in steps:
            frame = _applied(frame, step)
        try:
            return frame.toArrow()
        except (PySparkException, Py4JError) as error:
            # A job that fails under `toArrow` comes as Py4J's error, and over Connect as PySpark's.
            raise translated(error) from error

    def interrupt(self) -> None:
        """Stop what runs; workers write some seconds more."""
        self.session.interruptAll()


def _applied(frame: DataFrame, step: Step) -> DataFrame:
    if isinstance(step, Map):
        return frame.mapInArrow(step.function, from_arrow_schema(step.schema))  # type: ignore[arg-type]
    if isinstance(step, Spread):
        return frame.repartitionById(step.parts, step.column)
    return frame.repartition(step.parts, *step.columns)
