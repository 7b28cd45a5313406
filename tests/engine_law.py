"""What an engine's steps mean, whichever engine runs them: each law is a function that a suite calls with its engine."""

from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from bergung.carry.engine import Batches, Engine, Map, Shuffle, Spread
from bergung.iceberg.columns import batch_of, rows_of, table_of

ROWS = pa.schema([("table", pa.int32()), ("path", pa.string()), ("worker", pa.int32())])
PARTS = pa.schema([*ROWS, ("part", pa.string()), ("rows", pa.int64())])
TWICE = pa.schema([("text", pa.string())])


def some_rows(count: int = 23) -> pa.Table:
    """Paths that come twice, also under different tables; a null among them."""
    rows = [{"table": n % 3, "path": f"p{n % 7}" if n % 5 else None, "worker": n % 4} for n in range(count)]
    return table_of(ROWS, rows)


def mark_part(batches: Batches) -> Batches:
    """Each row with what says which call saw it: the rows of its whole part, in some order."""
    rows = [row for batch in batches for row in rows_of(batch)]
    mark = repr(sorted((row["table"], row["path"] or "", row["worker"]) for row in rows))
    yield batch_of(PARTS, [{**row, "part": mark, "rows": len(rows)} for row in rows])


def twice(prefix: str, batches: Batches) -> Batches:
    """More rows out than in, of another shape; a batch for each."""
    for batch in batches:
        for row in rows_of(batch):
            for _ in range(2):
                yield batch_of(TWICE, [{"text": f"{prefix}{row['path']}"}])


def nothing(batches: Batches) -> Batches:
    for _ in batches:
        yield from ()


def a_map_sees_every_row_and_may_change_their_number_and_shape(engine: Engine) -> None:
    out = engine.run(some_rows(), [Map(partial(twice, "x "), TWICE)])
    wanted = [f"x {row['path']}" for row in rows_of(some_rows()) for _ in range(2)]
    assert sorted(_texts(out)) == sorted(wanted)
    assert out.schema.names == TWICE.names


def _texts(out: pa.Table) -> Iterator[str]:
    return (row["text"] for row in rows_of(out))


def a_map_may_yield_nothing(engine: Engine) -> None:
    out = engine.run(some_rows(), [Shuffle(("path",), 3), Map(nothing, TWICE)])
    assert (out.num_rows, out.schema.names) == (0, TWICE.names)


def no_rows_are_no_rows(engine: Engine) -> None:
    out = engine.run(some_rows(0), [Spread("worker", 2), Map(partial(twice, ""), TWICE)])
    assert (out.num_rows, out.schema.names) == (0, TWICE.names)


def a_shuffle_brings_rows_that_agree_into_one_part(engine: Engine) -> None:
    out = rows_of(engine.run(some_rows(), [Shuffle(("table", "path"), 4), Map(mark_part, PARTS)]))
    assert len(out) == 23
    parts: dict[tuple[object, object], set[str]] = {}
    for row in out:
        parts.setdefault((row["table"], row["path"]), set()).add(row["part"])
    assert all(len(found) == 1 for found in parts.values())
    assert 1 < len({row["part"] for row in out}) <= 4


def a_shuffle_after_a_map_brings_together_what_came_apart(engine: Engine) -> None:
    steps = [
        Shuffle(("table", "path"), 4),
        Map(mark_part, PARTS),
        Shuffle(("path",), 3),
        Map(_only_rows, ROWS),
        Map(mark_part, PARTS),
    ]
    parts: dict[object, set[str]] = {}
    for row in rows_of(engine.run(some_rows(), steps)):
        parts.setdefault(row["path"], set()).add(row["part"])
    assert all(len(found) == 1 for found in parts.values())


def _only_rows(batches: Batches) -> Batches:
    for batch in batches:
        yield batch.select(ROWS.names)


def a_spread_puts_each_row_where_its_column_says(engine: Engine) -> None:
    out = rows_of(engine.run(some_rows(), [Spread("worker", 4), Map(mark_part, PARTS)]))
    of_worker = {worker: {row["part"] for row in out if row["worker"] == worker} for worker in range(4)}
    assert all(len(parts) == 1 for parts in of_worker.values())
    assert len(set.union(*of_worker.values())) == 4, "one part for each number"


def values_come_out_as_they_went_in(engine: Engine) -> None:
    """Nulls, empty texts, what is not ASCII, the ends of the numbers."""
    rows = [{"table": 2**31 - 1, "path": "", "worker": 0}, {"table": -(2**31), "path": "ü\0\n\U0001f6df", "worker": None}]
    out = engine.run(table_of(ROWS, rows), [Map(_only_rows, ROWS)])
    assert sorted(rows_of(out), key=repr) == sorted(rows, key=repr)


LAWS = [
    a_map_sees_every_row_and_may_change_their_number_and_shape,
    a_map_may_yield_nothing,
    no_rows_are_no_rows,
    a_shuffle_brings_rows_that_agree_into_one_part,
    a_shuffle_after_a_map_brings_together_what_came_apart,
    a_spread_puts_each_row_where_its_column_says,
    values_come_out_as_they_went_in,
]
