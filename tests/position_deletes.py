"""Files and position deletes as engines other than Spark commit them, through Iceberg's core library."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bergung.carry.fields import FIELD_ID
from maintenance import java_table
from readers import plain_path

_DELETE = pa.schema(
    [
        pa.field("file_path", pa.string(), nullable=False, metadata={FIELD_ID: "2147483546"}),
        pa.field("pos", pa.int64(), nullable=False, metadata={FIELD_ID: "2147483545"}),
    ]
)
_ID = pa.schema([pa.field("id", pa.int64(), metadata={FIELD_ID: "1"})])


def data_files(spark: Any, table: str) -> list[str]:
    """Paths of the live data files, as the manifests have them."""
    tasks, found = java_table(spark, table).newScan().planFiles().iterator(), []
    while tasks.hasNext():
        found.append(str(tasks.next().file().location()))
    return sorted(found)


def add_file(spark: Any, table: str, path: str, ids: list[int]) -> None:
    """A data file with the column `id`, at a path of its own, spelled so."""
    own = java_table(spark, table)
    size = _write(path, pa.table({"id": ids}, schema=_ID))
    builder = spark._jvm.org.apache.iceberg.DataFiles.builder(own.spec()).withPath(path).withFormat("PARQUET")
    own.newAppend().appendFile(builder.withFileSizeInBytes(size).withRecordCount(len(ids)).build()).commit()


def delete_positions(spark: Any, table: str, pairs: list[tuple[str, int]], name: str, *, refers: bool = False) -> None:
    """One delete file of these paths and positions; with `refers`, its entry names the one data file that it is for."""
    own = java_table(spark, table)
    path = own.locationProvider().newDataLocation(f"{name}.parquet")
    rows = pa.Table.from_pylist([{"file_path": file, "pos": place} for file, place in sorted(pairs)], schema=_DELETE)
    size = _write(path, rows)
    builder = spark._jvm.org.apache.iceberg.FileMetadata.deleteFileBuilder(own.spec()).ofPositionDeletes().withPath(path)
    if refers:
        builder = builder.withReferencedDataFile(pairs[0][0])
    file = builder.withFormat("PARQUET").withFileSizeInBytes(size).withRecordCount(len(pairs)).build()
    own.newRowDelta().addDeletes(file).commit()


def _write(path: str, rows: pa.Table) -> int:
    target = Path(plain_path(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, target)
    return target.stat().st_size
