"""Records cut at their fields: by steps and by an expression in the same places, and damage is damage in both ways."""

import copy
import json
import time
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest

from bergung.errors import CorruptFile
from bergung.iceberg.avro import open_container
from bergung.iceberg.relocate.fields import ENTRY
from bergung.iceberg.relocate.splice import layout
from bergung.iceberg.relocate.splice.layout import Layout, layout_of
from bergung.iceberg.relocate.splice.slots import Kind, Slot
from tests.avro_files import container, encode, number
from tests.manifest_writers import OLD, VERSIONS, WRITERS, entry, files_of, manifest, manifest_schema

SLOTS = (Slot(1, "a", Kind.NUMBER), Slot(2, "b", Kind.TEXT))
ROW = {"type": "record", "name": "row", "fields": [{"name": "n", "type": "long"}, {"name": "v", "type": "bytes"}]}
TYPES: dict[str, tuple[Any, Any]] = {
    "long": ("long", 1 << 40),
    "float": ("float", 1.5),
    "double": ("double", 1.5),
    "boolean": ("boolean", True),
    "null": ("null", None),
    "bytes": ("bytes", b"\xff\x00" * 50),
    "string": ("string", "abc"),
    "fixed": ({"type": "fixed", "name": "f", "size": 7}, b"\x80" * 7),
    "enum": ({"type": "enum", "name": "e", "symbols": [f"S{place}" for place in range(100)]}, "S99"),
    "array": ({"type": "array", "items": "string"}, ["x", "", "yyy"]),
    "no items": ({"type": "array", "items": "string"}, []),
    "numbers": ({"type": "array", "items": "long"}, [0, 1 << 40] * 70),
    "map": ({"type": "map", "values": ["null", "double"]}, {"key": 0.5, "ü": None}),
    "record": (ROW, {"n": -1, "v": b""}),
    "rows": ({"type": "array", "items": ROW}, [{"n": 1, "v": b"a"}, {"n": 1 << 62, "v": b"b" * 300}]),
    "union": (["null", "string", "long"], "abc"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    layout._layout_of.cache_clear()
    yield
    layout._layout_of.cache_clear()


def schema_with(*types: Any) -> Any:
    fields = [{"name": f"x{place}", "type": type_} for place, type_ in enumerate(types)]
    between = [{"name": "a", "type": "long"}, *fields, {"name": "b", "type": ["null", "string"]}]
    return {"type": "record", "name": "r", "fields": between}


def layout_for(schema: Any) -> Layout:
    return layout_of(open_container(container(schema, []), "here"), SLOTS)


def by_expression(schema: Any, *like: bytes) -> Layout:
    """A layout that has met many such records."""
    found = layout_for(schema)
    many = like * (1 + 100_000 // len(like[0]))
    found.cut(b"".join(many), len(many), "here")
    assert found._match is not None
    return found


@pytest.mark.parametrize("name", TYPES)
def test_every_type_is_stepped_over_and_has_an_expression(name: str) -> None:
    type_, value = TYPES[name]
    schema = schema_with(type_, "long")
    record = encode(schema, {"a": 5, "x0": value, "x1": 1 << 33, "b": "ü" * 40})
    wanted = [(number(5), encode(type_, value) + number(1 << 33), b"\x02" + encode("string", "ü" * 40), b"")] * 3
    assert layout_for(schema).cut(record * 3, 3, "here") == wanted
    learned = by_expression(schema, record)
    assert learned._match(record * 3, 0) == wanted, "the expression alone"
    assert learned.cut(record * 3, 3, "here") == wanted


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("writer", WRITERS)
def test_pieces_make_the_record_again(writer: str, version: int) -> None:
    schema = manifest_schema(writer, version)
    records = [encode(schema, entry(f"{OLD}/{place}", place % 3, split_offsets=[4] * (place % 5))) for place in range(2000)]
    block = b"".join(records)
    cut = layout_of(open_container(manifest(schema, []), "here"), ENTRY).cut(block, 2000, "here")
    assert [b"".join(pieces) for pieces in cut] == records
    assert b"".join(chain.from_iterable(cut)) == block


def test_what_an_expression_does_not_know_is_stepped_over_among_the_others() -> None:
    schema = schema_with("bytes")
    known, unknown = ([encode(schema, {"a": size, "x0": bytes(size)}) for size in sizes] for sizes in ((3, 4), (9, 70, 7000)))
    learned = by_expression(schema, *known)
    for records in (unknown, [known[0], unknown[0]] * 5, [*unknown, *known, *unknown, *known * 9, *unknown]):
        assert [b"".join(pieces) for pieces in learned.cut(b"".join(records), len(records), "here")] == records


DAMAGE = {
    # records of `a`, one of these types, and `b`
    "cut off in a number": ("long", b"\x02\x80"),
    "a number without an end": ("long", b"\x02" + b"\x80" * 11 + b"\x00\x00"),
    "bytes that are not there": ("bytes", b"\x02\x0a\x00\x00"),
    "bytes of negative length": ("bytes", b"\x02\x01\x00\x00"),
    "text that is no UTF-8": ("string", b"\x02\x04\xc3\x28\x00"),
    "fixed, cut off": ({"type": "fixed", "name": "f", "size": 3}, b"\x02\x00\x00"),
    "no such symbol": ({"type": "enum", "name": "e", "symbols": ["A", "B"]}, b"\x02\x04\x00"),
    "a negative symbol": ({"type": "enum", "name": "e", "symbols": ["A", "B"]}, b"\x02\x01\x00"),
    "neither true nor false": ("boolean", b"\x02\x02\x00"),
    "no such branch": (["null", "long"], b"\x02\x04\x00"),
    "a negative branch": (["null", "long"], b"\x02\x01\x00\x00"),
    "a key that is no UTF-8": ({"type": "map", "values": "long"}, b"\x02\x02\x04\xc3\x28\x00\x00\x00"),
    "an array cut off": ({"type": "array", "items": "long"}, b"\x02\x04\x00\x00"),
    "more items than bytes": ({"type": "array", "items": "long"}, b"\x02\xfe\xff\xff\xff\x0f\x00\x00"),
    "items of another length than said": ({"type": "array", "items": "long"}, b"\x02\x03\x06\x00\x00\x00\x00"),
    "bytes after the last record": ("long", b"\x02\x02\x00\x02"),
    "a branch of another union": ("long", b"\x02\x02\x04"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage(name: str) -> None:
    type_, record = DAMAGE[name]
    schema = schema_with(type_)
    for found in (layout_for(schema), by_expression(schema, encode(schema, {"a": 5, "x0": GOOD[json.dumps(type_)], "b": "c"}))):
        with pytest.raises(CorruptFile, match="here"):
            found.cut(record, 1, "here")


GOOD = {json.dumps(type_): value for type_, value in [
    ("long", 1), ("bytes", b"abc"), ("string", "ab"), ({"type": "fixed", "name": "f", "size": 3}, b"abc"),
    ({"type": "enum", "name": "e", "symbols": ["A", "B"]}, "B"), ("boolean", True), (["null", "long"], 5),
    ({"type": "array", "items": "long"}, [1, 2]), ({"type": "map", "values": "long"}, {"ab": 1}),
]}  # fmt: skip


@pytest.mark.parametrize(
    ("type_", "value"), [("bytes", b"abc"), ("double", 0.5), ({"type": "fixed", "name": "f", "size": 3}, b"abc")]
)
def test_the_last_value_of_a_block_cut_off(type_: Any, value: Any) -> None:
    schema = schema_with(type_)
    schema["fields"].append(schema["fields"].pop(1))
    record = encode(schema, {"a": 5, "b": "c", "x0": value})
    for found in (layout_for(schema), by_expression(schema, record)):
        with pytest.raises(CorruptFile, match="here"):
            found.cut(record * 2 + record[:-1], 3, "here")


@pytest.mark.parametrize("count", [0, 2, 4])
def test_another_number_of_records_than_said(count: int) -> None:
    schema = schema_with()
    record = encode(schema, {"a": 5, "b": "c"})
    for found in (layout_for(schema), by_expression(schema, record)):
        with pytest.raises(CorruptFile, match=f"a block of {count} records holds 3"):
            found.cut(record * 3, count, "here")


@pytest.mark.parametrize(
    ("id_", "change", "problem"),
    [
        (100, {"field-id": 99, "name": "file_place"}, "0 fields for file_path"),
        (100, {"type": "bytes"}, "file_path is not text"),
        (0, {"type": ["int", "long"]}, "status is a union"),
        (143, {"type": ["null", "string", "long"]}, "referenced_data_file is a union"),
        (144, {"type": ["null", "string"]}, "content_offset is not a number"),
        (108, {"type": {"type": "array", "items": "long"}}, "column_sizes is not numbers by id"),
        (142, {"field-id": 100}, "two fields of one name"),
        (1, {"field-id": 100, "type": "string"}, "2 fields for file_path"),
    ],
)
def test_schemas_that_are_none_of_a_manifest(id_: int, change: Any, problem: str) -> None:
    schema = copy.deepcopy(manifest_schema("java", 3))
    next(field for field in (*schema["fields"], *files_of(schema)) if field["field-id"] == id_).update(change)
    with pytest.raises(CorruptFile, match=f"makes no sense.*{problem}"):
        layout_of(open_container(container(schema, []), "here"), ENTRY)


def test_records_of_no_bytes_do_not_go_on_for_ever() -> None:
    schema = {"type": "record", "name": "r", "fields": [{"name": "n", "type": "null"}]}
    with pytest.raises(CorruptFile):
        layout_for(schema).cut(b"\x00", 1, "here")


def test_garbage_is_refused_at_once_also_by_an_expression() -> None:
    schema = schema_with("bytes")
    learned = by_expression(schema, encode(schema, {"a": 5, "x0": b"abc", "b": "c"}))
    began = time.process_time()
    for block in (b"\x02" * 3_000_000, b"\x80" * 3_000_000, bytes(3_000_000), b"\x02\x06" * 1_000_000):
        with pytest.raises(CorruptFile):
            learned.cut(block, 5, "here")
    assert time.process_time() - began < 10
