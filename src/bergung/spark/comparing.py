"""Two sets of rows compared on executors: sums first, then the digests of rows where these differ, then some of the rows."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from bergung.carry.fields import Field
from bergung.carry.row_search import DIGESTS, FOUND, LEADING, Wanted, digests_in, in_order, leading, rows_of
from bergung.carry.row_sums import SUMS, BucketSums, added_up, bucket_sums
from bergung.carry.totals import Numbers
from bergung.iceberg.columns import rows_of as table_rows
from bergung.spark.failures import AGAIN, LOGS, translated

Side = tuple[DataFrame, tuple[Field, ...]]
Digest = tuple[int, int]

CONFS = {"spark.sql.caseSensitive": "true", "spark.sql.execution.arrow.maxRecordsPerBatch": "65536"}
"""Names as they are; a sixth less time than with Spark's own 10,000 rows, and no batch grows beyond 64 MB all the same."""
AT_MOST = 200
"""So many differing rows are looked for, of which the first are shown."""


_LOGS = "what Spark said stands in the newest file below $BERGUNG_CACHE/logs"


@dataclass(frozen=True)
class Surplus:
    """How many rows only one side has, and some of them: how often the first side has it more, by digest."""

    only_a: int
    only_b: int
    some: dict[Digest, int]


def side(frame: DataFrame, fields: tuple[Field, ...]) -> Side:
    """With names that need no quotes: PySpark takes a dot in one for a member."""
    places = {name: place for place, name in enumerate(frame.columns)}
    named = tuple(replace(field, name=f"c{places[field.name]}") for field in fields)
    return frame.toDF(*(f"c{place}" for place in range(len(frame.columns)))), named


def sums(a: Side, b: Side) -> tuple[BucketSums, BucketSums]:
    """One job over all rows of both."""
    parts = [_mapped(frame, partial(bucket_sums, fields=fields, side=side), SUMS) for side, (frame, fields) in enumerate((a, b))]
    keys, counts = SUMS.names[:2], SUMS.names[2:]
    summed = _together(parts).groupBy(*keys).agg(*(F.sum(name).alias(name) for name in counts))
    rows = [tuple(row[name] for name in SUMS.names) for row in _done(summed)]
    return added_up(rows, 0), added_up(rows, 1)


def surplus(a: Side, b: Side, buckets: Numbers, first: int) -> Surplus:
    """One job over all rows of both; only digests of those in the buckets are shuffled. `first` is the leading column's id."""
    parts = []
    for sign, (frame, fields) in ((1, a), (-1, b)):
        place = [field.id for field in fields].index(first)
        parts.append(_mapped(frame, partial(digests_in, wanted=Wanted(fields, place, sign), buckets=buckets), DIGESTS))
    counted = _together(parts).groupBy("high", "low").agg(F.min("rank").alias("rank"), F.sum("surplus").alias("surplus"))
    counted = counted.select(*DIGESTS.names).where("surplus <> 0")
    rows = _done(_mapped(counted, partial(leading, most=AT_MOST), LEADING))
    found = np.array([[row[name] for name in DIGESTS.names] for row in rows], np.int64).reshape(-1, len(DIGESTS))
    some = {(int(row[0]), int(row[1])): int(row[3]) for row in in_order(found)[:AT_MOST]}
    return Surplus(sum(row["only_a"] for row in rows), sum(row["only_b"] for row in rows), some)


def rows_by_digest(sides: Sequence[Side], digests: Sequence[Digest]) -> dict[Digest, list[Any]]:
    """One job over all rows: the cells of these rows, in the order of the fields."""
    wanted = np.array(digests, np.int64)
    parts = [_mapped(frame, partial(rows_of, fields=fields, digests=wanted), FOUND) for frame, fields in sides]
    return {(row["high"], row["low"]): json.loads(row["cells"]) for row in _done(_together(parts))}


@contextmanager
def in_our_words() -> Iterator[None]:
    """Spark's failures as ours."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        found = translated(error)
        hint = found.hint.replace(AGAIN, "run the same command again").replace(LOGS, _LOGS)
        raise type(found)(found.message, hint) from error


def _mapped(frame: DataFrame, function: Callable[..., Any], schema: pa.Schema) -> DataFrame:
    return frame.mapInArrow(function, from_arrow_schema(schema))


def _together(parts: Sequence[DataFrame]) -> DataFrame:
    return reduce(lambda one, other: one.unionAll(other), parts)


def _done(frame: DataFrame) -> list[dict[str, Any]]:
    return table_rows(frame.toArrow())
