"""Damaged Avro is said to be damaged, and never half read."""

import io
import json
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from bergung.errors import BergungError, CorruptFile, UnsupportedTable
from bergung.iceberg.avro import open_container, records

WHERE = "s3://b/t/metadata/m.avro"
SYNC = bytes(range(16))
SCHEMA = {"type": "record", "name": "r", "fields": [{"name": "a", "type": "long"}, {"name": "b", "type": "string"}]}
ROWS = [{"a": place, "b": f"row {place}"} for place in range(100)]


def written(codec: str = "null", rows: list[dict[str, Any]] = ROWS) -> bytes:
    target = io.BytesIO()
    fastavro.writer(target, SCHEMA, rows, codec=codec, sync_marker=SYNC, sync_interval=300, metadata={"x": "y"})
    return target.getvalue()


def by_hand(schema: Any, *blocks: bytes, properties: dict[str, bytes] | None = None) -> bytes:
    """A container of these blocks, each with its count and length already in front."""
    target = io.BytesIO()
    target.write(b"Obj\x01")
    values = {"avro.schema": json.dumps(schema).encode(), **(properties or {})}
    fastavro.schemaless_writer(target, {"type": "map", "values": "bytes"}, values)
    return target.getvalue() + SYNC + b"".join(block + SYNC for block in blocks)


def number(value: int) -> bytes:
    target = io.BytesIO()
    fastavro.schemaless_writer(target, "long", value)
    return target.getvalue()


def read(data: bytes) -> list[dict[str, Any]]:
    return list(records(open_container(data, WHERE)))


def refusal(data: bytes) -> BergungError:
    with pytest.raises(BergungError) as raised:
        read(data)
    assert raised.value.message.startswith(WHERE)
    assert raised.value.hint
    return raised.value


def test_whole() -> None:
    container = open_container(written("deflate"), WHERE)
    assert (container.codec, container.sync, container.properties["x"]) == ("deflate", SYNC, b"y")
    assert list(records(container)) == ROWS
    assert read(written(rows=[])) == []


def test_every_cut_but_one_between_blocks_is_noticed() -> None:
    data = written()
    ends = [place + 16 for place in range(len(data)) if data[place : place + 16] == SYNC]
    assert len(ends) > 3
    for length in range(len(data)):
        if length in ends:
            # The format does not say how many blocks there are: only the declared length can tell.
            assert read(data[:length]) == ROWS[: len(read(data[:length]))]
        else:
            assert isinstance(refusal(data[:length]), CorruptFile)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "it is empty"),
        (b"PK\x03\x04", "it is no Avro file"),
        (b"Obj\x02" + written()[4:], "it is no Avro file"),
        (written()[:-1] + b"\xff", "has no end mark"),
        (written() + b"\x00", "it ends inside a block"),
        (written() + b"\xff" * 20, "it ends inside a block"),
        (by_hand(SCHEMA, number(-1) + number(0)), "has no end mark"),
        (by_hand(SCHEMA, number(1) + number(-5)), "has no end mark"),
        (by_hand(SCHEMA, number(1) + number(1 << 62)), "has no end mark"),
        (by_hand(SCHEMA, number(5) + number(2) + b"\x02\x00"), "too small for its records"),
        (by_hand(SCHEMA, number(1) + number(3) + b"\x02\x00\x00"), "more than its records"),
        (by_hand(SCHEMA, number(1) + number(2) + b"\x02\x08"), "does not hold what the schema says"),
        (by_hand(SCHEMA, number(1) + number(3) + b"\x02\x02\xff"), "does not hold what the schema says"),
        (by_hand(SCHEMA, number(1) + number(1) + b"a", properties={"avro.codec": b"deflate"}), "cannot be unpacked"),
        (by_hand(SCHEMA, properties={"avro.codec": b"brotli"}), "'brotli' is no way to pack Avro"),
        (by_hand("no such type"), "its Avro schema makes no sense"),
        (by_hand({"type": "record", "name": "r"}), "its Avro schema makes no sense"),
        (by_hand({"type": "array", "items": "null"}), "its Avro schema makes no sense"),
        (by_hand({**SCHEMA, "fields": [SCHEMA["fields"][0]] * 2}), "its Avro schema makes no sense"),
        (b"Obj\x01\x00" + SYNC, "its Avro header cannot be read"),
        (b"Obj\x01\x02\x02a\x02", "its Avro header cannot be read"),
    ],
)
def test_damaged(data: bytes, problem: str) -> None:
    error = refusal(data)
    assert isinstance(error, CorruptFile)
    assert problem in error.message


