"""What every catalog must do, whoever made it and whoever else uses it."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Protocol

import pytest

from bergung.catalogs.base import Catalog, Namespace, Pointer
from bergung.clock import SystemClock
from bergung.errors import Busy, SourceChanged, UnknownTable, UsageError
from bergung.model.names import TableName

ODD = [
    "with space",
    "Ünï cöde",
    "ünïcode",
    "100%",
    "a%2Fb",
    "a+b",
    "a,b;c",
    "o'clock",
    'quo"te',
    "a[1]",
    "under_score",
    "underXscore",
    "UPPER",
    "upper",
    "😀",
]
"""Names that meet some wildcard, escape or collation on their way."""


class Engine(Protocol):
    """Another program that uses the same catalog."""

    name: str

    def create_namespace(self, levels: tuple[str, ...], properties: dict[str, str]) -> None: ...

    def properties(self, levels: tuple[str, ...]) -> dict[str, str]: ...

    def create_table(self, table: TableName) -> None: ...

    def append(self, table: TableName, value: int) -> None: ...

    def pointer(self, table: TableName) -> str: ...

    def rows(self, table: TableName) -> list[int]: ...

    def tables(self, levels: tuple[str, ...]) -> set[str]: ...


class CatalogContract:
    """A subclass gives the fixtures `reopen` (opens our catalog, in any process) and `engine`."""

    @pytest.fixture
    def catalog(self, reopen: Callable[[], Catalog]) -> Catalog:
        return reopen()

    @pytest.fixture
    def orders(self, engine: Engine) -> TableName:
        engine.create_namespace(("sales",), {})
        table = TableName(engine.name, ("sales",), "orders")
        engine.create_table(table)
        return table

    def test_an_empty_catalog_has_nothing(self, catalog: Catalog) -> None:
        assert catalog.tables() == []
        assert catalog.views() == []
        assert catalog.namespaces() == []
        assert catalog.locate_all([TableName(catalog.name, ("sales",), "orders")]) == {}

    def test_a_table_of_the_engine_is_listed_and_located(self, catalog: Catalog, engine: Engine, orders: TableName) -> None:
        before = SystemClock().now()
        found = catalog.locate(orders)
        assert catalog.tables() == [orders]
        assert (found.table, found.metadata_location, found.previous_location) == (orders, engine.pointer(orders), None)
        assert before <= found.read_at <= SystemClock().now()

    def test_a_commit_of_the_engine_moves_the_pointer(self, catalog: Catalog, engine: Engine, orders: TableName) -> None:
        first = catalog.locate(orders)
        engine.append(orders, 1)
        second = catalog.locate(orders)
        assert second.metadata_location == engine.pointer(orders) != first.metadata_location
        assert second.previous_location == first.metadata_location

    def test_odd_names_are_listed_located_and_registered(self, catalog: Catalog, engine: Engine, orders: TableName) -> None:
        odd = [TableName(engine.name, ("sales",), name) for name in ODD]
        for table in odd:
            engine.create_table(table)
        assert catalog.tables() == sorted([orders, *odd])
        assert [catalog.locate(table).metadata_location for table in odd] == [engine.pointer(table) for table in odd]
        location = engine.pointer(orders)
        for name in ODD:
            catalog.create_namespace(Namespace((name,), {}))
            copy = TableName(engine.name, (name,), name)
            catalog.register(copy, location)
            assert engine.pointer(copy) == catalog.locate(copy).metadata_location == location
        assert {each.levels for each in catalog.namespaces()} == {("sales",), *((name,) for name in ODD)}

    def test_namespaces_of_three_levels_and_their_parents(self, catalog: Catalog, engine: Engine) -> None:
        engine.create_namespace(("a", "b", "c"), {})
        deep = TableName(engine.name, ("a", "b", "c"), "deep")
        engine.create_table(deep)
        assert [each.levels for each in catalog.namespaces()] == [("a",), ("a", "b"), ("a", "b", "c")]
        assert catalog.tables() == [deep]
        assert catalog.locate(deep).metadata_location == engine.pointer(deep)
        # A parent is there by what is below it.
        catalog.register(TableName(engine.name, ("a", "b"), "copy"), engine.pointer(deep))
        assert engine.tables(("a", "b")) == {"copy"}

    def test_properties_of_namespaces_go_both_ways(self, catalog: Catalog, engine: Engine) -> None:
        engine.create_namespace(("theirs",), {"note": "grün, 100%"})
        catalog.create_namespace(Namespace(("ours", "inner"), {"note": "grün, 100%", "empty": ""}))
        found = {each.levels: each.properties for each in catalog.namespaces()}
        assert found[("theirs",)].items() >= {"note": "grün, 100%"}.items()
        assert found[("ours",)] == {}
        assert found[("ours", "inner")] == {"note": "grün, 100%", "empty": ""}
        assert "exists" not in found[("theirs",)]
        assert engine.properties(("ours", "inner")).items() >= found[("ours", "inner")].items()
        engine.create_table(TableName(engine.name, ("ours", "inner"), "t"))

    def test_a_namespace_that_is_there_stays_as_it_is(self, catalog: Catalog, orders: TableName) -> None:
        catalog.create_namespace(Namespace(("ours",), {"k": "first"}))
        before = catalog.namespaces()
        for levels in (("ours",), orders.namespace):
            catalog.create_namespace(Namespace(levels, {"k": "second", "other": "x"}))
        assert catalog.namespaces() == before

    def test_an_unknown_table_is_told(self, catalog: Catalog, orders: TableName) -> None:
        for table in (
            TableName(catalog.name, ("sales",), "order_"),
            TableName(catalog.name, ("sales",), "ORDERS"),
            TableName(catalog.name, ("sale",), "orders"),
            TableName(catalog.name, (), "orders"),
        ):
            with pytest.raises(UnknownTable):
                catalog.locate(table)
            with pytest.raises(UnknownTable):
                catalog.replace(table, "file:///new", expected="file:///old")

    def test_many_are_located_at_once_and_what_is_gone_is_absent(self, catalog: Catalog, engine: Engine, orders: TableName) -> None:
        others = [TableName(engine.name, ("sales",), f"t{number}") for number in range(3)]
        for table in others:
            engine.create_table(table)
        gone = TableName(engine.name, ("sales",), "gone")
        found = catalog.locate_all([others[2], gone, orders])
        assert {table: each.metadata_location for table, each in found.items()} == {
            orders: engine.pointer(orders),
            others[2]: engine.pointer(others[2]),
        }

    def test_what_we_register_the_engine_reads_and_writes(self, catalog: Catalog, engine: Engine, orders: TableName) -> None:
        engine.append(orders, 7)
        copy = TableName(engine.name, ("back", "again"), "orders")
        catalog.create_namespace(Namespace(copy.namespace, {}))
        catalog.register(copy, engine.pointer(orders))
        assert catalog.locate(copy).previous_location is None
        assert copy in catalog.tables()
        assert engine.tables(copy.namespace) == {"orders"}
        assert engine.rows(copy) == [7]
        engine.append(copy, 8)
        assert engine.rows(copy) == [7, 8]
        assert catalog.locate(copy).metadata_location == engine.pointer(copy)

    def test_a_name_is_registered_once(self, catalog: Catalog, engine: Engine, orders: TableName) -> None:
        before = catalog.locate(orders).metadata_location
        with pytest.raises(Busy):
            catalog.register(orders, "file:///elsewhere/v1.metadata.json")
        assert catalog.locate(orders).metadata_location == before == engine.pointer(orders)

    def test_of_two_processes_one_registers(self, catalog: Catalog, reopen: Callable[[], Catalog], orders: TableName) -> None:
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            for round_ in range(5):
                table = TableName(catalog.name, orders.namespace, f"race{round_}")
                places = [f"file:///{runner}/v1.metadata.json" for runner in range(2)]
                won = list(pool.map(wins, [reopen] * 2, [table] * 2, places))
                assert sorted(won) == [False, True]
                assert catalog.locate(table).metadata_location == places[won.index(True)]

    def test_nothing_is_registered_in_a_namespace_that_is_not_there(self, catalog: Catalog, orders: TableName) -> None:
        before = catalog.namespaces()
        table = TableName(catalog.name, ("sale",), "orders")
        with pytest.raises(UsageError, match="no namespace"):
            catalog.register(table, catalog.locate(orders).metadata_location)
        assert catalog.tables() == [orders]
        assert catalog.namespaces() == before

    def test_a_pointer_is_swapped_only_from_what_is_expected(self, catalog: Catalog, engine: Engine, orders: TableName) -> None:
        first = engine.pointer(orders)
        engine.append(orders, 1)
        second = engine.pointer(orders)
        with pytest.raises(SourceChanged):
            catalog.replace(orders, first, expected=first)
        assert engine.pointer(orders) == second
        catalog.replace(orders, first, expected=second)
        found = catalog.locate(orders)
        assert (found.metadata_location, found.previous_location) == (first, second)
        assert engine.rows(orders) == []
        engine.append(orders, 2)
        assert engine.rows(orders) == [2]

    def test_a_pointer_whose_file_is_gone_is_replaced(self, catalog: Catalog, engine: Engine, orders: TableName) -> None:
        engine.append(orders, 1)
        found = catalog.locate(orders)
        assert found.previous_location is not None
        _local(found).unlink()
        assert catalog.locate(orders).metadata_location == found.metadata_location
        catalog.replace(orders, found.previous_location, expected=found.metadata_location)
        assert engine.pointer(orders) == found.previous_location
        assert engine.rows(orders) == []

    def test_a_table_that_cannot_be_parsed_is_located(self, catalog: Catalog, orders: TableName) -> None:
        found = catalog.locate(orders)
        _local(found).write_text('{"format-version": 99, "schemas": [{"type": "variant"')
        assert catalog.locate(orders).metadata_location == found.metadata_location
        assert catalog.tables() == [orders]
        assert set(catalog.locate_all([orders])) == {orders}


def wins(reopen: Callable[[], Catalog], table: TableName, metadata_location: str) -> bool:
    """Run in a process of its own."""
    try:
        reopen().register(table, metadata_location)
    except Busy:
        return False
    return True


def _local(pointer: Pointer) -> Path:
    return Path("/" + pointer.metadata_location.removeprefix("file:").lstrip("/"))
