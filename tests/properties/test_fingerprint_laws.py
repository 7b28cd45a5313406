"""The fingerprint over tables of any shape."""

import random
from typing import Any

import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bergung.carry.fields import Field, fields_of_arrow
from bergung.carry.fingerprint import Fingerprint, combine, fingerprint
from properties.arrow_tables import Sample, samples
from properties.plain_fingerprint import plain_fingerprint

MANY = settings(max_examples=300, deadline=None)


def taken(table: pa.Table, rows: int = 1000) -> Fingerprint:
    return fingerprint(table.to_batches(max_chunksize=rows), fields_of_arrow(table.schema))


@MANY
@given(samples())
def test_it_is_what_the_document_says(sample: Sample) -> None:
    expected = Fingerprint(len(sample.rows), plain_fingerprint(sample.rows, fields_of_arrow(sample.table.schema)))
    assert taken(sample.table) == expected


@MANY
@given(samples(min_rows=2), st.integers(0, 7))
def test_rows_and_columns_may_come_in_any_order_and_in_any_batches(sample: Sample, seed: int) -> None:
    chance = random.Random(seed)
    rows = chance.sample(range(len(sample.rows)), len(sample.rows))
    columns = chance.sample(range(sample.table.num_columns), sample.table.num_columns)
    shuffled = sample.with_rows([sample.rows[place] for place in rows]).table.select(columns)
    renamed = shuffled.rename_columns([f"other{place}" for place in range(len(columns))])
    assert taken(renamed, rows=chance.randint(1, 3)) == taken(sample.table)


@MANY
@given(samples(min_rows=1), st.data())
def test_a_changed_value_changes_it(sample: Sample, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(sample.rows) - 1))
    field = data.draw(st.sampled_from(fields_of_arrow(sample.table.schema)))
    other = data.draw(st.sampled_from([row[field.name] for row in sample.rows] + [None]))
    assume(meaning(other, field) != meaning(sample.rows[place][field.name], field))
    rows = [dict(row) for row in sample.rows]
    rows[place][field.name] = other
    assert taken(sample.with_rows(rows).table) != taken(sample.table)


def meaning(value: Any, field: Field) -> Any:
    """Equal when two values are the same to Iceberg."""
    if value is None or not field.children:
        return "NaN" if value != value else value  # noqa: PLR0124
    if field.kind == "struct":
        return tuple(meaning(value[child.name], child) for child in field.children)
    if field.kind == "list":
        return tuple(meaning(each, field.children[0]) for each in value)
    return frozenset((key, meaning(item, field.children[1])) for key, item in value)


@MANY
@given(samples(min_rows=1), st.integers(0, 100))
def test_a_row_twice_is_not_a_row_once(sample: Sample, seed: int) -> None:
    again = sample.with_rows([*sample.rows, random.Random(seed).choice(sample.rows)])
    assert taken(again.table).digest != taken(sample.table).digest


@MANY
@given(samples(), st.integers(0, 8))
def test_parts_add_up(sample: Sample, cut: int) -> None:
    parts = [taken(sample.table.slice(0, cut)), taken(sample.table.slice(cut))]
    assert combine(parts) == taken(sample.table)


@MANY
@given(samples(), st.integers(0, 3))
def test_a_slice_of_a_batch_is_its_own_rows(sample: Sample, start: int) -> None:
    assert taken(sample.table.slice(start)) == taken(sample.with_rows(sample.rows[start:]).table)
