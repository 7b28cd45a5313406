"""The engine in this process keeps the law of engines; tests/spark/test_engine.py holds Spark to the same."""

from collections.abc import Callable
from threading import Barrier

import pyarrow as pa
import pytest

from bergung.carry.engine import Batches, Engine, Map, ProcessEngine, Spread
from bergung.errors import Refused
from bergung.iceberg.columns import rows_of
from tests.engine_law import LAWS, PARTS, ROWS, mark_part, some_rows


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("parallelism", [1, 3])
def test_the_law(law: Callable[[Engine], None], parallelism: int) -> None:
    law(ProcessEngine(parallelism))


def test_parts_run_side_by_side() -> None:
    """Four parts wait for each other: one after the other they would wait for ever."""
    together = Barrier(4, timeout=20)

    def meet(batches: Batches) -> Batches:
        together.wait()
        yield from batches

    out = ProcessEngine(4).run(some_rows(), [Spread("worker", 4), Map(meet, ROWS)])
    assert out.num_rows == 23


def test_an_error_of_a_part_is_the_error_of_the_run() -> None:
    def refuse(batches: Batches) -> Batches:
        for batch in batches:
            if 3 in batch.column("worker").to_pylist():
                raise Refused("not this one")
            yield batch

    with pytest.raises(Refused, match="not this one"):
        ProcessEngine(2).run(some_rows(), [Spread("worker", 4), Map(refuse, ROWS)])


def test_the_order_of_rows_is_kept_within_a_part() -> None:
    out = rows_of(ProcessEngine(2).run(some_rows(), [Spread("worker", 4), Map(mark_part, PARTS)]))
    wanted = sorted(rows_of(some_rows()), key=lambda row: row["worker"])
    assert [{name: row[name] for name in ROWS.names} for row in out] == wanted


def test_a_function_that_yields_another_shape_than_it_said_fails() -> None:
    with pytest.raises((pa.ArrowException, ValueError)):
        ProcessEngine(1).run(some_rows(), [Map(mark_part, ROWS)])
