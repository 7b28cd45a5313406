"""A new, empty file: the tables in it are made by us, PyIceberg comes later."""

import multiprocessing
import sqlite3
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cached_property, partial
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog as TheirCatalog

from bergung.catalogs.base import Catalog, Namespace
from bergung.catalogs.sql import SqlCatalog
from bergung.catalogs.sqlite import Database
from bergung.clock import SystemClock
from bergung.model.names import TableName
from tests.contract.catalogs.contract import CatalogContract
from tests.contract.catalogs.pyiceberg_engine import PyIcebergEngine


class LateEngine(PyIcebergEngine):
    """Opens the catalog at its first use, and must find the tables then."""

    def __init__(self, database: Path, warehouse: Path) -> None:
        self._paths = database, warehouse

    @cached_property
    def catalog(self) -> TheirCatalog:
        database, warehouse = self._paths
        SqlCatalog(self.name, Database(database), SystemClock()).create_namespace(Namespace((), {}))
        return TheirCatalog(self.name, uri=f"sqlite:///{database}", warehouse=f"file://{warehouse}", init_catalog_tables="false")


class TestSqliteEmptyFile(CatalogContract):
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        path = tmp_path / "lake.db"
        path.touch()
        return path

    @pytest.fixture
    def engine(self, file: Path, tmp_path: Path) -> LateEngine:
        return LateEngine(file, tmp_path / "warehouse")

    @pytest.fixture
    def reopen(self, file: Path) -> Callable[[], Catalog]:
        return partial(SqlCatalog, "lake", Database(file), SystemClock())

    def test_our_tables_are_those_of_pyiceberg(self, catalog: Catalog, file: Path, tmp_path: Path) -> None:
        catalog.create_namespace(Namespace(("sales",), {}))
        theirs = PyIcebergEngine(tmp_path / "theirs.db", tmp_path / "warehouse")
        theirs.create_namespace(("sales",), {})
        assert _everything(file) == _everything(tmp_path / "theirs.db")

    def test_the_first_row_has_its_type(self, catalog: Catalog, file: Path) -> None:
        catalog.register(TableName("lake", (), "first"), "file:///x/v1.metadata.json")
        with sqlite3.connect(file) as connection:
            rows = connection.execute("SELECT * FROM iceberg_tables").fetchall()
        assert rows == [("lake", "", "first", "file:///x/v1.metadata.json", None, "TABLE")]

    def test_two_processes_make_the_tables_at_once(self, file: Path, reopen: Callable[[], Catalog]) -> None:
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            for _ in range(5):
                file.write_bytes(b"")
                for done in [pool.submit(make_namespace, reopen, name) for name in ("a", "b")]:
                    done.result()
                assert [each.levels for each in reopen().namespaces()] == [("a",), ("b",)]

    def test_reading_writes_nothing(self, catalog: Catalog, file: Path) -> None:
        assert catalog.tables() == []
        assert catalog.namespaces() == []
        assert file.stat().st_size == 0
        assert list(file.parent.iterdir()) == [file]


def make_namespace(reopen: Callable[[], Catalog], name: str) -> None:
    """Run in a process of its own."""
    reopen().create_namespace(Namespace((name,), {}))


def _everything(file: Path) -> list[object]:
    with sqlite3.connect(file) as connection:
        schema = [
            (table, connection.execute(f"PRAGMA {pragma}({table})").fetchall())
            for table in ("iceberg_tables", "iceberg_namespace_properties")
            for pragma in ("table_info", "index_list", "foreign_key_list")
        ]
        names = connection.execute("SELECT type, name FROM sqlite_master ORDER BY name").fetchall()
        return [schema, names, connection.execute("SELECT * FROM iceberg_namespace_properties").fetchall()]
