"""A table of version 3 with a partition for each kind of value, made through Iceberg's core library.

But for `fixed`: Iceberg's Java (1.12) writes its values with a length, where the schema of the manifest has none.
"""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.java_gateway import JavaObject

from bergung.carry.fields import FIELD_ID
from maintenance import java_table
from readers import plain_path


def make_table_of_kinds(spark: Any, catalog: str, namespace: str, name: str) -> None:
    """Two commits of one file each, and a third that deletes the first file."""
    jvm = spark._jvm
    types, optional = jvm.org.apache.iceberg.types.Types, jvm.org.apache.iceberg.types.Types.NestedField.optional
    kinds = [
        types.DecimalType.of(9, 2),
        types.UUIDType.get(),
        types.TimeType.get(),
        types.TimestampType.withoutZone(),
        types.TimestampNanoType.withoutZone(),
        types.BinaryType.get(),
    ]
    schema = jvm.org.apache.iceberg.Schema([optional(place, f"c{place}", kind) for place, kind in enumerate(kinds, 1)])
    spec = jvm.org.apache.iceberg.PartitionSpec.builderFor(schema)
    for place in range(1, len(kinds) + 1):
        spec = spec.identity(f"c{place}")
    identifier = jvm.org.apache.iceberg.catalog.TableIdentifier.parse(f"{namespace}.{name}")
    owner = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergCatalog(spark._jsparkSession, catalog)
    owner.createTable(identifier, schema, spec.build(), {"format-version": "3"})
    table = f"{catalog}.{namespace}.{name}"
    first = _append(spark, table, 0)
    _append(spark, table, 1)
    # By the file, not by its path: a method of that form would delete the file itself.
    java_table(spark, table).newDelete().deleteFile(first).commit()


def rows_of_every_snapshot(spark: Any, table: str) -> dict[int, list[str]]:
    """By the core library's own reader."""
    own, generics = java_table(spark, table), spark._jvm.org.apache.iceberg.data.IcebergGenerics
    found, snapshots = {}, own.snapshots().iterator()
    while snapshots.hasNext():
        each, rows = snapshots.next().snapshotId(), []
        records = generics.read(own).useSnapshot(each).build().iterator()
        while records.hasNext():
            record = records.next()
            rows.append(str([_plain(spark._jvm, record.get(place)) for place in range(record.size())]))
        found[each] = sorted(rows)
    return found


def _plain(jvm: Any, value: Any) -> Any:
    """Bytes as they are, everything else as Java writes it."""
    if isinstance(value, JavaObject) and "ByteBuffer" in value.getClass().getName():
        return jvm.org.apache.iceberg.util.ByteBuffers.toByteArray(value)
    return value if isinstance(value, bytes) else str(value)


def _append(spark: Any, table: str, which: int) -> Any:
    own, jvm = java_table(spark, table), spark._jvm
    path = own.locationProvider().newDataLocation(f"part-{which}.parquet")
    columns, partition = _values(jvm, which), jvm.org.apache.iceberg.PartitionData(own.spec().partitionType())
    fields = [pa.field(f"c{place}", kind, metadata={FIELD_ID: str(place)}) for place, (kind, *_) in enumerate(columns, 1)]
    arrays = [pa.array([value], kind) for kind, value, _ in columns]
    for place, (_, _, value) in enumerate(columns):
        partition.set(place, value)
    target = Path(plain_path(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), target)
    builder = jvm.org.apache.iceberg.DataFiles.builder(own.spec()).withPath(path).withFormat("PARQUET").withPartition(partition)
    file = builder.withFileSizeInBytes(target.stat().st_size).withRecordCount(1).build()
    own.newAppend().appendFile(file).commit()
    return file


def _values(jvm: Any, which: int) -> list[tuple[pa.DataType, Any, Any]]:
    """For each column: its type in Arrow, a value, and the same value for Java."""
    decimal = (Decimal("1.50"), Decimal("-7.25"))[which]
    number = bytes(15) + b"\x01" if which else b"\xff" * 16
    # Beyond 32 bits: smaller ones would become Integers on their way, where Java has Longs.
    clock, micros = (86_399_999_999, 3_723_000_000)[which], (-(10**15), 10**15 + 1)[which]
    nanos = (1_700_000_000_123_456_789, -(10**18))[which]
    blob = (b"", b"\xfe/=%2F")[which]
    wrap = jvm.java.nio.ByteBuffer.wrap
    bits = [int.from_bytes(number[start : start + 8], signed=True) for start in (0, 8)]
    return [
        (pa.decimal128(9, 2), decimal, jvm.java.math.BigDecimal(str(decimal))),
        (pa.uuid(), number, jvm.java.util.UUID(*bits)),
        (pa.time64("us"), clock, clock),
        (pa.timestamp("us"), micros, micros),
        (pa.timestamp("ns"), nanos, nanos),
        (pa.binary(), blob, wrap(blob)),
    ]
