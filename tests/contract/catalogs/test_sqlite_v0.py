"""A SQLite file with schema V0: what Iceberg's Java JdbcCatalog makes by default."""

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bergung.catalogs.base import Catalog
from bergung.catalogs.sql import SqlCatalog
from bergung.catalogs.sqlite import Database
from bergung.clock import SystemClock
from bergung.model.names import TableName
from tests.contract.catalogs.contract import CatalogContract
from tests.contract.catalogs.jdbc_schema import V0
from tests.contract.catalogs.pyiceberg_engine import PyIcebergEngine


class TestSqliteV0(CatalogContract):
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        path = tmp_path / "lake.db"
        with sqlite3.connect(path) as connection:
            for statement in V0.values():
                connection.execute(statement)
        return path

    @pytest.fixture
    def engine(self, file: Path, tmp_path: Path) -> PyIcebergEngine:
        return PyIcebergEngine(file, tmp_path / "warehouse")

    @pytest.fixture
    def reopen(self, file: Path) -> Callable[[], Catalog]:
        return partial(SqlCatalog, "lake", Database(file), SystemClock())

    def test_the_schema_stays_as_it_is(self, catalog: Catalog, file: Path, orders: TableName) -> None:
        catalog.register(TableName("lake", ("sales",), "ours"), catalog.locate(orders).metadata_location)
        with sqlite3.connect(file) as connection:
            assert dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")) == V0
