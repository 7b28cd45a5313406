"""Do two tables hold the same, and if not, what is different."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bergung.carry.fields import Field
from bergung.cli import words
from bergung.cli.door import Door
from bergung.cli.tables import named_table
from bergung.cli.telling import Grid, Part, Result
from bergung.cli.work import at_reading
from bergung.clock import SystemClock, from_ms, to_ms, to_text
from bergung.compare.definitions import Difference
from bergung.compare.request import CompareRequest
from bergung.compare.rows import OnlyIn, Rows
from bergung.compare.run import Compared, CompareResult, run_compare
from bergung.compare.sides import Side, find_side
from bergung.errors import Different, UsageError
from bergung.model.moments import read_moment
from bergung.spark.comparing import CONFS
from bergung.stores.open import is_far

SHOWN_COLUMNS = 8
WIDEST = 40


def compare(door: Door, a: str, b: str, given: Mapping[str, Any]) -> Result:
    """Both pointers are read once; what is committed later is not seen."""
    request = _request(given)
    ours, theirs = (find_side(word, named_table(door.stores, word), door.stores) for word in (a, b))
    s3 = any(is_far(side.table.metadata_location) for side in (ours, theirs))
    with at_reading(door, CONFS, s3=s3) as effects:
        result = run_compare(effects, request, ours, theirs)
    reasons = list(_reasons(result, request))
    errors = (Different(f"{a} and {b} differ: {'; '.join(reasons)}", _hint(result, request)),) if reasons else ()
    return Result("different" if errors else "complete", _facts(result, request), list(_parts(result, request)), errors)


def _request(given: Mapping[str, Any]) -> CompareRequest:
    chosen = [name for name in ("at", "snapshot", "snapshots") if given[name]]
    chosen += ["snapshot-a and --snapshot-b"] if given["snapshot_a"] or given["snapshot_b"] else []
    if len(chosen) > 1:
        raise UsageError(f"--{' and --'.join(chosen)} both say which state is compared", "give one of them")
    return CompareRequest(
        snapshot_a=given["snapshot_a"] or given["snapshot"],
        snapshot_b=given["snapshot_b"] or given["snapshot"],
        at_ms=to_ms(read_moment(given["at"], SystemClock().now()).at) if given["at"] else None,
        every_snapshot=given["snapshots"] is not None,
        by_name=given["by_name"],
        lineage=given["lineage"],
        rows_only=given["rows_only"],
    )


def _reasons(result: CompareResult, request: CompareRequest) -> Iterator[str]:
    different = [each for each in result.compared if each.rows is not None and not each.rows.are_equal]
    if len(result.compared) == 1 and different and different[0].rows:
        yield _told_rows(different[0].rows)
    elif different:
        yield f"rows of {len(different)} of {len(result.compared)} snapshots"
    if any(each.rows is None for each in result.compared):
        yield "they have no column in common to compare rows by"
    if not request.rows_only:
        yield from sorted({f"the {each.what}" for each in _all_differences(result)})


def _told_rows(rows: Rows) -> str:
    return f"{words.many(rows.only_a, 'row')} only in the first, {words.number(rows.only_b)} only in the second"


def _all_differences(result: CompareResult) -> Iterator[Difference]:
    yield from result.definition
    for each in result.compared:
        yield from each.schema


def _hint(result: CompareResult, request: CompareRequest) -> str:
    pairs = [(each.a, each.b) for each in _all_differences(result) if each.what == "column" and each.a and each.b]
    if any(a.partition(" ")[2] == b.partition(" ")[2] for a, b in pairs) and not request.by_name:
        return "columns of one name have two field ids, as in a table that was made anew: match them by name with --by-name"
    equal = all(each.rows is not None and each.rows.are_equal for each in result.compared)
    return "the rows are the same; to let the rest pass: --rows-only" if equal else ""


def _facts(result: CompareResult, request: CompareRequest) -> dict[str, Any]:
    return {
        "at": None if request.at_ms is None else to_text(from_ms(request.at_ms)),
        "a": _side_facts(result.a),
        "b": _side_facts(result.b),
        "definition": _difference_facts(result.definition),
        "compared": [_compared_facts(each) for each in result.compared],
        "only_in_a": list(result.states.only_a),
        "only_in_b": list(result.states.only_b),
    }


def _side_facts(side: Side) -> dict[str, Any]:
    return {"table": side.word, "metadata_location": side.table.metadata_location}


def _difference_facts(differences: Sequence[Difference]) -> list[dict[str, Any]]:
    return [{"what": each.what, "a": each.a, "b": each.b} for each in differences]


def _compared_facts(each: Compared) -> dict[str, Any]:
    rows = each.rows
    return {
        "snapshot_a": each.a.snapshot_id,
        "snapshot_b": each.b.snapshot_id,
        "schema": _difference_facts(each.schema),
        "left_out": list(each.left_out),
        "columns": [column.name for column in rows.columns] if rows else [],
        "equal": rows is not None and rows.are_equal,
        "rows_a": rows.a.row_count if rows else None,
        "rows_b": rows.b.row_count if rows else None,
        "fingerprint_a": rows.a.digest if rows else None,
        "fingerprint_b": rows.b.digest if rows else None,
        "only_a": rows.only_a if rows else None,
        "only_b": rows.only_b if rows else None,
        "sample": [{"only_in": row.side, "times": row.times, "values": dict(row.values)} for row in rows.sample] if rows else [],
    }


def _parts(result: CompareResult, request: CompareRequest) -> Iterator[Part]:
    sides = (("A", result.a), ("B", result.b))
    yield Grid(("", "", ""), [(name, side.word, side.table.metadata_location) for name, side in sides])
    if request.at_ms is not None:
        yield f"as they were at {to_text(from_ms(request.at_ms))}"
    differences = list(dict.fromkeys(_all_differences(result)))
    if differences:
        yield ""
        yield Grid(("different", "in A", "in B"), [_difference_row(each) for each in differences])
    yield ""
    head = ("snapshot of A", "of B", "rows of A", "of B", "", "only in A", "only in B")
    yield Grid(head, [_row(each) for each in result.compared], frozenset({0, 1, 2, 3, 5, 6}))
    for name, only in (("A", result.states.only_a), ("B", result.states.only_b)):
        if only:
            yield f"only {name} has {words.many(len(only), 'more snapshot')}"
    yield from _left_out(result)
    shown = next((each for each in result.compared if each.rows and each.rows.sample), None)
    if shown and shown.rows:
        yield from _sample_parts(shown.rows)


def _difference_row(each: Difference) -> tuple[str, ...]:
    return each.what, each.a or "-", each.b or "-"


def _row(each: Compared) -> tuple[str, ...]:
    rows = each.rows
    snapshots = ("-" if state.snapshot_id is None else str(state.snapshot_id) for state in (each.a, each.b))
    if rows is None:
        return (*snapshots, "-", "-", "not compared", "-", "-")
    state = "equal" if rows.are_equal else "different"
    counts = (rows.a.row_count, rows.b.row_count)
    return (*snapshots, *map(words.number, counts), state, words.number(rows.only_a), words.number(rows.only_b))


def _left_out(result: CompareResult) -> Iterator[str]:
    names = list(dict.fromkeys(name for each in result.compared for name in each.left_out))
    if names:
        yield f"rows are compared without columns that only one has, or has otherwise: {_cut(', '.join(names), 200)}"


def _sample_parts(rows: Rows) -> Iterator[Part]:
    columns = _worth_showing(rows)
    yield ""
    more = rows.only_a + rows.only_b - sum(row.times for row in rows.sample)
    yield f"rows that only one has{f', {words.number(more)} more are not shown' if more else ''}:"
    head = ("in", "times", *(column.name for column in columns))
    yield Grid(head, [_sample_row(row, columns) for row in rows.sample], frozenset({1}))
    if len(columns) < len(rows.columns):
        yield f"{len(rows.columns) - len(columns)} more columns are in --json"


def _sample_row(row: OnlyIn, columns: Sequence[Field]) -> tuple[str, ...]:
    return (row.side.upper(), words.number(row.times), *(_cell(row.values[each.name], each) for each in columns))


def _worth_showing(rows: Rows) -> list[Field]:
    """The first, by which rows of both sides are told to be the same, then those that differ, then others."""
    places = range(len(rows.columns))
    chosen = sorted(places, key=lambda place: (place > 0, not _differs(rows, rows.columns[place].name), place))
    return [rows.columns[place] for place in sorted(chosen[:SHOWN_COLUMNS])]


def _differs(rows: Rows, name: str) -> bool:
    values: dict[str, Counter[str]] = {"a": Counter(), "b": Counter()}
    for row in rows.sample:
        values[row.side][json.dumps(row.values[name])] += row.times
    return values["a"] != values["b"]


def _cell(value: Any, column: Field) -> str:
    if value is None:
        return "NULL"
    plain = isinstance(value, str) and column.kind != "string"
    return _cut(value if plain else json.dumps(value, ensure_ascii=False), WIDEST)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
