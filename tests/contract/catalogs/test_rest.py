"""Iceberg's own REST server, over JDBC; PyIceberg is the other program."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import pytest
import requests
from pyiceberg.catalog.rest import RestCatalog as PyIcebergCatalog

from bergung.catalogs.base import Catalog, Namespace, UnreadableEntry
from bergung.catalogs.declaration import Declaration
from bergung.catalogs.rest.catalog import open_declared
from bergung.catalogs.rest.told import TooSlow
from bergung.clock import SystemClock
from bergung.errors import BergungError, Busy, Refused, SourceChanged, UnknownTable, UsageError
from bergung.model.names import TableName
from bergung.stores.open import open_store
from tests.contract.catalogs.contract import CatalogContract, Engine, wins
from tests.contract.catalogs.pyiceberg_engine import PyIcebergEngine
from tests.servers.rest_server import RestServer


class RestEngine(PyIcebergEngine):
    """PyIceberg's RestCatalog; the server chooses where files lie."""

    def __init__(self, uri: str) -> None:
        self.catalog = PyIcebergCatalog(self.name, uri=uri)


def opened(uri: str, **properties: str) -> Catalog:
    return open_declared(Declaration("lake", {"uri": uri, **properties}, SystemClock(), open_store))


def file_of(location: str) -> Path:
    return Path("/" + location.removeprefix("file:").lstrip("/"))


class RestContract(CatalogContract):
    @pytest.fixture
    def engine(self, uri: str) -> RestEngine:
        return RestEngine(uri)

    @pytest.fixture
    def reopen(self, uri: str) -> Callable[[], Catalog]:
        return partial(opened, uri)

    @pytest.fixture
    def view(self, engine: Engine, uri: str) -> TableName:
        engine.create_namespace(("views",), {})
        name = TableName("lake", ("views",), "100% a/b")
        body = {
            "name": name.name,
            "schema": {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "one", "required": False, "type": "int"}]},
            "view-version": {
                "version-id": 1,
                "timestamp-ms": 1,
                "schema-id": 0,
                "summary": {},
                "default-namespace": ["views"],
                "representations": [{"type": "sql", "sql": "SELECT 1 AS one", "dialect": "spark"}],
            },
            "properties": {},
        }
        made = requests.post(f"{uri}/v1/namespaces/views/views", json=body, timeout=30)
        assert made.status_code == 200, made.text
        return name

    # What the protocol does not know: the pointer before, and where the file of an entry lies that it cannot read.

    def test_a_commit_of_the_engine_moves_the_pointer(self, catalog: Catalog, engine: Engine, orders: TableName) -> None:
        first = catalog.locate(orders)
        engine.append(orders, 1)
        second = catalog.locate(orders)
        assert second.metadata_location == engine.pointer(orders) != first.metadata_location
        assert (first.previous_location, second.previous_location) == (None, None)

    def test_properties_of_namespaces_go_both_ways(self, catalog: Catalog, engine: Engine) -> None:
        """The server adds where tables go."""
        engine.create_namespace(("theirs",), {"note": "grün, 100%"})
        catalog.create_namespace(Namespace(("ours", "inner"), {"note": "grün, 100%", "empty": ""}))
        found = {each.levels: dict(each.properties) for each in catalog.namespaces()}
        assert all(own.pop("location").startswith("file:/") for own in found.values())
        assert found == {
            ("theirs",): {"note": "grün, 100%"},
            ("ours",): {},
            ("ours", "inner"): {"note": "grün, 100%", "empty": ""},
        }
        assert engine.properties(("ours", "inner")).items() >= found[("ours", "inner")].items()
        engine.create_table(TableName(engine.name, ("ours", "inner"), "t"))

    def test_of_two_processes_one_registers(self, catalog: Catalog, reopen: Callable[[], Catalog], orders: TableName) -> None:
        """The server opens what is registered, so the files must be there."""
        file = file_of(catalog.locate(orders).metadata_location)
        places = [file.with_name(f"{runner}-{file.name}") for runner in range(2)]
        for place in places:
            place.write_bytes(file.read_bytes())
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            for round_ in range(5):
                table = TableName(catalog.name, orders.namespace, f"race{round_}")
                won = list(pool.map(wins, [reopen] * 2, [table] * 2, [f"file:{place}" for place in places]))
                assert sorted(won) == [False, True]
                assert catalog.locate(table).metadata_location == f"file:{places[won.index(True)]}"

    def test_a_pointer_whose_file_is_gone_is_replaced(self, catalog: Catalog, engine: Engine, orders: TableName) -> None:
        first = engine.pointer(orders)
        engine.append(orders, 1)
        second = engine.pointer(orders)
        file_of(second).unlink()
        with pytest.raises(UnreadableEntry, match="its server cannot load it") as told:
            catalog.locate(orders)
        assert file_of(second).name in told.value.message
        assert told.value.hint.endswith("bergung restore lake.sales.orders")
        assert catalog.locate_all([orders]) == {}
        assert catalog.tables() == [orders]
        self.replace_the_lost(catalog, engine, orders, (first, second))

    def replace_the_lost(self, catalog: Catalog, engine: Engine, orders: TableName, files: tuple[str, str]) -> None:
        raise NotImplementedError

    def test_a_table_that_cannot_be_parsed_is_located(self, uri: str, engine: Engine, orders: TableName) -> None:
        """Not here: the server parses it, again and again for a minute and a half. It does not hide other tables."""
        catalog = opened(uri, **{"rest.client.socket-timeout-ms": "1500"})
        healthy = TableName(engine.name, ("sales",), "healthy")
        engine.create_table(healthy)
        file_of(catalog.locate(orders).metadata_location).write_text('{"format-version": 99, "schemas": [{"type": "variant"')
        with pytest.raises(TooSlow, match="did not answer within 1.5 s") as told:
            catalog.locate(orders)
        assert "a damaged metadata file" in told.value.hint
        assert catalog.tables() == [healthy, orders]
        assert set(catalog.locate_all([orders, healthy])) == {healthy}

    def test_what_is_served_is_kept_as_it_came(self, catalog: Catalog, uri: str, orders: TableName) -> None:
        answer = requests.get(f"{uri}/v1/namespaces/sales/tables/orders", timeout=30).content
        served = catalog.locate(orders).served
        assert served is not None
        assert served.startswith(b'{"format-version":2,')
        assert served in answer

    def test_views_are_listed_and_are_no_tables(self, catalog: Catalog, orders: TableName, view: TableName) -> None:
        assert catalog.views() == [view]
        assert catalog.tables() == [orders]
        assert catalog.locate_all([view, orders]).keys() == {orders}
        for ask in (catalog.locate, lambda name: catalog.replace(name, "file:///new", expected="file:///v")):
            with pytest.raises(UnknownTable, match="is a view"):
                ask(view)
        with pytest.raises(Busy):
            catalog.register(view, catalog.locate(orders).metadata_location)

    def test_lists_come_in_pages(self, uri: str, catalog: Catalog, engine: Engine) -> None:
        for number in range(5):
            engine.create_namespace((f"n{number}",), {})
            engine.create_table(TableName("lake", ("n0",), f"t{number}"))
        small = opened(uri, **{"rest-page-size": "2"})
        assert small.tables() == catalog.tables() == [TableName("lake", ("n0",), f"t{number}") for number in range(5)]
        assert small.namespaces() == catalog.namespaces()
        assert len(small.namespaces()) == 5

    def test_a_file_that_the_server_cannot_read_is_not_registered(self, catalog: Catalog, orders: TableName) -> None:
        with pytest.raises(BergungError, match="did not register") as told:
            catalog.register(TableName("lake", ("sales",), "new"), "file:///nowhere/v1.metadata.json")
        assert "the server can read file:///nowhere/v1.metadata.json" in told.value.hint
        assert catalog.tables() == [orders]

    def test_what_the_server_itself_says_of_what_is_not_there(self, uri: str, catalog: Catalog, orders: TableName) -> None:
        """The reasons why we list before we believe a 404, and ask for a namespace before we register."""
        location = catalog.locate(orders).metadata_location
        body = {"name": "t", "metadata-location": location}
        assert requests.post(f"{uri}/v1/namespaces/nowhere/register", json=body, timeout=30).status_code == 200
        assert ("nowhere",) in {each.levels for each in catalog.namespaces()}
        file_of(location).unlink()
        assert requests.head(f"{uri}/v1/namespaces/sales/tables/orders", timeout=30).status_code == 404
        assert orders in catalog.tables()

    def test_a_table_without_a_namespace_is_told(self, catalog: Catalog, orders: TableName) -> None:
        with pytest.raises(UsageError, match="no namespace lake"):
            catalog.register(TableName("lake", (), "orders"), catalog.locate(orders).metadata_location)


