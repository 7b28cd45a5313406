"""PostgreSQL, shared with PyIceberg's SqlCatalog and Iceberg's Java JdbcCatalog."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from functools import cached_property, partial
from pathlib import Path

import pytest
from pyiceberg.catalog import Catalog as TheirCatalog
from pyiceberg.catalog.sql import SqlCatalog as TheirSqlCatalog

from bergung.catalogs.base import Catalog, Namespace
from bergung.catalogs.postgres import database
from bergung.catalogs.sql import SqlCatalog
from bergung.clock import SystemClock
from bergung.errors import BergungError, Busy, SourceChanged, UnknownTable, UsageError
from bergung.model.names import TableName
from tests.contract.catalogs.contract import CatalogContract
from tests.contract.catalogs.java_beside import JavaBeside, JavaProcess
from tests.contract.catalogs.java_engine import on_postgres
from tests.contract.catalogs.pyiceberg_engine import PyIcebergEngine
from tests.servers.postgres import Postgres


def opened(name: str, uri: str) -> Catalog:
    return SqlCatalog(name, database(uri), SystemClock())


@pytest.fixture
def server(postgres_server: Postgres) -> Postgres:
    return postgres_server.new()


class TestPostgresOfPyIceberg(CatalogContract):
    @pytest.fixture
    def engine(self, server: Postgres, tmp_path: Path) -> PyIcebergEngine:
        return PyIcebergEngine(server.uri, tmp_path / "warehouse")

    @pytest.fixture
    def reopen(self, server: Postgres, engine: PyIcebergEngine) -> Callable[[], Catalog]:
        return partial(opened, "lake", server.uri)

    def test_our_row_is_the_row_that_pyiceberg_writes(self, catalog: Catalog, server: Postgres, orders: TableName) -> None:
        catalog.register(TableName("lake", ("sales",), "ours"), catalog.locate(orders).metadata_location)
        rows = server.execute("SELECT to_jsonb(t) - 'table_name' FROM iceberg_tables t")
        assert len(rows) == 2
        assert rows[0] == rows[1]

    def test_a_view_is_no_table(self, catalog: Catalog, server: Postgres, orders: TableName) -> None:
        view = TableName("lake", ("sales",), "view")
        server.execute("INSERT INTO iceberg_tables VALUES ('lake', 'sales', 'view', 'file:///v', NULL, 'VIEW')")
        assert catalog.tables() == [orders]
        assert catalog.views() == [view]
        assert catalog.locate_all([view, orders]).keys() == {orders}
        with pytest.raises(UnknownTable, match="is a view"):
            catalog.replace(view, "file:///new", expected="file:///v")
        with pytest.raises(Busy):
            catalog.register(view, "file:///new")

    def test_an_entry_that_names_no_file_is_told(self, catalog: Catalog, server: Postgres, orders: TableName) -> None:
        server.execute("UPDATE iceberg_tables SET metadata_location = NULL")
        assert catalog.tables() == [orders]
        assert catalog.locate_all([orders]) == {}
        with pytest.raises(BergungError, match="names no metadata file"):
            catalog.locate(orders)

    def test_catalogs_that_share_a_database_are_apart(self, server: Postgres, orders: TableName) -> None:
        other = opened("Lake", server.uri)
        assert other.tables() == []
        with pytest.raises(UnknownTable, match="nothing of a catalog named Lake") as told:
            other.locate(TableName("Lake", ("sales",), "orders"))
        assert "entries of lake" in told.value.hint

    def test_a_commit_that_is_under_way_is_waited_for_and_seen(
        self, catalog: Catalog, server: Postgres, orders: TableName, engine: PyIcebergEngine
    ) -> None:
        """Both had read the same pointer; the other's transaction ends first."""
        first = engine.pointer(orders)
        with ThreadPoolExecutor(1) as pool, closing(server.connect()) as connection:
            cursor = connection.cursor()
            cursor.execute(
                "UPDATE iceberg_tables SET metadata_location = 'file:///theirs', previous_metadata_location = %s", [first]
            )
            ours = pool.submit(catalog.replace, orders, "file:///ours", expected=first)
            with pytest.raises(TimeoutError):
                ours.result(timeout=0.5)
            connection.commit()
            with pytest.raises(SourceChanged, match="was committed meanwhile"):
                ours.result()
        found = catalog.locate(orders)
        assert (found.metadata_location, found.previous_location) == ("file:///theirs", first)

    def test_paths_longer_than_the_columns_are_told(self, catalog: Catalog, orders: TableName) -> None:
        """SQLite takes them; PostgreSQL means the length that it is told."""
        location = catalog.locate(orders).metadata_location
        long = "file:///" + "x" * 1000
        with pytest.raises(UsageError, match="too long") as told:
            catalog.register(TableName("lake", ("sales",), "long"), long)
        assert "1000" in told.value.hint
        with pytest.raises(UsageError, match="too long"):
            catalog.replace(orders, long, expected=location)
        assert catalog.locate(orders).metadata_location == location


