"""Hive Metastore 3.1.3, shared with PyIceberg's HiveCatalog and Iceberg's Java HiveCatalog.

What a metastore cannot hold is told: its namespaces have one level, its names are lower case, letters, digits and `_`.
"""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hive_metastore.ttypes import (
    EnvironmentContext,
    FieldSchema,
    LockComponent,
    LockLevel,
    LockRequest,
    LockType,
    SerDeInfo,
    ShowLocksRequest,
    StorageDescriptor,
    Table,
    UnlockRequest,
)
from pyiceberg.catalog.hive import HiveCatalog as TheirCatalog
from thrift.Thrift import TApplicationException

from bergung.catalogs.base import Catalog, Namespace
from bergung.catalogs.declaration import Declaration
from bergung.catalogs.hive import HiveCatalog, open_declared
from bergung.catalogs.hive_client import metastore
from bergung.clock import SystemClock
from bergung.errors import BergungError, Busy, CorruptFile, MissingObject, SourceChanged, UnknownTable, UsageError
from bergung.model.names import TableName
from bergung.stores.open import open_store
from tests.contract.catalogs.contract import ODD, CatalogContract, Engine, wins
from tests.contract.catalogs.java_beside import JavaBeside, JavaProcess
from tests.contract.catalogs.pyiceberg_engine import PyIcebergEngine
from tests.servers.hive import emptied

FIT = ["under_score", "upper", "0", "_", "a" * 128]
"""Names that a metastore takes."""


def declared(name: str, uri: str) -> Declaration:
    return Declaration(name, {"uri": uri}, SystemClock(), open_store)


def opened(name: str, uri: str) -> Catalog:
    return open_declared(declared(name, uri))


@contextmanager
def client(uri: str) -> Iterator[Any]:
    with metastore({"uri": uri}).asked() as found:
        yield found


@pytest.fixture
def uri(hive_server: str) -> str:
    emptied(hive_server)
    return hive_server


