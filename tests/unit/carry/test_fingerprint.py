"""The fingerprint on single cases; its laws over any table are in tests/properties."""

import subprocess
import sys
import uuid
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from bergung.carry.fields import FIELD_ID, Field, fields_of_arrow, fields_of_iceberg
from bergung.carry.fingerprint import PARTIAL, Fingerprint, fingerprint, partial_fingerprints
from bergung.errors import UsageError

UUID = uuid.UUID("12345678-9abc-def0-1234-56789abcdef0")


def of(values: Any, kind: pa.DataType, said: str) -> Fingerprint:
    """Of one column named x that Iceberg knows by this type."""
    array = values if isinstance(values, pa.Array) else pa.array(values, kind)
    fields = fields_of_iceberg({"fields": [{"id": 1, "name": "x", "type": said}]})
    return fingerprint([pa.record_batch([array], ["x"])], fields)


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())])
def test_how_arrow_holds_text_does_not_matter(kind: pa.DataType) -> None:
    text = ["a", None, "", "a", "ü" * 40]
    assert of(pa.array(text).cast(kind), kind, "string") == of(text, pa.string(), "string")


@pytest.mark.parametrize("kind", [pa.large_binary(), pa.binary_view(), pa.binary(2)])
def test_how_arrow_holds_bytes_does_not_matter(kind: pa.DataType) -> None:
    assert of([b"ab", None], kind, "binary") == of([b"ab", None], pa.binary(), "fixed[2]")


@pytest.mark.parametrize("kind", [pa.large_list(pa.int32()), pa.list_(pa.int32(), 2), pa.list_view(pa.int32())])
def test_how_arrow_holds_lists_does_not_matter(kind: pa.DataType) -> None:
    said: Any = {"type": "list", "element-id": 2, "element": "int"}
    assert of([[1, 2], None], kind, said) == of([[1, 2], None], pa.list_(pa.int32()), said)


def test_promoted_columns_keep_it() -> None:
    assert of([7, None], pa.int32(), "int") == of([7, None], pa.int64(), "long")
    assert of([1.5], pa.float32(), "float") == of([1.5], pa.float64(), "double")
    assert of([Decimal("1.50")], pa.decimal128(9, 2), "decimal(9, 2)") == of(
        [Decimal("1.50")], pa.decimal128(18, 2), "decimal(18,2)"
    )


def test_zero_has_no_sign_and_there_is_one_nan() -> None:
    odd_nan = pa.Array.from_buffers(pa.float64(), 1, [None, pa.py_buffer(bytes.fromhex("010000000000f8ff"))])
    assert of([0.0], pa.float64(), "double") == of([-0.0], pa.float64(), "double")
    assert of(odd_nan, pa.float64(), "double") == of([float("nan")], pa.float64(), "double")
    assert of([float("nan")], pa.float64(), "double") != of([None], pa.float64(), "double")


def test_an_instant_is_the_same_in_every_zone() -> None:
    berlin = of([10], pa.timestamp("us", "Europe/Berlin"), "timestamptz")
    assert berlin == of([10], pa.timestamp("us", "UTC"), "timestamptz")
    assert berlin != of([10], pa.timestamp("us"), "timestamp")
    assert of([10_000], pa.timestamp("ns"), "timestamp") == of([10], pa.timestamp("us"), "timestamp")


def test_a_uuid_may_come_as_text_bytes_or_uuid() -> None:
    expected = of([UUID.bytes, None], pa.uuid(), "uuid")
    assert of([UUID.bytes, None], pa.binary(16), "uuid") == expected
    assert of([str(UUID), None], pa.string(), "uuid") == expected
    assert of([str(UUID).upper(), None], pa.large_string(), "uuid") == expected
    assert of([str(UUID), None], pa.string_view(), "uuid") == expected


@pytest.mark.parametrize(
    ("values", "kind", "said"),
    [
        ([10], pa.timestamp("us"), "timestamptz"),
        ([10], pa.timestamp("us", "UTC"), "timestamp"),
        ([1], pa.timestamp("ns"), "timestamp"),
        (["a"], pa.string(), "long"),
        ([1.5], pa.float64(), "int"),
        ([Decimal("1.55")], pa.decimal128(9, 2), "decimal(9, 1)"),
        (["nonsense"], pa.string(), "uuid"),
        ([b"short"], pa.binary(), "uuid"),
        ([bytes(8), bytes(24)], pa.binary(), "uuid"),
        ([1], pa.int32(), "unknown"),
        ([1], pa.int32(), "something new"),
    ],
)
def test_what_does_not_fit_the_schema_is_refused(values: list[Any], kind: pa.DataType, said: str) -> None:
    with pytest.raises(UsageError, match="x|something new") as refused:
        of(values, kind, said)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("one", "other"),
    [([None], [[]]), ([[None]], [[]]), ([["ab"]], [["a", "b"]]), ([["a"], ["b"]], [["a", "b"], []])],
)
def test_nulls_empties_and_borders_are_told_apart(one: list[Any], other: list[Any]) -> None:
    said: Any = {"type": "list", "element-id": 2, "element": "string"}
    assert of(one, pa.list_(pa.string()), said).digest != of(other, pa.list_(pa.string()), said).digest


