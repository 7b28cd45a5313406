"""Position delete files in each format, made by other writers than ours and read by other readers."""

import io
import json
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.orc as orc

from bergung.iceberg.avro import blocks, open_container, records
from tests.avro_files import CODECS as PACK
from tests.avro_files import lengthed
from tests.unit.iceberg.relocate.delete_files import METADATA, PATH_ID, POS_ID, ROW_ID, Row, parquet, rows_of_parquet

FORMATS = ["PARQUET", "AVRO", "ORC"]
CODECS = {
    "PARQUET": ["none", "snappy", "gzip", "zstd", "lz4", "brotli"],
    "AVRO": ["null", "deflate", "snappy", "zstandard", "bzip2", "xz"],
    "ORC": ["uncompressed", "zlib", "snappy", "lz4", "zstd"],
}
SYNC = bytes(range(16))


def made(file_format: str, rows: Sequence[Row], codec: str | None = None, **settings: Any) -> bytes:
    """A file of these rows; the first codec of each format but one when none is asked for."""
    makers = {"PARQUET": parquet, "AVRO": avro, "ORC": orc_file}
    return makers[file_format](rows, codec or CODECS[file_format][1], **settings)


def rows_of(file_format: str, data: bytes) -> list[str]:
    """Rows as text, in which every NaN is equal."""
    if file_format == "PARQUET":
        return rows_of_parquet(data)
    if file_format == "ORC":
        found = orc.ORCFile(pa.BufferReader(data)).read().to_pylist()
    else:
        found = list(records(open_container(data, "x")))
    return [repr(tuple(row.values())) for row in found]


def some_row(seed: int) -> dict[str, Any]:
    """A row that every format can hold."""
    return {
        "long": seed - (1 << 62),
        "int": None if seed % 3 else seed,
        "flag": seed % 2 == 0,
        "float": [float("nan"), -0.0, 1.5][seed % 3],
        "double": [float("-inf"), None, 5e-324][seed % 3],
        "small": Decimal(seed % 1000) / 100,
        "large": Decimal(-seed) / 10,
        "date": date(1969, 12, 31),
        "text": ["", None, "ü\0\U0001f600"][seed % 3],
        "binary": b"\xff\0",
        "list": [None, [], [None, float("nan"), float(seed)]][seed % 3],
        "map": [None, [], [("k", seed), ("l", None)]][seed % 3],
        "struct": [None, {"a": None, "b": 1}, {"a": "x", "b": seed}][seed % 3],
    }


# Avro: maps that Iceberg writes as arrays of pairs, since keys need not be text.


def _optional(field_id: int, name: str, type_: Any) -> dict[str, Any]:
    return {"name": name, "type": ["null", type_], "default": None, "field-id": field_id}


def _decimal(name: str, precision: int, scale: int, size: int) -> dict[str, Any]:
    return {"type": "fixed", "name": name, "size": size, "logicalType": "decimal", "precision": precision, "scale": scale}


_PAIR = {
    "type": "record",
    "name": "k11_v12",
    "fields": [{"name": "key", "type": "string", "field-id": 11}, _optional(12, "value", "long")],
}
_INNER = {"type": "record", "name": "r13", "fields": [_optional(14, "a", "string"), _optional(15, "b", "long")]}
_ROW = {
    "type": "record",
    "name": f"r{ROW_ID}",
    "fields": [
        {"name": "long", "type": "long", "field-id": 1},
        _optional(2, "int", "int"),
        _optional(3, "flag", "boolean"),
        _optional(4, "float", "float"),
        _optional(5, "double", "double"),
        _optional(6, "small", _decimal("decimal_9_2", 9, 2, 4)),
        _optional(7, "large", _decimal("decimal_38_10", 38, 10, 16)),
        _optional(8, "date", {"type": "int", "logicalType": "date"}),
        _optional(9, "text", "string"),
        _optional(10, "binary", "bytes"),
        _optional(16, "list", {"type": "array", "items": ["null", "double"], "element-id": 17}),
        _optional(18, "map", {"type": "array", "items": _PAIR, "logicalType": "map"}),
        _optional(13, "struct", _INNER),
    ],
}


