"""Rows that only one of two sides has, over tables of any shape: what is found is what counting them finds."""

import json
from collections import Counter
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from bergung.carry.fields import Field, fields_of_arrow
from bergung.carry.fingerprint import fingerprint
from bergung.carry.row_search import DIGESTS, LEADING, Wanted, digests_in, leading, rows_of
from bergung.carry.row_sums import BucketSums, added_up, bucket_sums
from bergung.iceberg.columns import rows_of as table_rows
from properties.arrow_tables import Sample, samples
from properties.plain_fingerprint import as_bytes

MANY = settings(max_examples=200, deadline=None)
Fields = tuple[Field, ...]


@st.composite
def two(draw: st.DrawFn) -> tuple[Sample, Sample]:
    """Two tables of one shape: the rows of the other are some of the one's, some twice, some of them changed."""
    one = draw(samples(min_rows=1))
    rows = draw(st.lists(st.sampled_from(one.rows), max_size=8))
    column = draw(st.sampled_from(one.table.schema.names))
    changed = [{**row, column: draw(st.sampled_from([None, row[column]]))} for row in rows]
    return one, one.with_rows(changed)


def batches(sample: Sample, rows: int) -> list[pa.RecordBatch]:
    return sample.table.to_batches(max_chunksize=rows)


def summed(parts: Iterable[tuple[Sample, int]], fields: Fields) -> tuple[BucketSums, BucketSums]:
    """Batch by batch, as if each were a partition of its own."""
    rows = []
    for side, (sample, size) in enumerate(parts):
        for batch in batches(sample, size):
            found = pa.Table.from_batches(bucket_sums([batch], fields, side))
            rows += [tuple(row.values()) for row in table_rows(found)]
    return added_up(rows, 0), added_up(rows, 1)


def counted(sample: Sample, fields: Fields) -> "Counter[bytes]":
    return Counter(as_bytes(row, fields) for row in sample.rows)


def grouped(sides: Iterable[tuple[Sample, int]], fields: Fields, buckets: np.ndarray, size: int) -> list[pa.RecordBatch]:
    """What Spark does between the two steps: one row for each digest, those whose count is nothing left out."""
    totals: Counter[tuple[int, int, int]] = Counter()
    for sample, sign in sides:
        for batch in digests_in(batches(sample, size), Wanted(fields, 0, sign), buckets):
            for row in table_rows(batch):
                totals[row["high"], row["low"], row["rank"]] += row["surplus"]
    left = [(*key, count) for key, count in totals.items() if count]
    columns = [pa.array(column, pa.int64()) for column in zip(*left, strict=True)] if left else [pa.array([], pa.int64())] * 4
    return pa.Table.from_arrays(columns, schema=DIGESTS).to_batches(max_chunksize=size)


@MANY
@given(two(), st.integers(1, 3), st.integers(1, 8))
def test_the_sums_differ_where_and_only_where_rows_do(pair: tuple[Sample, Sample], size: int, other_size: int) -> None:
    one, other = pair
    fields = fields_of_arrow(one.table.schema)
    ours, theirs = summed(((one, size), (other, other_size)), fields)
    assert ours.fingerprint() == fingerprint(one.table.to_batches(), fields)
    assert theirs.fingerprint() == fingerprint(other.table.to_batches(), fields)
    assert ours.differing(theirs).any() == (counted(one, fields) != counted(other, fields))


@MANY
@given(two(), st.integers(1, 3), st.integers(1, 4))
def test_what_only_one_has_is_counted_and_the_first_are_kept(pair: tuple[Sample, Sample], size: int, most: int) -> None:
    one, other = pair
    fields = fields_of_arrow(one.table.schema)
    ours, theirs = summed(((one, size), (other, size)), fields)
    groups = grouped(((one, 1), (other, -1)), fields, ours.differing(theirs), size)
    found = table_rows(pa.Table.from_batches(leading(groups, most), LEADING))
    missing, extra = counted(one, fields) - counted(other, fields), counted(other, fields) - counted(one, fields)
    assert (sum(row["only_a"] for row in found), sum(row["only_b"] for row in found)) == (missing.total(), extra.total())
    ranks = [row["rank"] for row in found]
    assert ranks == sorted(ranks) and len(found) == min(most, len(missing) + len(extra))
    everything = sorted((row["rank"], row["high"], row["low"]) for batch in groups for row in table_rows(batch))
    assert [(row["rank"], row["high"], row["low"]) for row in found] == everything[:most]


@MANY
@given(samples(min_rows=1), st.data(), st.integers(1, 3))
def test_a_row_is_found_again_by_its_digest(sample: Sample, data: st.DataObject, size: int) -> None:
    fields = fields_of_arrow(sample.table.schema)
    everywhere = np.ones(4096, np.bool_)
    digests = [
        (row["high"], row["low"])
        for batch in digests_in(batches(sample, size), Wanted(fields, 0, 1), everywhere)
        for row in table_rows(batch)
    ]
    place = data.draw(st.integers(0, len(digests) - 1))
    wanted = np.array([digests[place], (1, 2)], np.int64)
    twice = [*batches(sample, size), *batches(sample, 2)]
    (found,) = [row for batch in rows_of(twice, fields, wanted) for row in table_rows(batch)]
    assert (found["high"], found["low"]) == digests[place]
    cells, row = json.loads(found["cells"]), sample.rows[place]
    assert [cell is None for cell in cells] == [row[field.name] is None for field in fields]
    numbers = [(cell, row[field.name]) for cell, field in zip(cells, fields, strict=True) if field.kind in ("integer", "string")]
    assert all(cell == value for cell, value in numbers)