class TestRest(RestContract):
    """A server that registers over an entry."""

    @pytest.fixture
    def uri(self, rest: RestServer) -> str:
        return rest.catalog("swap")

    def test_a_pointer_is_swapped_only_from_what_is_expected(self, catalog: Catalog, engine: Engine, orders: TableName) -> None:
        first = engine.pointer(orders)
        engine.append(orders, 1)
        second = engine.pointer(orders)
        with pytest.raises(SourceChanged):
            catalog.replace(orders, first, expected=first)
        assert engine.pointer(orders) == second
        catalog.replace(orders, first, expected=second)
        assert catalog.locate(orders).metadata_location == first
        assert engine.rows(orders) == []
        engine.append(orders, 2)
        assert engine.rows(orders) == [2]

    def replace_the_lost(self, catalog: Catalog, engine: Engine, orders: TableName, files: tuple[str, str]) -> None:
        catalog.replace(orders, files[0], expected=files[1])
        assert engine.pointer(orders) == files[0]
        assert engine.rows(orders) == []


class TestRestWithoutOverwrite(RestContract):
    """A server that does not: it says so, and nothing is dropped."""

    @pytest.fixture
    def uri(self, rest: RestServer) -> str:
        return rest.catalog("plain")

    def test_a_pointer_is_swapped_only_from_what_is_expected(self, catalog: Catalog, engine: Engine, orders: TableName) -> None:
        first = engine.pointer(orders)
        engine.append(orders, 1)
        second = engine.pointer(orders)
        with pytest.raises(SourceChanged):
            catalog.replace(orders, first, expected=first)
        with pytest.raises(Refused, match="cannot point lake.sales.orders elsewhere in place .406") as told:
            catalog.replace(orders, first, expected=second)
        assert "no PURGE" in told.value.hint
        assert engine.pointer(orders) == second
        assert engine.rows(orders) == [1]

    def replace_the_lost(self, catalog: Catalog, engine: Engine, orders: TableName, files: tuple[str, str]) -> None:
        with pytest.raises(Refused):
            catalog.replace(orders, files[0], expected=files[1])
        assert catalog.tables() == [orders]