def avro_schema(with_rows: bool) -> dict[str, Any]:
    fields: list[Any] = [
        {"name": "file_path", "type": "string", "doc": "Path of a file in which a deleted row is stored", "field-id": PATH_ID},
        {"name": "pos", "type": "long", "doc": "Ordinal position of a deleted row in the data file", "field-id": POS_ID},
    ]
    if with_rows:
        fields.append(_optional(ROW_ID, "row", _ROW))
    return {"type": "record", "name": "table", "fields": fields}


def avro(rows: Sequence[Row], codec: str = "deflate", block_bytes: int = 64_000, schema: Any = None) -> bytes:
    """fastavro lacks libraries for some codecs: blocks are packed by hand."""
    schema = schema or avro_schema(bool(rows) and len(rows[0]) > 2)
    names = [field["name"] for field in schema["fields"]]
    found = ({name: _for_avro(value) for name, value in zip(names, row, strict=True)} for row in rows)
    plain, target = io.BytesIO(), io.BytesIO()
    fastavro.writer(plain, schema, found, sync_marker=SYNC, sync_interval=block_bytes)
    container = open_container(plain.getvalue(), "x")
    head = {**container.properties, **{key: value.encode() for key, value in METADATA.items()}, "avro.codec": codec.encode()}
    target.write(b"Obj\x01")
    fastavro.schemaless_writer(target, {"type": "map", "values": "bytes"}, {**head, "avro.schema": json.dumps(schema).encode()})
    target.write(SYNC)
    for count, block in blocks(container):
        target.write(count + lengthed(PACK[codec](block)) + SYNC)
    return target.getvalue()


def _for_avro(value: Any) -> Any:
    if isinstance(value, dict) and value.get("map"):
        return {**value, "map": [{"key": key, "value": item} for key, item in value["map"]]}
    return value


# ORC: Iceberg knows its columns by attributes of types, which Arrow has as metadata of fields.


def of_orc(field_id: int, name: str, type_: pa.DataType, **more: str) -> pa.Field:
    return pa.field(name, type_, metadata={"iceberg.id": str(field_id), "iceberg.required": "false", **more})


ORC_ROW = pa.struct(
    [
        of_orc(1, "long", pa.int64(), **{"iceberg.long-type": "LONG"}),
        of_orc(2, "int", pa.int32()),
        of_orc(3, "flag", pa.bool_()),
        of_orc(4, "float", pa.float32()),
        of_orc(5, "double", pa.float64()),
        of_orc(6, "small", pa.decimal128(9, 2)),
        of_orc(7, "large", pa.decimal128(38, 10)),
        of_orc(8, "date", pa.date32()),
        of_orc(9, "text", pa.string()),
        of_orc(10, "binary", pa.binary(), **{"iceberg.binary-type": "BINARY"}),
        of_orc(16, "list", pa.list_(of_orc(17, "item", pa.float64()))),
        of_orc(18, "map", pa.map_(pa.string(), pa.int64())),
        of_orc(13, "struct", pa.struct([of_orc(14, "a", pa.string()), of_orc(15, "b", pa.int64())])),
    ]
)


def orc_schema(with_rows: bool, row_type: pa.DataType = ORC_ROW) -> pa.Schema:
    fields = [of_orc(PATH_ID, "file_path", pa.string()), of_orc(POS_ID, "pos", pa.int64(), **{"iceberg.long-type": "LONG"})]
    return pa.schema([*fields, of_orc(ROW_ID, "row", row_type)] if with_rows else fields)


def orc_file(rows: Sequence[Row], codec: str = "zlib", schema: pa.Schema | None = None, **settings: Any) -> bytes:
    schema = schema or orc_schema(bool(rows) and len(rows[0]) > 2)
    columns = [pa.array([row[place] for row in rows], field.type) for place, field in enumerate(schema)]
    sink = pa.BufferOutputStream()
    orc.write_table(pa.Table.from_arrays(columns, schema=schema), sink, compression=codec, **settings)
    return sink.getvalue().to_pybytes()
