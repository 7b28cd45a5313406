"""Schemas, partitionings and sort orders that are not the same."""

import json
from typing import Any

import pytest

from bergung.compare.definitions import Difference, definition_differences, schema_differences
from bergung.iceberg.definition import Definition, read_definition

Json = dict[str, Any]


def column(id_: int, name: str, type_: Any = "int", **more: Any) -> Json:
    return {"id": id_, "name": name, "type": type_, "required": False, **more}


def schema(*columns: Json, **more: Any) -> Json:
    return {"type": "struct", "schema-id": 0, "fields": list(columns), **more}


def told(a: Json, b: Json, *, by_name: bool = False) -> list[tuple[str, str | None, str | None]]:
    return [(each.what, each.a, each.b) for each in schema_differences(a, b, by_name=by_name)]


BASE = schema(column(1, "id", "long", required=True), column(2, "name", "string"))


@pytest.mark.parametrize("other", [
    {**BASE, "schema-id": 7},
    schema(column(1, "id", "long", required=True, doc="the key"), column(2, "name", "string")),
    {**BASE, "identifier-field-ids": []},
], ids=["schema id", "comment", "no identifiers"])  # fmt: skip
def test_what_is_no_difference(other: Json) -> None:
    assert told(BASE, other) == []


@pytest.mark.parametrize(("a", "b", "expected"), [
    (column(2, "name", "string"), column(2, "title", "string"), ("column", "2 name string", "2 title string")),
    (column(2, "name", "string"), column(3, "name", "string"), ("column", "2 name string", "3 name string")),
    (column(2, "x", "int"), column(2, "x", "long"), ("column", "2 x int", "2 x long")),
    (column(2, "x", required=True), column(2, "x"), ("column", "2 x int required", "2 x int")),
    (column(2, "x"), column(2, "x", **{"write-default": 3}), ("column", "2 x int", "2 x int, write-default 3")),
    (column(2, "x"), column(2, "x", **{"initial-default": 3}), ("column", "2 x int", "2 x int, initial-default 3")),
], ids=["name", "id", "type", "nullability", "default for writers", "default for readers"])  # fmt: skip
def test_one_thing_about_a_column(a: Json, b: Json, expected: tuple[str, str, str]) -> None:
    assert told(schema(a), schema(b)) == [expected]


def test_a_type_is_the_same_with_and_without_blanks() -> None:
    assert told(schema(column(1, "x", "decimal(9, 2)")), schema(column(1, "x", "decimal(9,2)"))) == []


def test_columns_that_only_one_has_and_their_order() -> None:
    other = schema(column(2, "name", "string"), column(3, "more"), column(1, "id", "long", required=True))
    assert told(BASE, other) == [("column", None, "3 more int"), ("order of columns", "id, name", "name, id")]
    assert told(other, BASE)[0] == ("column", "3 more int", None)


def test_two_columns_that_changed_their_names_with_each_other() -> None:
    a, b = schema(column(1, "x"), column(2, "y")), schema(column(1, "y"), column(2, "x"))
    assert told(a, b) == [("column", "1 x int", "1 y int"), ("column", "2 y int", "2 x int")]
    assert told(a, b, by_name=True) == [("order of columns", "x, y", "y, x")]


def test_nested_columns() -> None:
    def nested(inner: str, *, required: bool) -> Json:
        element = {"type": "map", "key-id": 4, "key": "string", "value-id": 5, "value": inner, "value-required": required}
        many = {"type": "list", "element-id": 3, "element": element, "element-required": required}
        return schema(column(1, "at", schema(column(2, "many", many))))

    assert told(nested("int", required=False), nested("int", required=False)) == []
    assert told(nested("int", required=False), nested("long", required=True)) == [
        ("column", "3 at.many.element map", "3 at.many.element map required"),
        ("column", "5 at.many.element.value int", "5 at.many.element.value long required"),
    ]


def test_by_name_ids_do_not_count_and_types_do() -> None:
    a, b = schema(column(1, "x"), column(2, "y")), schema(column(8, "x"), column(9, "y", "long"))
    assert told(a, b, by_name=True) == [("column", "y int", "y long")]


def test_fields_that_identify_a_row() -> None:
    assert told(BASE, {**BASE, "identifier-field-ids": [1]}) == [("identifier fields", None, "id")]


# Partitioning and sort order

TRANSFORMS = [("identity", 2, "name"), ("bucket[4]", 1, "id_bucket")]


def metadata(*parts: tuple[str, int, str], order: list[Json] | None = None, **more: Any) -> Definition:
    fields = [{"transform": name, "source-id": id_, "name": own, "field-id": 1000} for name, id_, own in parts]
    written = {"default-spec-id": 3, "partition-specs": [{"spec-id": 0, "fields": []}, {"spec-id": 3, "fields": fields}]}
    orders = {"default-sort-order-id": 1, "sort-orders": [{"order-id": 1, "fields": order}]} if order else {}
    return read_definition(json.dumps({**written, **orders, **more}).encode(), "here")


def parts_of(a: Definition, b: Definition, *, by_name: bool = False, other: Json = BASE) -> list[Difference]:
    return definition_differences((a, BASE), (b, other), by_name=by_name)


def test_a_partitioning_is_that_of_the_next_writer() -> None:
    other = metadata(*TRANSFORMS, **{"default-spec-id": 0})
    (found,) = parts_of(metadata(*TRANSFORMS), other)
    assert (found.what, found.a, found.b) == ("partitioning", "name as name, bucket[4](id) as id_bucket", None)


@pytest.mark.parametrize(
    "parts", [TRANSFORMS[:1], TRANSFORMS[::-1], [("identity", 2, "x"), TRANSFORMS[1]], [("void", 2, "name"), TRANSFORMS[1]]]
)
def test_terms_their_order_and_their_names_count(parts: list[tuple[str, int, str]]) -> None:
    assert parts_of(metadata(*TRANSFORMS), metadata(*TRANSFORMS)) == []
    assert [each.what for each in parts_of(metadata(*TRANSFORMS), metadata(*parts))] == ["partitioning"]


def test_the_sources_are_columns_by_id_or_by_name() -> None:
    renumbered = schema(column(8, "id", "long", required=True), column(9, "name", "string"))
    other = metadata(("identity", 9, "name"), ("bucket[4]", 8, "id_bucket"))
    assert len(parts_of(metadata(*TRANSFORMS), other, other=renumbered)) == 1
    assert parts_of(metadata(*TRANSFORMS), other, other=renumbered, by_name=True) == []


def test_the_source_of_a_term_may_be_gone() -> None:
    (found,) = parts_of(metadata(("void", 12, "old")), metadata())
    assert found.a == "void(field 12) as old"


def test_a_sort_order() -> None:
    term = {"transform": "identity", "source-id": 2, "direction": "asc", "null-order": "nulls-first"}
    (found,) = parts_of(metadata(order=[term]), metadata(order=[{**term, "direction": "desc"}]))
    assert (found.what, found.a, found.b) == ("sort order", "name asc nulls-first", "name desc nulls-first")


def test_old_and_new_ways_to_write_a_partitioning() -> None:
    old = {"partition-spec": [{"transform": "identity", "source-id": 2, "name": "name", "field-id": 1000}]}
    several = {"transform": "bucket[4]", "source-ids": [1, 2], "name": "both", "field-id": 1000}
    new = {"default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": [several]}]}
    (found,) = parts_of(*(read_definition(json.dumps(each).encode(), "here") for each in (old, new)))
    assert (found.a, found.b) == ("name as name", "bucket[4](id, name) as both")
