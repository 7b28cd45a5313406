"""A short real session whose JVM writes down, at its end, which classes it loaded.

Run as a process of its own: `python -m bergung.spark.rehearsal ARCHIVE [JAR…]`.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as F

CATALOG = "spark.sql.catalog.lake"


def main(arguments: list[str]) -> None:
    """Open, use and end the session, and wait until the JVM has written the archive."""
    made, extra = arguments[0], arguments[1:]
    with tempfile.TemporaryDirectory() as folder:
        session = _open(made, extra, folder)
        _use(session, folder)
        if extra:
            _use_iceberg(session)
        session.stop()
        _end_the_jvm()


def _end_the_jvm() -> None:
    gateway = SparkContext._gateway
    process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    if process is not None and process.stdin is not None:
        process.stdin.close()  # the end of its input is what ends it
        process.wait()


def _open(made: str, extra: list[str], folder: str) -> SparkSession:
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.extraJavaOptions", f"-Xlog:disable -XX:ArchiveClassesAtExit={made}")
    builder = builder.config("spark.sql.warehouse.dir", folder)
    if extra:
        builder = builder.config("spark.driver.extraClassPath", os.pathsep.join(extra))
        builder = builder.config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
        builder = builder.config(CATALOG, "org.apache.iceberg.spark.SparkCatalog")
        builder = builder.config(f"{CATALOG}.catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog")
        builder = builder.config(f"{CATALOG}.uri", f"jdbc:sqlite:file:{folder}/lake.db")
        builder = builder.config(f"{CATALOG}.jdbc.schema-version", "V1")
        builder = builder.config(f"{CATALOG}.warehouse", Path(folder).as_uri())
    return builder.getOrCreate()


def _use(session: SparkSession, folder: str) -> None:
    seen = Observation("rehearsal")
    rows = session.range(100).withColumn("name", F.col("id").cast("string"))
    rows = rows.mapInArrow(_pass_on, rows.schema).observe(seen, F.count(F.lit(1)).alias("rows"))
    rows.write.parquet(f"{folder}/part")
    again = session.read.parquet(f"{folder}/part")
    again.repartition(2).mapInArrow(_pass_on, again.schema).groupBy("name").agg(F.sum("id")).sort("name").toArrow()
    again.join(session.range(50), "id").count()


def _use_iceberg(session: SparkSession) -> None:
    session.sql("CREATE TABLE lake.db.t (id BIGINT, name STRING) USING iceberg PARTITIONED BY (bucket(2, id))")
    session.sql("INSERT INTO lake.db.t SELECT id, string(id) FROM range(100)")
    session.sql("DELETE FROM lake.db.t WHERE id = 3")
    session.sql("SELECT * FROM lake.db.t ORDER BY id").toArrow()


def _pass_on(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    yield from batches


if __name__ == "__main__":
    main(sys.argv[1:])
