"""Names of tables, and patterns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bergung.errors import UsageError
from bergung.model.names import TableName, TablePattern, join_levels, split_levels, table_name, table_pattern

LEVELS = st.lists(st.text(alphabet="ab.`*?[ ä/", max_size=6), min_size=1, max_size=4).map(tuple)


@given(LEVELS)
def test_levels_are_read_back_as_they_were(levels: tuple[str, ...]) -> None:
    assert split_levels(join_levels(levels)) == levels


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("lake.sales.orders", ("lake", "sales", "orders")),
        ("lake.`a.b`.t", ("lake", "a.b", "t")),
        ("lake.`a``b`", ("lake", "a`b")),
        ("lake.`.`.` `", ("lake", ".", " ")),
        ("lake.Ünï cöde.100%", ("lake", "Ünï cöde", "100%")),
        ("``", ("",)),
    ],
)
def test_backticks_protect_dots(text: str, levels: tuple[str, ...]) -> None:
    assert split_levels(text) == levels


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "`a", "a`b", "`a`b", "a.`b", "`a`.", "```"])
def test_what_is_no_name_is_told(text: str) -> None:
    with pytest.raises(UsageError, match="not a table name") as told:
        split_levels(text)
    assert "backticks" in told.value.hint


def test_a_full_name_has_catalog_namespace_and_table() -> None:
    assert table_name("lake.a.b.`c.d`") == TableName("lake", ("a", "b"), "c.d")
    assert str(table_name("lake.a.b.`c.d`")) == "lake.a.b.`c.d`"
    with pytest.raises(UsageError, match="not a full table name"):
        table_name("lake.orders")


def test_names_sort_by_catalog_namespace_and_name() -> None:
    names = [table_name(text) for text in ("lake.b.a", "lake.a.b.z", "bay.z.z", "lake.a.c", "lake.a.a")]
    assert [str(each) for each in sorted(names)] == ["bay.z.z", "lake.a.a", "lake.a.c", "lake.a.b.z", "lake.b.a"]


@pytest.mark.parametrize(
    ("pattern", "table", "matches"),
    [
        ("lake", "lake.sales.orders", True),
        ("lake", "lakes.sales.orders", False),
        ("lake.sales", "lake.sales.orders", True),
        ("lake.sales", "lake.sales.eu.orders", True),
        ("lake.sale", "lake.sales.orders", False),
        ("lake.sales.orders", "lake.sales.orders", True),
        ("lake.sales.orders.x", "lake.sales.orders", False),
        ("lake.sales.Orders", "lake.sales.orders", False),
        ("lake.sales.*", "lake.sales.orders", True),
        ("lake.*.orders", "lake.sales.orders", True),
        ("lake.*.orders", "lake.sales.eu.orders", False),
        ("lake.s*s.o?ders", "lake.sales.orders", True),
        ("lake.sales.o?", "lake.sales.orders", False),
        ("*.sales.orders", "lake.sales.orders", False),
        ("lake.`a.*`", "lake.`a.b`.t", True),
        ("lake.`a.*`", "lake.a.b.t", False),
        ("lake.sales.[ab]", "lake.sales.a", False),
        ("lake.sales.[ab]", "lake.sales.[ab]", True),
        ("lake.sales.[!*", "lake.sales.[!x", True),
    ],
)
def test_what_a_pattern_means(pattern: str, table: str, matches: bool) -> None:
    assert table_pattern(pattern).matches(table_name(table)) is matches


def test_a_pattern_is_printed_as_it_is_read() -> None:
    assert table_pattern("lake.`a.b`.*") == TablePattern("lake", ("a.b", "*"))
    assert str(table_pattern("lake.`a.b`.*")) == "lake.`a.b`.*"
