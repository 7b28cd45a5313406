"""Columns that two tables have in common."""

from typing import Any

from bergung.carry.common import in_common, left_out
from bergung.carry.fields import described, fields_of_iceberg


def schema(*fields: tuple[int, str, Any]) -> dict[str, Any]:
    return {
        "type": "struct",
        "fields": [{"id": id_, "name": name, "type": type_, "required": False} for id_, name, type_ in fields],
    }


def common(a: dict[str, Any], b: dict[str, Any], *, by_name: bool = False) -> tuple[str, list[str], list[str]]:
    """What both sides are fingerprinted by, and what each calls what is left out."""
    ours, theirs = fields_of_iceberg(a), fields_of_iceberg(b)
    one, other = in_common(ours, theirs, by_name=by_name)
    assert described(one) == described(other), "they enter a fingerprint as the same"
    return described(one), list(left_out(ours, one)), list(left_out(theirs, other))


def test_columns_are_the_same_by_their_ids_whatever_they_are_called() -> None:
    found = in_common(*(fields_of_iceberg(schema((1, name, "int"))) for name in ("old", "new")))
    assert [field.name for fields in found for field in fields] == ["old", "new"]


def test_a_type_that_was_promoted_is_still_the_same_and_another_is_not() -> None:
    a = schema((1, "id", "int"), (2, "x", "decimal(9,2)"), (3, "y", "date"), (4, "z", "string"))
    b = schema((1, "id", "long"), (2, "x", "decimal(18,2)"), (3, "y", "timestamp"), (4, "z", "binary"))
    assert common(a, b) == ("1 integer, 2 decimal:2", ["y", "z"], ["y", "z"])


def test_members_that_only_one_struct_has_are_left_out() -> None:
    a = schema((1, "at", schema((2, "x", "int"), (3, "y", "int"))), (4, "no", schema((5, "x", "int"))))
    b = schema((1, "at", schema((2, "x", "int"), (6, "z", "int"))), (4, "no", schema((7, "x", "int"))))
    assert common(a, b) == ("1 struct<2 integer>", ["at.y", "no"], ["at.z", "no"])


def test_a_list_or_a_map_is_compared_whole_or_not() -> None:
    many = {"type": "list", "element-id": 2, "element": "int", "element-required": False}
    pairs = {"type": "map", "key-id": 4, "key": "string", "value-id": 5, "value": schema((6, "x", "int"), (7, "y", "int"))}
    other_pairs = {**pairs, "value": schema((6, "x", "int"))}
    a, b = (
        schema((1, "many", many), (3, "pairs", pairs)),
        schema((1, "many", {**many, "element": "string"}), (3, "pairs", other_pairs)),
    )
    assert common(a, a) == ("1 list<2 integer>, 3 map<4 string, 5 struct<6 integer, 7 integer>>", [], [])
    assert common(a, b) == ("3 map<4 string, 5 struct<6 integer>>", ["many", "pairs.value.y"], ["many"])


def test_by_name_the_ids_of_the_first_count() -> None:
    a = schema((1, "id", "int"), (2, "at", schema((3, "x", "int"), (4, "y", "int"))))
    b = schema((9, "at", schema((8, "y", "int"), (7, "x", "int"))), (6, "id", "int"), (5, "more", "int"))
    assert common(a, b) == ("", ["id", "at"], ["more", "id", "at"])
    assert common(a, b, by_name=True) == ("1 integer, 2 struct<3 integer, 4 integer>", [], ["more"])
