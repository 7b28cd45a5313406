"""A SQLite file that PyIceberg made: schema V1."""

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bergung.catalogs.base import Catalog, Namespace
from bergung.catalogs.sql import SqlCatalog
from bergung.catalogs.sqlite import Database
from bergung.clock import SystemClock
from bergung.errors import BergungError, Busy, UnknownTable
from bergung.model.names import TableName
from tests.contract.catalogs.contract import CatalogContract
from tests.contract.catalogs.pyiceberg_engine import PyIcebergEngine


class TestSqliteOfPyIceberg(CatalogContract):
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        return tmp_path / "lake.db"

    @pytest.fixture
    def engine(self, file: Path, tmp_path: Path) -> PyIcebergEngine:
        return PyIcebergEngine(file, tmp_path / "warehouse")

    @pytest.fixture
    def reopen(self, file: Path, engine: PyIcebergEngine) -> Callable[[], Catalog]:
        return partial(SqlCatalog, "lake", Database(file), SystemClock())

    def test_our_row_is_the_row_that_pyiceberg_writes(self, catalog: Catalog, file: Path, orders: TableName) -> None:
        location = catalog.locate(orders).metadata_location
        catalog.register(TableName("lake", ("sales",), "ours"), location)
        with sqlite3.connect(file) as connection:
            rows = dict(connection.execute("SELECT table_name, json_array(i.catalog_name, table_namespace,"
                                           " metadata_location, previous_metadata_location, iceberg_type)"
                                           " FROM iceberg_tables i"))  # fmt: skip
        assert rows["ours"] == rows["orders"]

    def test_a_view_is_no_table_and_keeps_its_name(self, catalog: Catalog, file: Path, orders: TableName) -> None:
        view = TableName("lake", ("sales",), "view")
        with sqlite3.connect(file) as connection:
            connection.execute("INSERT INTO iceberg_tables VALUES ('lake', 'sales', 'view', 'file:///v', NULL, 'VIEW')")
            connection.execute("INSERT INTO iceberg_tables VALUES ('lake', 'views', 'only', 'file:///v', NULL, 'VIEW')")
        assert catalog.tables() == [orders]
        assert catalog.views() == [view, TableName("lake", ("views",), "only")]
        assert catalog.locate_all([view]) == {}
        assert [each.levels for each in catalog.namespaces()] == [("sales",), ("views",)]
        with pytest.raises(UnknownTable, match="is a view"):
            catalog.locate(view)
        with pytest.raises(UnknownTable, match="is a view"):
            catalog.replace(view, "file:///new", expected="file:///v")
        with pytest.raises(Busy):
            catalog.register(view, "file:///new")

    def test_an_entry_without_a_type_is_a_table(self, catalog: Catalog, file: Path, orders: TableName) -> None:
        with sqlite3.connect(file) as connection:
            connection.execute("UPDATE iceberg_tables SET iceberg_type = NULL")
        assert catalog.tables() == [orders]
        assert catalog.locate(orders).table == orders

    def test_an_entry_that_names_no_file_is_told(self, catalog: Catalog, file: Path, orders: TableName) -> None:
        with sqlite3.connect(file) as connection:
            connection.execute("UPDATE iceberg_tables SET metadata_location = NULL")
        assert catalog.tables() == [orders]
        assert catalog.locate_all([orders]) == {}
        with pytest.raises(BergungError, match="names no metadata file"):
            catalog.locate(orders)

    def test_catalogs_that_share_a_file_are_apart(self, catalog: Catalog, file: Path, orders: TableName) -> None:
        other = SqlCatalog("Lake", Database(file), SystemClock())
        assert other.tables() == []
        assert other.namespaces() == []
        with pytest.raises(UnknownTable, match="nothing of a catalog named Lake") as told:
            other.locate(TableName("Lake", ("sales",), "orders"))
        assert "entries of lake" in told.value.hint

    def test_a_namespace_can_be_there_by_its_tables_alone(self, catalog: Catalog, file: Path, orders: TableName) -> None:
        """Java asks for no namespace when it makes a table."""
        with sqlite3.connect(file) as connection:
            connection.execute("DELETE FROM iceberg_namespace_properties")
        assert catalog.namespaces() == [Namespace(("sales",), {})]
        catalog.create_namespace(Namespace(("sales",), {"k": "v"}))
        assert catalog.namespaces() == [Namespace(("sales",), {})]
        copy = TableName("lake", ("sales",), "copy")
        catalog.register(copy, catalog.locate(orders).metadata_location)
        assert catalog.tables() == [copy, orders]

    def test_a_table_of_the_two_that_is_missing_is_made(self, catalog: Catalog, file: Path, orders: TableName) -> None:
        with sqlite3.connect(file) as connection:
            connection.execute("DROP TABLE iceberg_namespace_properties")
        assert catalog.namespaces() == [Namespace(("sales",), {})]
        catalog.create_namespace(Namespace(("ours",), {}))
        assert catalog.namespaces() == [Namespace(("ours",), {}), Namespace(("sales",), {})]
        assert catalog.tables() == [orders]
