"""Manifests as the writers write them that people have: by the schemas of Iceberg's Java library and of PyIceberg."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pyiceberg.manifest import MANIFEST_LIST_FILE_SCHEMAS, data_file_with_partition, manifest_entry_schema_with_data_file
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestampNanoType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    UnknownType,
    UUIDType,
)
from pyiceberg.utils.schema_conversion import AvroSchemaConversion

from tests.avro_files import Blocks, container, encode, in_one

Json = Any

WRITERS = ("java", "pyiceberg")
VERSIONS = (1, 2, 3)
OLD = "s3://old/lake/t"
NEW = "s3://new/elsewhere"

_JAVA = json.loads((Path(__file__).parent / "fixtures" / "schemas_of_java.json").read_text())
_TYPES = (
    BooleanType(), IntegerType(), LongType(), FloatType(), DoubleType(), DateType(), TimeType(), TimestamptzType(), StringType(),
    UUIDType(), FixedType(5), FixedType(5), BinaryType(), DecimalType(9, 2), DecimalType(9, 2), DecimalType(38, 10),
)  # fmt: skip
_NEW_TYPES = (TimestampNanoType(), TimestamptzNanoType(), UnknownType())


@cache
def manifest_schema(writer: str, version: int) -> Json:
    """With a partition field of every type."""
    if writer == "java":
        return _JAVA[f"manifest {version}"]
    types = enumerate(_TYPES + (_NEW_TYPES if version > 2 else ()))
    parts = StructType(*(NestedField(1000 + place, f"p{place}", type_, required=False) for place, type_ in types))
    entry = manifest_entry_schema_with_data_file(version, data_file_with_partition(parts, version))
    return AvroSchemaConversion().iceberg_to_avro(entry, "manifest_entry")


@cache
def list_schema(writer: str, version: int) -> Json:
    if writer == "java":
        return _JAVA[f"manifest_list {version}"]
    return AvroSchemaConversion().iceberg_to_avro(MANIFEST_LIST_FILE_SCHEMAS[version], "manifest_file")


def manifest(schema: Json, entries: Sequence[Json], codec: str = "null", per_block: int = 0, blocks: Blocks = in_one) -> bytes:
    """A manifest with so many entries in each block; else with all in one."""
    records = [encode(schema, entry, blocks) for entry in entries]
    size = per_block or len(records) or 1
    properties = {"schema": '{"x":1}', "partition-spec": "[]", "partition-spec-id": "7", "format-version": "2", "content": "data"}
    return container(schema, (records[at : at + size] for at in range(0, len(records), size)), codec, properties)


def entry(path: str | None, status: int = 1, **fields: Any) -> Json:
    """An entry that says little; `fields` are those of its data file, all others are null."""
    file = {"content": 0, "file_format": "PARQUET", "partition": {}, "record_count": 3, "file_size_in_bytes": 100}
    file |= {"block_size_in_bytes": 1, "file_path": path, **fields}
    return {"status": status, "snapshot_id": 1, "sequence_number": 5, "file_sequence_number": None, "data_file": file}


def files_of(schema: Json) -> list[Json]:
    """The fields of data_file."""
    return next(field for field in schema["fields"] if field["name"] == "data_file")["type"]["fields"]
