"""Spark keeps the law of engines, with whole batches and with batches of three rows."""

from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import SparkSession

from bergung.carry.engine import Batches, Engine, Map, Spread
from bergung.errors import BergungError
from bergung.spark.engine import SparkEngine
from tests.engine_law import LAWS, ROWS, some_rows

BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"


@pytest.fixture(params=["10000", "3"])
def engine(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[SparkEngine]:
    before = spark.conf.get(BATCH)
    spark.conf.set(BATCH, request.param)
    yield SparkEngine(spark, 2)
    spark.conf.set(BATCH, before or "10000")


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_law(law: Callable[[Engine], None], engine: SparkEngine) -> None:
    law(engine)


def _refuse(batches: Batches) -> Batches:
    for batch in batches:
        raise BergungError(f"not these {batch.num_rows} rows")
        yield batch


def test_an_error_of_a_part_is_an_error_of_ours_with_its_cause(spark: SparkSession) -> None:
    with pytest.raises(BergungError, match="^Spark failed: .*not these 23 rows"):
        SparkEngine(spark, 2).run(some_rows(), [Spread("worker", 1), Map(_refuse, ROWS)])
