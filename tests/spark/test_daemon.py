"""The Python workers of a local session run on what is installed, and start with what they need."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyspark
from pyspark.sql import SparkSession

from bergung.iceberg.columns import batch_of

SEEN = pa.schema([("archives", pa.string()), ("pyspark", pa.string()), ("ready", pa.int32())])


def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    ready = int("bergung.carry.slices" in sys.modules)
    places = [*sys.path, *sys.path_importer_cache]
    archives = sorted({place for place in places if ".zip" in place or ".jar" in place})
    for _ in batches:
        yield batch_of(SEEN, [{"archives": " ".join(archives), "pyspark": pyspark.__file__, "ready": ready}])


def test_no_task_reads_the_directory_of_an_archive(spark: SparkSession) -> None:
    (row,) = spark.range(0, 4, 1, 1).mapInArrow(look, "archives string, pyspark string, ready int").collect()
    # Python itself looks for its own library in an archive that need not be there.
    assert [place for place in row.archives.split() if Path(place).exists()] == []
    assert row.pyspark == pyspark.__file__


def test_a_worker_is_forked_with_what_its_first_task_imports(spark: SparkSession) -> None:
    (row,) = spark.range(0, 4, 1, 1).mapInArrow(look, "archives string, pyspark string, ready int").collect()
    assert row.ready == 1
