"""What a PySpark program without our tricks needs to open a session and run one mapInArrow."""

import os
import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import SparkSession


def pass_on(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


if __name__ == "__main__":
    os.environ.update(PYSPARK_PYTHON=sys.executable)
    session = SparkSession.builder.master("local[2]").getOrCreate()
    session.range(10).mapInArrow(pass_on, "id long").count()
    session.stop()