class HiveContract(CatalogContract):
    """Where it differs from other catalogs."""

    def test_an_empty_catalog_has_nothing(self, catalog: Catalog) -> None:
        assert catalog.tables() == []
        assert catalog.views() == []
        assert [each.levels for each in catalog.namespaces()] == [("default",)]
        assert catalog.locate_all([TableName(catalog.name, ("sales",), "orders")]) == {}

    def test_odd_names_are_listed_located_and_registered(self, catalog: Catalog, engine: Engine, orders: TableName) -> None:
        fit = [TableName(engine.name, ("sales",), name) for name in FIT]
        for table in fit:
            engine.create_table(table)
        assert catalog.tables() == sorted([orders, *fit])
        assert [catalog.locate(table).metadata_location for table in fit] == [engine.pointer(table) for table in fit]
        location = engine.pointer(orders)
        for name in FIT:
            catalog.create_namespace(Namespace((name,), {}))
            copy = TableName(engine.name, (name,), name)
            catalog.register(copy, location)
            assert engine.pointer(copy) == catalog.locate(copy).metadata_location == location
        self.odd_names_are_refused_before_anything_is_made(catalog, location)

    def odd_names_are_refused_before_anything_is_made(self, catalog: Catalog, location: str) -> None:
        before = catalog.tables(), catalog.namespaces()
        for name in set(ODD) - set(FIT) - {"underXscore"}:
            odd = TableName(catalog.name, ("sales",), name)
            with pytest.raises(UsageError, match="cannot hold") as told:
                catalog.register(odd, location)
            assert told.value.hint
            with pytest.raises(UsageError, match="cannot hold"):
                catalog.create_namespace(Namespace((name,), {}))
            with pytest.raises(UnknownTable):
                catalog.locate(odd)
            assert catalog.locate_all([odd, TableName(catalog.name, (name,), "t")]) == {}
        assert (catalog.tables(), catalog.namespaces()) == before

    def test_upper_case_is_refused_and_never_taken_for_lower_case(self, catalog: Catalog, orders: TableName) -> None:
        upper = TableName(catalog.name, ("sales",), "Orders")
        location = catalog.locate(orders).metadata_location
        with pytest.raises(UnknownTable, match=r"no table lake\w*.sales.Orders") as told:
            catalog.locate(upper)
        assert told.value.hint.endswith(f"{catalog.name}.sales.orders")
        with pytest.raises(UnknownTable):
            catalog.replace(upper, location, expected=location)
        assert catalog.locate_all([upper]) == {}
        for table in (TableName(catalog.name, ("sales",), "Copy"), TableName(catalog.name, ("Sales",), "copy")):
            with pytest.raises(UsageError, match="cannot hold") as refused:
                catalog.register(table, location)
            assert "lower case" in refused.value.hint
        assert catalog.tables() == [orders]

    def test_namespaces_of_three_levels_and_their_parents(self, catalog: Catalog, engine: Engine) -> None:
        deep = TableName(engine.name, ("a", "b"), "deep")
        with pytest.raises(UsageError, match="cannot hold a.b") as told:
            catalog.create_namespace(Namespace(("a", "b"), {}))
        assert "one level" in told.value.hint
        with pytest.raises(UsageError, match="cannot hold a.b.deep"):
            catalog.register(deep, "file:///x/v1.metadata.json")
        with pytest.raises(UnknownTable) as unknown:
            catalog.locate(deep)
        assert "one level" in unknown.value.hint
        assert catalog.locate_all([deep]) == {}
        assert [each.levels for each in catalog.namespaces()] == [("default",)]

    def test_properties_of_namespaces_go_both_ways(self, catalog: Catalog, engine: Engine) -> None:
        engine.create_namespace(("theirs",), {"note": "grün, 100%", "comment": "ours to read"})
        catalog.create_namespace(Namespace(("ours",), {"note": "grün, 100%", "empty": "", "comment": "theirs to read"}))
        found = {each.levels: each.properties for each in catalog.namespaces()}
        assert found[("theirs",)].items() >= {"note": "grün, 100%", "comment": "ours to read"}.items()
        assert found[("ours",)].items() >= {"note": "grün, 100%", "empty": "", "comment": "theirs to read"}.items()
        assert found[("ours",)]["location"].endswith("/ours.db")
        assert engine.properties(("ours",)).items() >= {"note": "grün, 100%", "comment": "theirs to read"}.items()
        engine.create_table(TableName(engine.name, ("ours",), "t"))

    def test_a_namespace_comes_back_as_it_was(self, catalog: Catalog, uri: str, tmp_path: Path) -> None:
        own = {"location": tmp_path.as_uri(), "comment": "c", "k": "v"}
        owner = {"hive.metastore.database.owner": "anna", "hive.metastore.database.owner-type": "GROUP"}
        catalog.create_namespace(Namespace(("ours",), {**own, **owner}))
        found = next(each for each in catalog.namespaces() if each.levels == ("ours",))
        # The metastore has its own way to write a path.
        assert found.properties == {**own, **owner, "location": found.properties["location"]}
        assert found.properties["location"].endswith(str(tmp_path))

    def test_what_we_register_the_engine_reads_and_writes(self, catalog: Catalog, engine: Engine, orders: TableName) -> None:
        engine.append(orders, 7)
        copy = TableName(engine.name, ("back",), "orders")
        catalog.create_namespace(Namespace(copy.namespace, {}))
        catalog.register(copy, engine.pointer(orders))
        assert catalog.locate(copy).previous_location is None
        assert copy in catalog.tables()
        assert engine.tables(copy.namespace) == {"orders"}
        assert engine.rows(copy) == [7]
        engine.append(copy, 8)
        assert engine.rows(copy) == [7, 8]
        assert catalog.locate(copy).metadata_location == engine.pointer(copy)

    def test_of_two_processes_one_registers(self, catalog: Catalog, reopen: Callable[[], Catalog], orders: TableName) -> None:
        """From real files: the columns of an entry come from there."""
        original = Path("/" + catalog.locate(orders).metadata_location.removeprefix("file:").lstrip("/"))
        places = [original.with_name(f"{runner}-{original.name}") for runner in range(2)]
        for place in places:
            place.write_bytes(original.read_bytes())
        uris = [place.as_uri() for place in places]
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            for round_ in range(5):
                table = TableName(catalog.name, orders.namespace, f"race{round_}")
                won = list(pool.map(wins, [reopen] * 2, [table] * 2, uris))
                assert sorted(won) == [False, True]
                assert catalog.locate(table).metadata_location == uris[won.index(True)]


