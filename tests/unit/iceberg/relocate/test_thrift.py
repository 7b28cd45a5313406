"""What is read from a footer is written again byte for byte, known or not."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bergung.iceberg.avro import BROKEN
from bergung.iceberg.relocate.formats import thrift
from tests.unit.iceberg.relocate.delete_files import every_type, parquet

NUMBERS = st.integers(-(2**63), 2**63 - 1)
LEAVES = st.one_of(
    st.tuples(st.sampled_from([thrift.I16, thrift.I32, thrift.I64]), NUMBERS),
    st.tuples(st.just(thrift.BINARY), st.binary(max_size=200)),
    st.tuples(st.just(thrift.DOUBLE), st.binary(min_size=8, max_size=8)),
    st.tuples(st.just(thrift.BYTE), st.integers(0, 255)),
    st.sampled_from([(thrift.TRUE, True), (thrift.FALSE, False)]),
    st.tuples(st.just(thrift.LIST), st.tuples(st.just(thrift.I64), st.lists(NUMBERS, max_size=40))),
    st.tuples(st.just(thrift.SET), st.tuples(st.just(thrift.TRUE), st.lists(st.sampled_from([1, 2])))),
)
NUMBERED = st.integers(-(2**15), 2**15 - 1)
TREES = st.recursive(
    st.dictionaries(NUMBERED, LEAVES, max_size=5),
    lambda inner: st.dictionaries(
        NUMBERED,
        st.one_of(
            st.tuples(st.just(thrift.STRUCT), inner),
            st.tuples(st.just(thrift.LIST), st.tuples(st.just(thrift.STRUCT), st.lists(inner, max_size=20))),
        ),
        max_size=4,
    ),
    max_leaves=20,
)


@settings(max_examples=40)
@given(TREES)
def test_trees_come_back(tree: thrift.Struct) -> None:
    data = b"x" + thrift.written(tree)
    assert thrift.read(memoryview(data), 1) == (tree, len(data))


def test_a_footer_of_arrow_is_written_byte_for_byte() -> None:
    data = parquet([("file:/a", 1, every_type(place)) for place in range(100)], group_rows=9)
    footer = data[-8 - int.from_bytes(data[-8:-4], "little") : -8]
    tree, end = thrift.read(memoryview(footer), 0)
    assert end == len(footer) == pq.read_metadata(pa.BufferReader(data)).serialized_size
    assert thrift.written(tree) == footer


@settings(max_examples=40)
@given(TREES, st.data())
def test_cut_bytes_are_noticed(tree: thrift.Struct, data: st.DataObject) -> None:
    whole = thrift.written(tree)
    with pytest.raises(BROKEN):
        thrift.read(memoryview(whole[: data.draw(st.integers(0, len(whole) - 1))]), 0)


@pytest.mark.parametrize(
    "hostile", [b"\x1c" * 1000, b"\x19\xf6\xff\xff\xff\xff\x0f", b"\x16" + b"\xff" * 11, b"\x1d\x00", b"\x16\x00\x06\x02\x00\x00"]
)
def test_hostile_bytes_are_refused(hostile: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        thrift.read(memoryview(hostile), 0)