class TestPostgresOfJavaV1(CatalogContract):
    @pytest.fixture
    def engine(self, java: JavaProcess, server: Postgres, tmp_path: Path) -> JavaBeside:
        engine = java.engine(on_postgres(server, tmp_path / "warehouse", "V1"))
        # The catalog makes its tables when it is first used.
        engine.sql(f"SHOW NAMESPACES IN {engine.name}")
        return engine

    @pytest.fixture
    def reopen(self, server: Postgres, engine: JavaBeside) -> Callable[[], Catalog]:
        return partial(opened, engine.name, server.uri)

    def test_the_row_that_we_write_is_the_row_that_java_writes(
        self, catalog: Catalog, engine: JavaBeside, server: Postgres, orders: TableName
    ) -> None:
        catalog.register(TableName(engine.name, ("sales",), "ours"), engine.pointer(orders))
        rows = server.execute("SELECT to_jsonb(t) - 'table_name' FROM iceberg_tables t")
        assert len(rows) == 2
        assert rows[0] == rows[1]

    def test_a_view_is_no_table(self, catalog: Catalog, engine: JavaBeside, orders: TableName) -> None:
        engine.sql(f"CREATE VIEW {engine.name}.sales.view AS SELECT value FROM {orders}")
        view = TableName(engine.name, ("sales",), "view")
        assert catalog.tables() == [orders]
        assert catalog.views() == [view]
        with pytest.raises(UnknownTable, match="is a view"):
            catalog.locate(view)

    def test_pyiceberg_java_and_we_share_one_database(
        self, catalog: Catalog, engine: JavaBeside, server: Postgres, orders: TableName
    ) -> None:
        engine.append(orders, 1)
        ours = TableName(engine.name, ("sales",), "ours")
        catalog.register(ours, engine.pointer(orders))
        table = TheirSqlCatalog(engine.name, uri=server.uri).load_table(("sales", "ours"))
        table.append(table.scan().to_arrow())
        assert engine.rows(ours) == [1, 1]
        assert catalog.locate(ours).metadata_location == engine.pointer(ours)


class TestPostgresOfJavaV0(TestPostgresOfJavaV1):
    """Java's default: the schema without types, which has no views."""

    @pytest.fixture
    def engine(self, java: JavaProcess, server: Postgres, tmp_path: Path) -> JavaBeside:
        engine = java.engine(on_postgres(server, tmp_path / "warehouse", "V0"))
        engine.sql(f"SHOW NAMESPACES IN {engine.name}")
        return engine

    def test_a_view_is_no_table(self, catalog: Catalog, engine: JavaBeside, orders: TableName) -> None:
        assert "jdbc.schema-version=V1" in engine.refused(f"CREATE VIEW {engine.name}.sales.view AS SELECT value FROM {orders}")
        assert catalog.views() == []
        assert catalog.tables() == [orders]

    def test_the_schema_stays_as_it_is(self, catalog: Catalog, engine: JavaBeside, server: Postgres, orders: TableName) -> None:
        catalog.register(TableName(engine.name, ("sales",), "ours"), engine.pointer(orders))
        found = server.execute("SELECT column_name FROM information_schema.columns WHERE table_name = 'iceberg_tables'")
        assert ("iceberg_type",) not in found
        assert len(found) == 5


class LateEngine(PyIcebergEngine):
    """Opens the catalog at its first use, and must find the tables then."""

    def __init__(self, uri: str, warehouse: Path) -> None:
        self._places = uri, warehouse

    @cached_property
    def catalog(self) -> TheirCatalog:
        uri, warehouse = self._places
        opened(self.name, uri).create_namespace(Namespace((), {}))
        return TheirSqlCatalog(self.name, uri=uri, warehouse=f"file://{warehouse}", init_catalog_tables="false")


class TestEmptyDatabase(CatalogContract):
    """The tables in it are made by us, PyIceberg comes later."""

    @pytest.fixture
    def engine(self, server: Postgres, tmp_path: Path) -> LateEngine:
        return LateEngine(server.uri, tmp_path / "warehouse")

    @pytest.fixture
    def reopen(self, server: Postgres) -> Callable[[], Catalog]:
        return partial(opened, "lake", server.uri)

    def test_our_tables_are_those_of_pyiceberg(self, catalog: Catalog, server: Postgres, tmp_path: Path) -> None:
        catalog.create_namespace(Namespace(("sales",), {}))
        theirs = server.new()
        PyIcebergEngine(theirs.uri, tmp_path / "warehouse").create_namespace(("sales",), {})
        assert _everything(server) == _everything(theirs)

    def test_two_processes_make_the_tables_at_once(self, server: Postgres) -> None:
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            for _ in range(5):
                fresh = server.new()
                for done in [pool.submit(make_namespace, fresh.uri, name) for name in ("a", "b")]:
                    done.result()
                assert [each.levels for each in opened("lake", fresh.uri).namespaces()] == [("a",), ("b",)]

    def test_reading_makes_nothing(self, catalog: Catalog, server: Postgres) -> None:
        assert catalog.tables() == []
        assert catalog.namespaces() == []
        with pytest.raises(UnknownTable, match="holds no SQL catalog"):
            catalog.locate(TableName("lake", ("sales",), "orders"))
        assert server.execute("SELECT relname FROM pg_class WHERE relname LIKE 'iceberg%'") == []


def make_namespace(uri: str, name: str) -> None:
    """Run in a process of its own."""
    opened("lake", uri).create_namespace(Namespace((name,), {}))


def _everything(server: Postgres) -> list[object]:
    columns = (
        "SELECT table_name, column_name, ordinal_position, data_type, character_maximum_length, is_nullable, column_default"
        " FROM information_schema.columns WHERE table_name LIKE 'iceberg%' ORDER BY 1, 3"
    )
    keys = "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conname LIKE 'iceberg%' ORDER BY 1"
    return [server.execute(columns), server.execute(keys), server.execute("SELECT * FROM iceberg_namespace_properties")]