class HiveEngine(PyIcebergEngine):
    """PyIceberg's HiveCatalog."""

    def __init__(self, uri: str, warehouse: Path) -> None:
        self.catalog = TheirCatalog(self.name, uri=uri, warehouse=f"file://{warehouse}")


class TestHiveOfPyIceberg(HiveContract):
    @pytest.fixture
    def engine(self, uri: str, tmp_path: Path) -> HiveEngine:
        return HiveEngine(uri, tmp_path / "warehouse")

    @pytest.fixture
    def reopen(self, uri: str) -> Callable[[], Catalog]:
        return partial(opened, "lake", uri)

    def test_our_entry_is_the_entry_that_pyiceberg_writes(
        self, catalog: Catalog, engine: HiveEngine, uri: str, orders: TableName
    ) -> None:
        catalog.register(TableName("lake", ("sales",), "ours"), engine.pointer(orders))
        with client(uri) as asked:
            ours, theirs = (asked.get_table("sales", name) for name in ("ours", "orders"))
        assert ours.sd == theirs.sd
        assert (ours.tableType, ours.owner, ours.partitionKeys) == (theirs.tableType, theirs.owner, theirs.partitionKeys)
        common = {"EXTERNAL", "table_type", "metadata_location"}
        assert common <= ours.parameters.keys() <= theirs.parameters.keys() | common
        assert {key: ours.parameters[key] for key in common} == {key: theirs.parameters[key] for key in common}

    def test_only_the_pointer_of_an_entry_is_swapped(
        self, catalog: Catalog, engine: HiveEngine, uri: str, orders: TableName
    ) -> None:
        first = engine.pointer(orders)
        engine.append(orders, 1)
        second = engine.pointer(orders)
        with client(uri) as asked:
            entry = asked.get_table("sales", "orders")
            entry.parameters["theirs"] = "stays"
            entry.sd.cols.append(FieldSchema("theirs", "string", "stays too"))
            asked.alter_table("sales", "orders", entry)
            before = asked.get_table("sales", "orders")
            catalog.replace(orders, first, expected=second)
            after = asked.get_table("sales", "orders")
        moved = {"metadata_location": first, "previous_metadata_location": second}
        kept = {key: value for key, value in before.parameters.items() if key != "transient_lastDdlTime"}
        assert {key: value for key, value in after.parameters.items() if key != "transient_lastDdlTime"} == {**kept, **moved}
        assert after.sd == before.sd
        assert after.owner == before.owner

    def test_what_is_not_of_iceberg_is_passed_over(self, catalog: Catalog, engine: HiveEngine, uri: str, orders: TableName) -> None:
        plain(uri, "plain", {})
        plain(uri, "transactional", {"transactional": "true", "transactional_properties": "insert_only"}, "MANAGED_TABLE")
        # One such table makes the metastore refuse a whole list to clients that do not say they know it.
        with pytest.raises(TApplicationException, match="Internal error"):
            engine.tables(("sales",))
        plain(uri, "lower", {"table_type": "iceberg", "metadata_location": "file:///v1.metadata.json"})
        lower = TableName("lake", ("sales",), "lower")
        assert catalog.tables() == [lower, orders]
        for name in ("plain", "transactional"):
            table = TableName("lake", ("sales",), name)
            with pytest.raises(UnknownTable, match="is a table of Hive's own"):
                catalog.locate(table)
            with pytest.raises(UnknownTable, match="is a table of Hive's own"):
                catalog.replace(table, "file:///new", expected="file:///old")
            with pytest.raises(Busy):
                catalog.register(table, "file:///new")
            assert catalog.locate_all([table, lower]).keys() == {lower}

    def test_views_are_no_tables(self, catalog: Catalog, uri: str, orders: TableName) -> None:
        plain(uri, "hives", {}, "VIRTUAL_VIEW")
        plain(uri, "icebergs", {"table_type": "ICEBERG-VIEW", "metadata_location": "file:///v"}, "VIRTUAL_VIEW")
        views = [TableName("lake", ("sales",), name) for name in ("hives", "icebergs")]
        assert catalog.views() == views
        assert catalog.tables() == [orders]
        assert catalog.locate_all([*views, orders]).keys() == {orders}
        for view in views:
            with pytest.raises(UnknownTable, match="is a view"):
                catalog.locate(view)
            with pytest.raises(Busy):
                catalog.register(view, "file:///new")

    def test_an_entry_that_names_no_file_is_told(self, catalog: Catalog, uri: str, orders: TableName) -> None:
        plain(uri, "nothing", {"table_type": "ICEBERG"})
        nothing = TableName("lake", ("sales",), "nothing")
        assert catalog.tables() == [nothing, orders]
        assert catalog.locate_all([nothing]) == {}
        with pytest.raises(BergungError, match="names no metadata file"):
            catalog.locate(nothing)

    def test_a_lock_of_another_program_is_waited_for_then_told(
        self, catalog: Catalog, engine: HiveEngine, uri: str, orders: TableName
    ) -> None:
        first = engine.pointer(orders)
        engine.append(orders, 1)
        second = engine.pointer(orders)
        hasty = HiveCatalog(declared("lake", uri), metastore({"uri": uri}), lock_seconds=0.3)
        with client(uri) as asked:
            part = LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, "sales", tablename="orders", isTransactional=True)
            lock = asked.lock(LockRequest([part], user="anna", hostname="there"))
            with pytest.raises(Busy, match="lock on lake.sales.orders is held"):
                hasty.replace(orders, first, expected=second)
            assert engine.pointer(orders) == second
            asked.unlock(UnlockRequest(lock.lockid))
            # The one that we asked for and did not get must not stand in anybody's way.
            assert asked.show_locks(ShowLocksRequest()).locks == []
        hasty.replace(orders, first, expected=second)
        assert engine.pointer(orders) == first
        engine.append(orders, 2)

    def test_a_commit_that_is_under_way_is_waited_for_and_seen(
        self, catalog: Catalog, engine: HiveEngine, uri: str, orders: TableName
    ) -> None:
        """Both had read the same pointer; the other has the lock and swaps first."""
        first = engine.pointer(orders)
        with client(uri) as asked, ThreadPoolExecutor(1) as pool:
            part = LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, "sales", tablename="orders", isTransactional=True)
            lock = asked.lock(LockRequest([part], user="anna", hostname="there"))
            ours = pool.submit(catalog.replace, orders, "file:///ours", expected=first)
            with pytest.raises(TimeoutError):
                ours.result(timeout=0.5)
            point_to(asked, "file:///theirs")
            asked.unlock(UnlockRequest(lock.lockid))
            with pytest.raises(SourceChanged, match="was committed meanwhile"):
                ours.result()
        assert catalog.locate(orders).metadata_location == "file:///theirs"

    def test_this_metastore_does_not_check_the_pointer_itself(self, catalog: Catalog, uri: str, orders: TableName) -> None:
        """So the lock is what holds: 3.1.3 passes over what newer ones look at."""
        with client(uri) as asked:
            point_to(asked, "file:///theirs", {"expected_parameter_key": "metadata_location", "expected_parameter_value": "other"})
        assert catalog.locate(orders).metadata_location == "file:///theirs"

    def test_a_table_of_engines_without_locks_is_swapped_without(
        self, catalog: Catalog, engine: HiveEngine, uri: str, orders: TableName
    ) -> None:
        first = engine.pointer(orders)
        engine.append(orders, 1)
        second = engine.pointer(orders)
        with client(uri) as asked:
            entry = asked.get_table("sales", "orders")
            entry.parameters["engine.hive.lock-enabled"] = "false"
            asked.alter_table("sales", "orders", entry)
            part = LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, "sales", tablename="orders", isTransactional=True)
            lock = asked.lock(LockRequest([part], user="anna", hostname="there"))
            with pytest.raises(SourceChanged):
                catalog.replace(orders, second, expected=first)
            catalog.replace(orders, first, expected=second)
            asked.unlock(UnlockRequest(lock.lockid))
        assert engine.pointer(orders) == first

    def test_a_file_that_cannot_be_read_is_not_registered(self, catalog: Catalog, orders: TableName, tmp_path: Path) -> None:
        table = TableName("lake", ("sales",), "ours")
        with pytest.raises(MissingObject):
            catalog.register(table, (tmp_path / "gone.metadata.json").as_uri())
        (tmp_path / "broken.metadata.json").write_text('{"schemas": [')
        with pytest.raises(CorruptFile, match="not a metadata file"):
            catalog.register(table, (tmp_path / "broken.metadata.json").as_uri())
        assert catalog.tables() == [orders]

    @pytest.mark.nightly
    def test_a_thousand_tables_are_listed_and_located(self, catalog: Catalog, uri: str, orders: TableName) -> None:
        with client(uri) as asked:
            for number in range(600):
                asked.create_table(entry_of(f"t{number}", {"table_type": "ICEBERG", "metadata_location": f"file:///{number}"}))
        tables = catalog.tables()
        assert len(tables) == 601
        assert len(catalog.locate_all(tables)) == 601


