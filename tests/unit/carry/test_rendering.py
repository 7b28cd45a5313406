"""Values as they are shown."""

from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from bergung.carry.fields import Field
from bergung.carry.rendering import LONGEST, rendered

STRUCT = pa.struct([("x", pa.int64()), ("y", pa.list_(pa.string()))])
PLACE = Field(1, "at", "struct", (Field(2, "x", "integer"), Field(3, "y", "list", (Field(4, "element", "string"),))))


@pytest.mark.parametrize(("kind", "column", "shown"), [
    ("boolean", pa.array([True, None]), [True, None]),
    ("integer", pa.array([2**62, None, -1]), [2**62, None, -1]),
    ("float", pa.array([0.1, None, float("nan"), float("-inf"), -0.0]), [0.1, None, "nan", "-inf", -0.0]),
    ("float", pa.array([0.1, float("inf")], pa.float32()), [0.1, "inf"]),
    ("decimal:2", pa.array([Decimal("1.50"), None]), ["1.50", None]),
    ("date", pa.array([date(1969, 12, 31), None]), ["1969-12-31", None]),
    ("date", pa.array([2**31 - 1], pa.int32()).cast(pa.date32()), ["5881580-07-11"]),
    ("timestamp", pa.array([1 - 62_135_596_800_000_000], pa.timestamp("us")), ["0001-01-01T00:00:00.000001"]),
    ("timestamptz", pa.array([1], pa.timestamp("us", "Europe/Berlin")), ["1970-01-01T00:00:00.000001Z"]),
    ("timestamp_ns", pa.array([-1], pa.timestamp("ns")), ["1969-12-31T23:59:59.999999999"]),
    ("string", pa.array(["a\nb", ""]), ["a\nb", ""]),
    ("string", pa.array(["x" * (LONGEST + 1)]), ["x" * LONGEST + f"… ({LONGEST + 1} letters)"]),
    ("string", pa.array(["one"]).dictionary_encode(), ["one"]),
    ("binary", pa.array([b"\x00\xff", b"", None]), ["0x00ff", "0x", None]),
    ("binary", pa.array([{"srid": 4326, "wkb": b"\x01"}]), ["0x01"]),
    ("uuid", pa.array(["12345678-1234-1234-1234-123456789abc"]), ["12345678-1234-1234-1234-123456789abc"]),
    ("unknown", pa.nulls(1), [None]),
], ids=str)  # fmt: skip
def test_a_value_is_shown_so_that_it_can_be_told_from_others(kind: str, column: pa.Array, shown: list[Any]) -> None:
    assert rendered(column, Field(1, "column", kind)) == shown


def test_nested_values() -> None:
    rows = [None, {"x": 1, "y": ["a", None]}, {"x": None, "y": None}, {"x": 3, "y": []}]
    column = pa.array(rows, STRUCT)
    assert rendered(column, PLACE) == rows
    assert rendered(column.slice(1, 2), PLACE) == rows[1:3]


def test_a_map_is_shown_as_pairs_in_an_order_of_their_own() -> None:
    field = Field(1, "map", "map", (Field(2, "key", "integer"), Field(3, "value", "string")))
    column = pa.array([None, [(2, "b"), (1, None)], []], pa.map_(pa.int64(), pa.string()))
    assert rendered(column, field) == [None, [[1, None], [2, "b"]], []]
