"""A comparison, from two tables to what differs."""

from dataclasses import dataclass

from bergung.carry.effects import Effects
from bergung.compare.definitions import Difference, definition_differences, schema_differences
from bergung.compare.request import CompareRequest
from bergung.compare.rows import Columns, Reading, Rows, compare_rows, compared_columns
from bergung.compare.sides import Side
from bergung.compare.states import State, States, choose_states
from bergung.errors import Interrupted, UsageError
from bergung.spark.comparing import in_our_words
from bergung.spark.engine import SparkEngine
from bergung.spark.tables import OpenTable


@dataclass(frozen=True)
class Compared:
    """Two states: what differs in how they are made, and in what they hold."""

    a: State
    b: State
    schema: tuple[Difference, ...]
    left_out: tuple[str, ...]
    """Columns that only one of them has, or has with another type: no row is compared by these."""
    rows: Rows | None
    """None where no column is left to compare rows by."""


@dataclass(frozen=True)
class CompareResult:
    """All that was compared."""

    a: Side
    b: Side
    definition: tuple[Difference, ...]
    """Of the tables themselves: partitioning and sort order."""
    states: States
    compared: tuple[Compared, ...]


def run_compare(effects: Effects, request: CompareRequest, a: Side, b: Side) -> CompareResult:
    """Look at the metadata, then read the rows of each pair of states."""
    states = choose_states(request, a, b)
    columns = [compared_columns(request, (a, one), (b, other)) for one, other in states.pairs]
    definition = definition_differences(
        (a.definition, a.metadata.schema), (b.definition, b.metadata.schema), by_name=request.by_name
    )
    engine = effects.engine()
    if not isinstance(engine, SparkEngine):
        raise UsageError("rows are compared on Spark only", "no other engine that is here reads every Iceberg table exactly")
    compared = []
    with in_our_words():
        tables = OpenTable(engine.session, a.table), OpenTable(engine.session, b.table)
        for number, (pair, each) in enumerate(zip(states.pairs, columns, strict=True), 1):
            if effects.watch.stopped():
                raise Interrupted("stopped by the user", "the same command begins anew")
            effects.watch.step(f"compare {number} of {len(states.pairs)}")
            compared.append(_compared(request, tables, pair, each))
    return CompareResult(a, b, tuple(definition), states, tuple(compared))


def _compared(
    request: CompareRequest, tables: tuple[OpenTable, OpenTable], states: tuple[State, State], columns: Columns
) -> Compared:
    schema = schema_differences(states[0].schema, states[1].schema, by_name=request.by_name)
    ours = Reading(tables[0], states[0], columns.a, request.lineage)
    theirs = Reading(tables[1], states[1], columns.b, request.lineage)
    rows = compare_rows(ours, theirs) if columns.a else None
    return Compared(*states, tuple(schema), columns.left_out, rows)
