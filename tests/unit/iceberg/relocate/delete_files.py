"""Position delete files as writers make them, and their rows as other readers see them."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bergung.iceberg.relocate.deletes import check_position_deletes, relocate_position_deletes
from bergung.iceberg.relocate.formats.moved_deletes import MovedDeletes
from bergung.iceberg.relocate.path_map import PathMap

WHERE = "s3://b/t/data/d-deletes"
METADATA = {"delete-type": "position", "iceberg.schema": '{"type":"struct"}'}
PATH_ID, POS_ID, ROW_ID = 2147483546, 2147483545, 2147483544

Row = tuple[str, int] | tuple[str, int, Any]


def of_id(field_id: int, name: str, type_: pa.DataType, nullable: bool = True) -> pa.Field:
    return pa.field(name, type_, nullable, {"PARQUET:field_id": str(field_id)})


ROW_TYPE = pa.struct(
    [
        of_id(1, "long", pa.int64(), False),
        of_id(2, "int", pa.int32()),
        of_id(3, "flag", pa.bool_()),
        of_id(4, "float", pa.float32()),
        of_id(5, "double", pa.float64()),
        of_id(6, "small", pa.decimal128(9, 2)),
        of_id(7, "middle", pa.decimal128(18, 0)),
        of_id(8, "large", pa.decimal128(38, 10)),
        of_id(9, "date", pa.date32()),
        of_id(10, "time", pa.time64("us")),
        of_id(11, "ts", pa.timestamp("us")),
        of_id(12, "tstz", pa.timestamp("us", tz="UTC")),
        of_id(13, "ts_ns", pa.timestamp("ns")),
        of_id(14, "text", pa.string()),
        of_id(15, "binary", pa.binary()),
        of_id(16, "fixed", pa.binary(5)),
        of_id(17, "uuid", pa.uuid()),
        of_id(18, "list", pa.list_(of_id(19, "element", pa.float64()))),
        of_id(
            20,
            "map",
            pa.map_(of_id(21, "key", pa.string(), False), of_id(22, "value", pa.list_(of_id(23, "element", pa.int32(), False)))),
        ),
        of_id(24, "struct", pa.struct([of_id(25, "a", pa.string()), of_id(26, "b", pa.struct([of_id(27, "c", pa.int64())]))])),
    ]
)


def every_type(seed: int) -> dict[str, Any]:
    """A row with a value of every type, some of them null or odd."""
    return {
        "long": seed - (1 << 62),
        "int": None if seed % 3 else seed,
        "flag": seed % 2 == 0,
        "float": [float("nan"), -0.0, 1.5][seed % 3],
        "double": [float("-inf"), None, 5e-324][seed % 3],
        "small": Decimal(seed % 1000) / 100,
        "middle": Decimal(10**17 + seed),
        "large": Decimal(-seed) / 10,
        "date": date(1969, 12, 31),
        "time": time(23, 59, 59, 999999),
        "ts": -62_135_596_799_999_999,
        "tstz": datetime(9999, 12, 31, tzinfo=UTC),
        "ts_ns": -2_208_988_800_000_000_001,
        "text": ["", None, "ü\0\U0001f600"][seed % 3],
        "binary": b"\xff\0",
        "fixed": b"12345",
        "uuid": bytes(range(16)),
        "list": [None, [], [None, float("nan"), float(seed)]][seed % 3],
        "map": [None, [], [("k", [1, seed]), ("l", None)]][seed % 3],
        "struct": [None, {"a": None, "b": None}, {"a": "x", "b": {"c": seed}}][seed % 3],
    }


def parquet(
    rows: Sequence[Row], codec: str = "zstd", group_rows: int = 1000, schema: pa.Schema | None = None, **settings: Any
) -> bytes:
    """As Iceberg's writers do it, with a column of rows where the rows have one."""
    sink = pa.BufferOutputStream()
    table = table_of(rows, schema)
    options = {
        "store_schema": False,
        "write_page_checksum": True,
        "store_decimal_as_integer": True,
        "write_page_index": True,
        **settings,
    }
    with pq.ParquetWriter(sink, table.schema.remove_metadata(), compression=codec, **options) as writer:
        writer.write_table(table, row_group_size=group_rows)
        writer.add_key_value_metadata({key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()})
    return sink.getvalue().to_pybytes()


def table_of(rows: Sequence[Row], schema: pa.Schema | None = None) -> pa.Table:
    schema = schema or schema_of(rows)
    columns = [[row[place] for row in rows] for place in range(len(schema))]
    return pa.Table.from_arrays(
        [array_of(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )


def array_of(items: Sequence[Any], type_: pa.DataType) -> pa.Array:
    """`pa.array` makes no UUIDs, and nulls of what is required where all above it is null."""
    if pa.types.is_struct(type_):
        blanks = {field.name: None if field.nullable else 0 for field in type_}
        children = [array_of([(item or blanks)[field.name] for item in items], field.type) for field in type_]
        return pa.StructArray.from_arrays(children, fields=list(type_), mask=pa.array([item is None for item in items], pa.bool_()))
    if type_ == pa.uuid():
        return pa.ExtensionArray.from_storage(type_, pa.array(items, type_.storage_type))
    return pa.array(items, type_)


def schema_of(rows: Sequence[Row], row_type: pa.DataType = ROW_TYPE) -> pa.Schema:
    fields = [of_id(PATH_ID, "file_path", pa.string(), False), of_id(POS_ID, "pos", pa.int64(), False)]
    if rows and len(rows[0]) > 2:
        fields.append(of_id(ROW_ID, "row", row_type))
    return pa.schema(fields, METADATA)


def rows_of_parquet(data: bytes) -> list[str]:
    """Rows as text, in which every NaN is equal."""
    return [repr(tuple(row.values())) for row in pq.read_table(pa.BufferReader(data)).to_pylist()]


def moved(data: bytes, moves: PathMap, file_format: str = "PARQUET") -> MovedDeletes:
    """Relocated, and checked."""
    found = relocate_position_deletes(data, file_format, WHERE, moves)
    check_position_deletes(data, found, file_format, WHERE, moves)
    return found


def as_text(rows: Sequence[Row]) -> list[str]:
    return [repr(row) for row in rows]