@pytest.mark.parametrize("codec", ["deflate", "bzip2", "xz"])
def test_packed_blocks_must_come_to_their_end(codec: str) -> None:
    data = written(codec)
    start = open_container(data, WHERE).start
    assert read(data) == ROWS
    block = next(iter(fastavro.block_reader(io.BytesIO(data))))
    body = data[start : start + block.size - 16]
    size = len(number(block.num_records))
    cut = body[size + len(number(len(body))) :][:-8]
    assert "cannot be unpacked" in refusal(data[:start] + body[:size] + number(len(cut)) + cut + SYNC).message


def test_only_wanted_fields_are_read_and_by_the_name_given() -> None:
    assert list(records(open_container(written(), WHERE), {7: ("letter", "b")}))[:2] == [{"letter": "row 0"}, {"letter": "row 1"}]


def test_an_empty_block_is_not_the_end() -> None:
    data = by_hand(SCHEMA, number(0) + number(0), number(1) + number(3) + b"\x02\x02a")
    assert read(data) == [{"a": 1, "b": "a"}]


def test_each_record_of_a_large_file_comes_once() -> None:
    rows = [{"a": place, "b": "x" * 300_000} for place in range(10)]
    assert read(written("deflate", rows)) == rows


def test_a_block_of_negative_size_does_not_lead_back() -> None:
    whole = by_hand(SCHEMA, number(1) + number(3) + b"\x02\x02a")
    start = open_container(whole, WHERE).start
    back = number(1) + number(start - 16 - len(whole) - 2)
    assert len(back) == 2
    assert "has no end mark" in refusal(whole + back).message


def test_snappy_blocks_have_a_checksum() -> None:
    packed = pa.compress(b"\x02\x02a", "snappy", asbytes=True) + b"\0\0\0\0"
    data = by_hand(SCHEMA, number(1) + number(len(packed)) + packed, properties={"avro.codec": b"snappy"})
    assert "cannot be unpacked (snappy)" in refusal(data).message


@pytest.mark.parametrize("codec", [b"snappy", b"zstandard"])
def test_a_small_block_cannot_make_a_huge_one(codec: bytes) -> None:
    bomb = {b"snappy": b"\xff\xff\xff\xff\x0f", b"zstandard": b"\x28\xb5\x2f\xfd\xa0\xff\xff\xff\x7f"}[codec]
    data = by_hand(SCHEMA, number(1) + number(len(bomb)) + bomb, properties={"avro.codec": codec})
    assert "cannot be unpacked" in refusal(data).message


def test_schemas_that_never_end() -> None:
    nested: Any = "long"
    for _ in range(100):
        nested = {"type": "array", "items": nested}
    assert "makes no sense" in refusal(by_hand(nested)).message
    itself = {"type": "record", "name": "r", "fields": [{"name": "a", "type": ["null", "r"]}]}
    assert "makes no sense" in refusal(by_hand(itself)).message
    assert "header cannot be read" in refusal(by_hand({}).replace(b"{}", b"[" * 2)).message


def test_items_of_no_bytes_could_be_any_number() -> None:
    empty = {"type": "record", "name": "e", "fields": [{"name": "n", "type": "null"}]}
    for items in ("null", empty):
        fields = [{"name": "a", "type": {"type": "array", "items": items}}]
        assert "makes no sense" in refusal(by_hand({"type": "record", "name": "r", "fields": fields})).message


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"AGS1" + bytes(30), "is encrypted"),
        (b"PAR1" + bytes(30), "is Parquet, not Avro"),
    ],
)
def test_kinds_that_are_not_handled(data: bytes, problem: str) -> None:
    error = refusal(data)
    assert isinstance(error, UnsupportedTable)
    assert problem in error.message