def test_a_null_struct_is_not_a_struct_of_nulls() -> None:
    said: Any = {"type": "struct", "fields": [{"id": 2, "name": "a", "type": "int"}]}
    kind = pa.struct([("a", pa.int32())])
    assert of([None], kind, said) != of([{"a": None}], kind, said)


def test_entries_of_a_map_have_no_order() -> None:
    said: Any = {"type": "map", "key-id": 2, "key": "string", "value-id": 3, "value": "int"}
    kind = pa.map_(pa.string(), pa.int32())
    assert of([[("a", 1), ("b", 2)]], kind, said) == of([[("b", 2), ("a", 1)]], kind, said)
    assert of([[("a", 1), ("b", 2)]], kind, said) != of([[("a", 2), ("b", 1)]], kind, said)
    assert of([[("a", 1)], [("b", 2)]], kind, said) != of([[("a", 1), ("b", 2)], []], kind, said)


def test_a_variant_is_compared_by_its_bytes() -> None:
    spark = pa.struct([("value", pa.binary()), ("metadata", pa.binary())])
    other = pa.struct([("metadata", pa.binary()), ("value", pa.binary())])
    value = {"value": b"\x0c\x01", "metadata": b"\x01\x00\x00"}
    assert of([value, None], spark, "variant") == of([value, None], other, "variant")


def test_columns_are_found_by_id_and_else_by_name() -> None:
    fields = (Field(1, "a", "integer"), Field(2, "b", "integer"))
    by_name = pa.record_batch([pa.array([2]), pa.array([1])], ["b", "a"])
    by_id = pa.record_batch([pa.array([2]), pa.array([1])], schema=pa.schema([with_id("a", 2), with_id("b", 1)]))
    assert fingerprint([by_name], fields) == fingerprint([by_id], fields)


def test_the_same_values_in_another_column_are_other_rows() -> None:
    batch = pa.record_batch([pa.array([1])], ["a"])
    assert fingerprint([batch], (Field(1, "a", "integer"),)) != fingerprint([batch], (Field(2, "a", "integer"),))


def test_a_missing_column_is_named() -> None:
    with pytest.raises(UsageError, match="columns are missing: lost"):
        fingerprint([pa.record_batch([pa.array([1])], ["a"])], (Field(1, "lost", "integer"),))


def test_arrow_without_ids_needs_the_fields_of_the_schema() -> None:
    with pytest.raises(UsageError, match="'a' carries no Iceberg field id"):
        fields_of_arrow(pa.schema([("a", pa.int32())]))


def test_iceberg_and_arrow_tell_the_same_fields() -> None:
    nested: Any = {"type": "map", "key-id": 4, "key": "string", "value-id": 5, "value": "double"}
    schema = {"fields": [{"id": 3, "name": "m", "type": nested}, {"id": 1, "name": "n", "type": "int"}]}
    key = with_id("key", 4, pa.string()).with_nullable(False)
    arrow = pa.schema([with_id("m", 3, pa.map_(key, with_id("value", 5, pa.float32()))), with_id("n", 1)])
    assert fields_of_arrow(arrow) == fields_of_iceberg(schema)


def test_a_partition_yields_one_row() -> None:
    batches = [pa.record_batch([pa.array([1, 2])], ["a"]), pa.record_batch([pa.array([3])], ["a"])]
    fields = (Field(1, "a", "integer"),)
    (made,) = partial_fingerprints(iter(batches), fields)
    assert made.schema == PARTIAL
    assert [Fingerprint(**row) for row in made.to_pylist()] == [fingerprint(batches, fields)]


def test_no_rows_have_a_fingerprint_too() -> None:
    assert str(fingerprint([], (Field(1, "a", "integer"),))) == f"0 rows rows1:{0:032x}"


def test_pandas_is_not_imported() -> None:
    code = (
        "import sys, io, pyarrow as pa\n"
        "from bergung.carry.fields import Field\n"
        "from bergung.carry.fingerprint import partial_fingerprints\n"
        "file = pa.ipc.open_stream(sys.stdin.buffer)\n"
        "fields = (Field(1, 'a', 'integer'), Field(2, 'b', 'list', (Field(3, 'element', 'string'),)))\n"
        "rows = list(partial_fingerprints(file, fields))\n"
        "sys.exit('pandas' in sys.modules or len(rows) != 1)\n"
    )
    sink = pa.BufferOutputStream()
    batch = pa.record_batch([pa.array([1, None]), pa.array([["x", None], None])], ["a", "b"])
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    subprocess.run([sys.executable, "-c", code], input=sink.getvalue().to_pybytes(), check=True)


def with_id(name: str, number: int, kind: pa.DataType | None = None) -> pa.Field:
    return pa.field(name, kind or pa.int64(), metadata={FIELD_ID: str(number)})
