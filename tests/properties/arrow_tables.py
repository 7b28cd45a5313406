"""Arrow tables of any types with Iceberg's field ids, their rows in plain Python beside them.

Dates, times and timestamps stand as numbers in the plain rows, maps as lists of pairs.
"""

from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import count
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from bergung.carry.fields import FIELD_ID

LONG = st.integers(-(2**63), 2**63 - 1)
MICROSECONDS = st.integers(-(2**55), 2**55)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)

LEAVES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.bool_(), st.booleans()),
    (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    (pa.int64(), LONG),
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), st.floats()),
    (pa.decimal128(12, 3), st.decimals(-999999999, 999999999, places=3)),
    (pa.decimal128(38, 0), st.integers(-(10**37), 10**37).map(Decimal)),
    (pa.date32(), st.integers(-(2**30), 2**30)),
    (pa.time64("us"), st.integers(0, 86_399_999_999)),
    (pa.timestamp("us"), MICROSECONDS),
    (pa.timestamp("us", "UTC"), MICROSECONDS),
    (pa.timestamp("ns"), LONG),
    (pa.timestamp("ns", "Europe/Berlin"), LONG),
    (pa.string(), TEXT),
    (pa.binary(), st.binary(max_size=5)),
    (pa.binary(4), st.binary(min_size=4, max_size=4)),
    (pa.null(), st.none()),
]


@dataclass(frozen=True)
class Column:
    """A type with ids in all its members, and what its values can be."""

    type: pa.DataType
    values: st.SearchStrategy[Any]


@dataclass(frozen=True)
class Sample:
    """The same rows twice."""

    table: pa.Table
    rows: list[dict[str, Any]]

    def with_rows(self, rows: list[dict[str, Any]]) -> "Sample":
        return replace(self, table=arrow(rows, self.table.schema), rows=rows)


def samples(min_rows: int = 0) -> st.SearchStrategy[Sample]:
    return _samples(min_rows)


@st.composite
def _samples(draw: st.DrawFn, min_rows: int) -> Sample:
    ids = count(1)
    columns = draw(st.lists(st.deferred(lambda: column(ids)), min_size=1, max_size=4))
    numbers = draw(st.permutations(range(100, 100 + len(columns))))
    schema = pa.schema([member(f"c{place}", each.type, numbers[place]) for place, each in enumerate(columns)])
    row = st.fixed_dictionaries({f"c{place}": st.none() | each.values for place, each in enumerate(columns)})
    rows = draw(st.lists(row, min_size=min_rows, max_size=8))
    return Sample(arrow(rows, schema), rows)


def column(ids: "count[int]") -> st.SearchStrategy[Column]:
    leaf = st.sampled_from(LEAVES).map(lambda pair: Column(*pair))
    return st.recursive(leaf, lambda inner: lists(ids, inner) | structs(ids, inner) | maps(ids, inner), max_leaves=4)


def lists(ids: "count[int]", inner: st.SearchStrategy[Column]) -> st.SearchStrategy[Column]:
    return inner.map(
        lambda each: Column(pa.list_(member("element", each.type, next(ids))), st.lists(st.none() | each.values, max_size=4))
    )


def structs(ids: "count[int]", inner: st.SearchStrategy[Column]) -> st.SearchStrategy[Column]:
    def made(each: list[Column]) -> Column:
        fields = [member(f"s{place}", one.type, next(ids)) for place, one in enumerate(each)]
        values = {f"s{place}": st.none() | one.values for place, one in enumerate(each)}
        return Column(pa.struct(fields), st.fixed_dictionaries(values))

    return st.lists(inner, min_size=1, max_size=3).map(made)


def maps(ids: "count[int]", inner: st.SearchStrategy[Column]) -> st.SearchStrategy[Column]:
    def made(each: Column) -> Column:
        key = pa.field("key", pa.string(), nullable=False, metadata={FIELD_ID: str(next(ids))})
        entry = st.tuples(TEXT, st.none() | each.values)
        return Column(
            pa.map_(key, member("value", each.type, next(ids))),
            st.lists(entry, max_size=4, unique_by=lambda pair: pair[0]),
        )

    return inner.map(made)


def member(name: str, kind: pa.DataType, number: int) -> pa.Field:
    return pa.field(name, kind, metadata={FIELD_ID: str(number)})


def arrow(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_arrays([pa.array([row[each.name] for row in rows], each.type) for each in schema], schema=schema)
