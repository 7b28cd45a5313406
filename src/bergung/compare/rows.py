"""Rows of two states compared as multisets: sums of digests, and where these differ some of the rows themselves."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from bergung.carry.common import in_common, left_out
from bergung.carry.fields import Field, fields_of_iceberg
from bergung.carry.fingerprint import Fingerprint
from bergung.compare.request import CompareRequest
from bergung.compare.sides import Side
from bergung.compare.states import State
from bergung.errors import UnsupportedTable, UsageError
from bergung.spark import comparing
from bergung.spark.comparing import Digest
from bergung.spark.tables import LINEAGE, OpenTable

SHOWN = 20
_LINEAGE_FIELDS = tuple(Field(number, name, "integer") for number, name in zip((2147483539, 2147483540), LINEAGE, strict=True))
_NOT_READ = ("time", "timestamp_ns", "timestamptz_ns")
"""Kinds that Spark 4.1 has no type for."""

Fields = tuple[Field, ...]


@dataclass(frozen=True)
class OnlyIn:
    """A row that one side has more often than the other."""

    side: str
    times: int
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Rows:
    """What came of it."""

    a: Fingerprint
    b: Fingerprint
    columns: tuple[Field, ...]
    """That were compared, as the first side calls them, in the order of its schema."""
    only_a: int = 0
    only_b: int = 0
    sample: tuple[OnlyIn, ...] = ()

    @property
    def are_equal(self) -> bool:
        """The same rows, each as often."""
        return self.a == self.b and not self.only_a and not self.only_b


@dataclass(frozen=True)
class Columns:
    """Those of each side by which rows are compared, and the names of those that are not."""

    a: Fields
    b: Fields
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class Reading:
    """One side: its open table, the state that is read, and the columns that are compared."""

    table: OpenTable
    state: State
    fields: Fields
    lineage: bool

    def read(self) -> comparing.Side:
        """Rows, not read yet."""
        snapshot_id = None if self.state.is_now else self.state.snapshot_id
        return comparing.side(self.table.frame(snapshot_id, lineage=self.lineage), self.fields)


def compared_columns(request: CompareRequest, a: tuple[Side, State], b: tuple[Side, State]) -> Columns:
    """UnsupportedTable when Spark cannot read one of them; UsageError when it has no lineage and that is asked for."""
    ours, theirs = (_readable(side, state) for side, state in (a, b))
    common = in_common(ours, theirs, by_name=request.by_name)
    out = tuple(dict.fromkeys((*left_out(ours, common[0]), *left_out(theirs, common[1]))))
    if not request.lineage:
        return Columns(*common, out)
    for side, _ in (a, b):
        if side.metadata.format_version < 3:
            fact = f"{side.word} has format version {side.metadata.format_version}: its rows have no lineage"
            raise UsageError(fact, "leave out --lineage")
    return Columns((*common[0], *_LINEAGE_FIELDS), (*common[1], *_LINEAGE_FIELDS), out)


def compare_rows(a: Reading, b: Reading) -> Rows:
    """Read once when they are equal, else three times."""
    sides = a.read(), b.read()
    ours, theirs = comparing.sums(*sides)
    columns = tuple(_in_order(a.state.schema, a.fields))
    prints = ours.fingerprint(), theirs.fingerprint()
    buckets = ours.differing(theirs)
    if not buckets.any():
        return Rows(*prints, columns)
    found = comparing.surplus(*sides, buckets, columns[0].id)
    cells = comparing.rows_by_digest(sides, list(found.some))
    sample = _sample(found.some, cells, a.fields, columns)
    return Rows(*prints, columns, found.only_a, found.only_b, tuple(sample[:SHOWN]))


def _readable(side: Side, state: State) -> Fields:
    found = fields_of_iceberg(state.schema)
    unread = ", ".join(f"{name} ({kind})" for name, kind in _kinds(found) if kind in _NOT_READ)
    if unread:
        raise UnsupportedTable(f"{side.word} has columns that Spark cannot read: {unread}", "compare it by another engine")
    return found


def _kinds(fields: Fields, above: str = "") -> list[tuple[str, str]]:
    found = []
    for field in fields:
        found += [(f"{above}{field.name}", field.kind), *_kinds(field.children, f"{above}{field.name}.")]
    return found


def _in_order(schema: Mapping[str, Any], fields: Fields) -> list[Field]:
    """As the schema has them, what is no column of it at the end."""
    places = {field["name"]: place for place, field in enumerate(schema["fields"])}
    return sorted(fields, key=lambda field: places.get(field.name, len(places)))


def _sample(
    some: Mapping[Digest, int], cells: Mapping[Digest, Sequence[Any]], fields: Fields, columns: Sequence[Field]
) -> list[OnlyIn]:
    rows = [(times, dict(zip([field.name for field in fields], cells[digest], strict=True))) for digest, times in some.items()]
    rows.sort(key=lambda row: ([_key(row[1][column.name], column) for column in columns], -row[0]))
    in_order = [(times, {column.name: values[column.name] for column in columns}) for times, values in rows]
    return [OnlyIn("a" if times > 0 else "b", abs(times), values) for times, values in in_order]


def _key(value: Any, field: Field) -> tuple[int, Any]:
    """Nulls first, numbers by their value, what is not finite last."""
    if value is None:
        return 0, 0
    if field.kind.startswith("decimal"):
        return 1, Decimal(value)
    if field.kind == "float" and isinstance(value, str):
        return 2, value
    if isinstance(value, bool | int | float | str):
        return 1, value
    return 1, json.dumps(value)
