"""A table with equality deletes, which Spark reads and never writes: Flink does. Made through Iceberg's core library."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bergung.carry.fields import FIELD_ID
from maintenance import java_table
from readers import plain_path

ID = pa.field("id", pa.int64(), metadata={FIELD_ID: "1"})
WORD = pa.field("word", pa.string(), metadata={FIELD_ID: "2"})


def make_table_with_equality_deletes(spark: Any, table: str, rows: int = 100) -> None:
    """Deletes by id, by word and by both; and a late compaction whose file stays older than a delete."""
    spark.sql(f"CREATE TABLE {table} (id BIGINT, word STRING) USING iceberg TBLPROPERTIES ('format-version' = '2')")
    spark.sql(f"INSERT INTO {table} SELECT id, concat('word ', id % 10) FROM range({rows})")
    delete_where_equal(spark, table, pa.table([pa.array([3, 4])], schema=pa.schema([ID])))
    spark.sql(f"INSERT INTO {table} VALUES (3, 'again'), (4, NULL)")
    _compaction_that_began_before(spark, table, pa.table([pa.array([pa.scalar(None, pa.string())])], schema=pa.schema([WORD])))
    delete_where_equal(spark, table, pa.table([pa.array([5]), pa.array(["word 5"])], schema=pa.schema([ID, WORD])))


def delete_where_equal(spark: Any, table: str, keys: pa.Table) -> None:
    """Commit a delete file: rows that equal one of these keys are gone, if they were written before."""
    own = java_table(spark, table)
    path, size = _written(own, "deletes", keys)
    ids = spark._sc._gateway.new_array(spark._jvm.int, keys.num_columns)
    for place, column in enumerate(keys.schema):
        ids[place] = int(column.metadata[FIELD_ID])
    builder = spark._jvm.org.apache.iceberg.FileMetadata.deleteFileBuilder(own.spec()).ofEqualityDeletes(ids)
    file = builder.withPath(path).withFormat("PARQUET").withFileSizeInBytes(size).withRecordCount(keys.num_rows).build()
    own.newRowDelta().addDeletes(file).commit()


def _compaction_that_began_before(spark: Any, table: str, keys: pa.Table) -> None:
    """The rewritten file keeps the sequence number at which its writer began, so that the delete applies to it."""
    own = java_table(spark, table)
    began = own.currentSnapshot().sequenceNumber()
    old = list(own.currentSnapshot().addedDataFiles(own.io()))
    rows = pa.concat_tables([pq.read_table(plain_path(file.location())) for file in old])
    delete_where_equal(spark, table, keys)
    path, size = _written(own, "compacted", rows.cast(pa.schema([ID, WORD])))
    builder = spark._jvm.org.apache.iceberg.DataFiles.builder(own.spec())
    file = builder.withPath(path).withFormat("PARQUET").withFileSizeInBytes(size).withRecordCount(rows.num_rows).build()
    rewrite = java_table(spark, table).newRewrite().dataSequenceNumber(began).addFile(file)
    for each in old:
        rewrite = rewrite.deleteFile(each)
    rewrite.commit()


def _written(own: Any, name: str, rows: pa.Table) -> tuple[str, int]:
    location = own.locationProvider().newDataLocation(f"{name}-{own.currentSnapshot().snapshotId()}.parquet")
    pq.write_table(rows, plain_path(location))
    return location, Path(plain_path(location)).stat().st_size
