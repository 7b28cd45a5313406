"""The rows that only one side has: first their digests, in the buckets that differ; then the rows of some of them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from bergung.carry.canonical import cells_of, rows_as_bytes
from bergung.carry.fields import Field
from bergung.carry.fingerprint import digested
from bergung.carry.rendering import rendered
from bergung.carry.row_sums import buckets_of, numbers
from bergung.carry.totals import Numbers, row_digests
from bergung.iceberg.columns import batch_of

DIGESTS = pa.schema([(name, pa.int64()) for name in ("high", "low", "rank", "surplus")])
"""A row's digest in two halves; where it stands among those that are shown; +1 on the first side, -1 on the other."""
LEADING = pa.schema([*DIGESTS, *((name, pa.int64()) for name in ("only_a", "only_b"))])
"""Differing rows with the lowest ranks, and in the first of them the counts of all rows of the partition."""
FOUND = pa.schema([("high", pa.int64()), ("low", pa.int64()), ("cells", pa.string())])
"""A row by its digest, its cells as JSON."""

_NOWHERE = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Wanted:
    """Which rows of a side are looked for."""

    fields: tuple[Field, ...]
    leading: int
    """The place of the column by which rows are ranked, so that both versions of a changed row are shown."""
    side: int
    """+1 or -1."""


def digests_in(batches: Iterable[pa.RecordBatch], wanted: Wanted, buckets: Numbers) -> Iterator[pa.RecordBatch]:
    """For mapInArrow: the digests of all rows in these buckets."""
    for columns, digests in digested(batches, wanted.fields):
        chosen = buckets[buckets_of(digests)]
        if chosen.any():
            halves = _halves(digests[chosen])
            ranks = _ranks(columns[wanted.leading], wanted.fields[wanted.leading])[chosen]
            surplus = np.full(len(halves), wanted.side, np.int64)
            yield _batch(DIGESTS, (halves[:, 0], halves[:, 1], ranks, surplus))


def leading(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[pa.RecordBatch]:
    """For mapInArrow: the digests of a partition with the lowest ranks, and how many rows there are in all."""
    kept = np.zeros((0, len(DIGESTS)), np.int64)
    only_a = only_b = 0
    for batch in batches:
        rows = np.column_stack([_values(column) for column in batch.columns])
        only_a += int(rows[:, 3].clip(min=0).sum())
        only_b -= int(rows[:, 3].clip(max=0).sum())
        kept = in_order(np.concatenate([kept, rows]))[:most]
    counts = np.zeros((2, len(kept)), np.int64)
    counts[:, :1] = [[only_a], [only_b]]
    yield _batch(LEADING, (*kept.T, *counts))


def in_order(rows: Numbers) -> Numbers:
    """By rank, and the digest where ranks are equal."""
    return rows[np.lexsort((rows[:, 1], rows[:, 0], rows[:, 2]))]


def rows_of(batches: Iterable[pa.RecordBatch], fields: Sequence[Field], digests: Numbers) -> Iterator[pa.RecordBatch]:
    """For mapInArrow: the rows with these digests, each once."""
    missing = {(int(high), int(low)) for high, low in digests}
    highs = np.unique(digests[:, 0])
    for columns, found in digested(batches, fields):
        halves = _halves(found)
        for place in np.flatnonzero(np.isin(halves[:, 0], highs)):
            high, low = map(int, halves[place])
            if (high, low) in missing:
                missing.remove((high, low))
                yield batch_of(FOUND, [{"high": high, "low": low, "cells": _cells(columns, fields, int(place))}])


def _cells(columns: Sequence[pa.Array], fields: Sequence[Field], place: int) -> str:
    row: list[Any] = []
    for column, field in zip(columns, fields, strict=True):
        row += rendered(column.slice(place, 1), field)
    return json.dumps(row)


def _ranks(column: pa.Array, field: Field) -> Numbers:
    """Numbers and times by their value, nulls first; what has no such order by its digest, so that equal values stay together."""
    cells = cells_of(column, field)
    if len(cells.fixed) == 2 and cells.fixed[1].dtype == np.int64 and not cells.variable:
        return np.where(cells.fixed[0] == 1, cells.fixed[1], _NOWHERE)
    return _halves(row_digests(rows_as_bytes([column], [field])))[:, 0]


def _halves(digests: Numbers) -> Numbers:
    return np.ascontiguousarray(digests).view("<i8")


def _values(column: pa.Array) -> Numbers:
    return np.frombuffer(column.buffers()[1], np.int64, len(column), column.offset * 8)


def _batch(schema: pa.Schema, columns: Iterable[Numbers]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([numbers(column) for column in columns], schema=schema)
