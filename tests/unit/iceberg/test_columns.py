"""Python to Arrow and back without pandas: the same as pyarrow's own conversions give."""

import subprocess
import sys
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bergung.iceberg.columns import batch_of, rows_of, table, table_of, values

SCHEMA = pa.schema([("text", pa.string()), ("long", pa.int64()), ("int", pa.int32()), ("byte", pa.int8())])
ROW = st.fixed_dictionaries(
    {},
    optional={
        "text": st.none() | st.text(st.characters(exclude_categories=["Cs"])),
        "long": st.none() | st.integers(-(2**63), 2**63 - 1),
        "int": st.none() | st.integers(-(2**31), 2**31 - 1),
        "byte": st.none() | st.integers(-128, 127),
    },
)


@given(st.lists(ROW, max_size=40))
def test_rows_to_arrow_and_back(rows: list[dict[str, Any]]) -> None:
    filled = [{**dict.fromkeys(SCHEMA.names), **row} for row in rows]
    for made in (table_of(SCHEMA, rows), batch_of(SCHEMA, rows)):
        made.validate(full=True)
        assert made.schema == SCHEMA
        assert rows_of(made) == filled == made.to_pylist()
    by_pyarrow = pa.Table.from_pylist(filled, schema=SCHEMA)
    assert table_of(SCHEMA, rows).equals(by_pyarrow)


@given(st.lists(ROW, min_size=3, max_size=40), st.integers(1, 3))
def test_a_slice_and_several_chunks_are_read_as_they_are(rows: list[dict[str, Any]], start: int) -> None:
    made = pa.concat_tables([table_of(SCHEMA, rows), table_of(SCHEMA, rows)])
    assert rows_of(made.slice(start, len(rows))) == made.slice(start, len(rows)).to_pylist()
    assert values(made.column("text")) == made.column("text").to_pylist()


def test_a_column_that_is_not_given_is_null() -> None:
    made = table(SCHEMA, {"long": [1, 2]})
    assert made.column("text").null_count == made.column("byte").null_count == 2
    assert values(made.column("long")) == [1, 2]
    assert table(SCHEMA, {}).num_rows == table_of(SCHEMA, []).num_rows == 0


@pytest.mark.parametrize(("name", "value"), [("byte", 128), ("int", 2**31), ("long", -(2**63) - 1)])
def test_a_number_that_does_not_fit_is_refused_not_cut(name: str, value: int) -> None:
    with pytest.raises(OverflowError):
        table_of(SCHEMA, [{name: value}])


def test_it_does_not_import_pandas() -> None:
    """1.1 s in every process, each worker too."""
    program = """
import sys
import pyarrow as pa
from bergung.iceberg.columns import rows_of, table_of
schema = pa.schema([("text", pa.string()), ("long", pa.int64())])
assert rows_of(table_of(schema, [{"text": "a"}, {"long": 1}]))
assert "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