def point_to(asked: Any, location: str, checked: dict[str, str] | None = None) -> None:
    entry = asked.get_table("sales", "orders")
    entry.parameters["metadata_location"] = location
    asked.alter_table_with_environment_context("sales", "orders", entry, EnvironmentContext(checked or {}))


def plain(uri: str, name: str, parameters: dict[str, str], kind: str = "EXTERNAL_TABLE") -> None:
    with client(uri) as asked:
        asked.create_table(entry_of(name, parameters, kind))


def entry_of(name: str, parameters: dict[str, str], kind: str = "EXTERNAL_TABLE") -> Table:
    place = StorageDescriptor([FieldSchema("value", "bigint", None)], serdeInfo=SerDeInfo())
    text = "SELECT 1" if kind == "VIRTUAL_VIEW" else None
    return Table(
        name,
        "sales",
        sd=place,
        partitionKeys=[],
        parameters=parameters,
        tableType=kind,
        viewOriginalText=text,
        viewExpandedText=text,
    )


@pytest.mark.nightly
class TestHiveOfJava(HiveContract):
    @pytest.fixture
    def engine(self, java: JavaProcess, uri: str, tmp_path: Path) -> JavaBeside:
        return java.engine({"type": "hive", "uri": uri, "warehouse": (tmp_path / "warehouse").as_uri()})

    @pytest.fixture
    def reopen(self, uri: str, engine: JavaBeside) -> Callable[[], Catalog]:
        return partial(opened, engine.name, uri)

    def test_our_entry_is_the_entry_that_java_writes(
        self, catalog: Catalog, engine: JavaBeside, uri: str, orders: TableName
    ) -> None:
        catalog.register(TableName(engine.name, ("sales",), "ours"), engine.pointer(orders))
        with client(uri) as asked:
            ours, theirs = (asked.get_table("sales", name) for name in ("ours", "orders"))
        assert ours.sd == theirs.sd
        assert (ours.tableType, ours.owner, ours.partitionKeys) == (theirs.tableType, theirs.owner, theirs.partitionKeys)
        common = {"EXTERNAL", "table_type", "metadata_location"}
        assert {key: ours.parameters[key] for key in common} == {key: theirs.parameters[key] for key in common}

    def test_a_view_of_java_is_a_view(self, catalog: Catalog, engine: JavaBeside, orders: TableName) -> None:
        engine.sql(f"CREATE VIEW {engine.name}.sales.view AS SELECT value FROM {orders}")
        assert catalog.views() == [TableName(engine.name, ("sales",), "view")]
        assert catalog.tables() == [orders]
