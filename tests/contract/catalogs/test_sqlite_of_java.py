"""A SQLite file that Iceberg's Java JdbcCatalog made through Spark: schema V1 and its default, V0."""

import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog as PyIcebergCatalog
from pyspark.sql import SparkSession

from bergung.catalogs.base import Catalog, Namespace
from bergung.catalogs.sql import SqlCatalog
from bergung.catalogs.sqlite import Database
from bergung.clock import SystemClock
from bergung.errors import Busy, UnknownTable, UsageError
from bergung.model.names import TableName
from bergung.spark.session import SessionSettings, open_session
from tests.contract.catalogs.contract import CatalogContract
from tests.contract.catalogs.java_engine import EXTENSIONS, JavaEngine, on_sqlite
from tests.contract.catalogs.jdbc_schema import V0


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    session = open_session(SessionSettings(iceberg=True, short=True, confs=EXTENSIONS))
    yield session.newSession()


class TestSqliteOfJavaV1(CatalogContract):
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        return tmp_path / "lake.db"

    @pytest.fixture
    def engine(self, spark: SparkSession, file: Path, tmp_path: Path) -> JavaEngine:
        engine = JavaEngine(spark, on_sqlite(file, tmp_path / "warehouse", "V1"))
        # The catalog makes its tables when it is first used.
        engine.sql(f"SHOW NAMESPACES IN {engine.name}")
        return engine

    @pytest.fixture
    def reopen(self, file: Path, engine: JavaEngine) -> Callable[[], Catalog]:
        return partial(SqlCatalog, engine.name, Database(file), SystemClock())

    def test_the_row_that_we_write_is_the_row_that_java_writes(
        self, catalog: Catalog, engine: JavaEngine, file: Path, orders: TableName
    ) -> None:
        catalog.register(TableName(engine.name, ("sales",), "ours"), engine.pointer(orders))
        with sqlite3.connect(file) as connection:
            rows = {row[2]: (*row[:2], *row[3:]) for row in connection.execute("SELECT * FROM iceberg_tables")}
        assert rows["ours"] == rows["orders"]

    def test_java_keeps_levels_apart_by_dots_alone(self, catalog: Catalog, engine: JavaEngine) -> None:
        engine.create_namespace(("x.y",), {})
        engine.create_table(TableName(engine.name, ("x.y",), "t"))
        assert catalog.tables() == [TableName(engine.name, ("x", "y"), "t")]
        assert engine.tables(("x", "y")) == {"t"}
        with pytest.raises(UsageError, match="dots stand between levels"):
            catalog.locate(TableName(engine.name, ("x.y",), "t"))

    def test_a_table_without_a_namespace(self, catalog: Catalog, engine: JavaEngine) -> None:
        root = TableName(engine.name, (), "root")
        engine.create_table(root)
        assert catalog.tables() == [root]
        assert catalog.namespaces() == []
        assert catalog.locate(root).metadata_location == engine.pointer(root)
        catalog.register(TableName(engine.name, (), "again"), engine.pointer(root))
        engine.append(TableName(engine.name, (), "again"), 3)
        assert engine.rows(TableName(engine.name, (), "again")) == [3]

    def test_pyiceberg_java_and_we_share_one_file(
        self, catalog: Catalog, engine: JavaEngine, file: Path, orders: TableName
    ) -> None:
        engine.append(orders, 1)
        catalog.register(TableName(engine.name, ("sales",), "ours"), engine.pointer(orders))
        theirs = PyIcebergCatalog(engine.name, uri=f"sqlite:///{file}")
        table = theirs.load_table(("sales", "ours"))
        table.append(table.scan().to_arrow())
        assert engine.rows(TableName(engine.name, ("sales",), "ours")) == [1, 1]
        assert catalog.locate(TableName(engine.name, ("sales",), "ours")).metadata_location.startswith("file:")

    def test_a_view_is_no_table(self, catalog: Catalog, engine: JavaEngine, orders: TableName) -> None:
        engine.sql(f"CREATE VIEW {engine.name}.sales.view AS SELECT value FROM {orders}")
        view = TableName(engine.name, ("sales",), "view")
        assert catalog.tables() == [orders]
        assert catalog.locate_all([view, orders]).keys() == {orders}
        with pytest.raises(UnknownTable, match="is a view"):
            catalog.locate(view)
        with pytest.raises(Busy):
            catalog.register(view, engine.pointer(orders))

    def test_a_namespace_of_ours_outlives_its_last_property(self, catalog: Catalog, engine: JavaEngine, file: Path) -> None:
        catalog.create_namespace(Namespace(("ours",), {"k": "v"}))
        PyIcebergCatalog(engine.name, uri=f"sqlite:///{file}").update_namespace_properties("ours", {"k"})
        assert [row.namespace for row in engine.sql(f"SHOW NAMESPACES IN {engine.name}")] == ["ours"]


def test_the_default_of_java_is_the_schema_without_types(spark: SparkSession, tmp_path: Path) -> None:
    engine = JavaEngine(spark, on_sqlite(tmp_path / "lake.db", tmp_path / "warehouse", "V0"))
    engine.create_namespace(("sales",), {})
    table = TableName(engine.name, ("sales",), "orders")
    engine.create_table(table)
    with sqlite3.connect(tmp_path / "lake.db") as connection:
        assert dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")) == V0
    catalog = SqlCatalog(engine.name, Database(tmp_path / "lake.db"), SystemClock())
    assert catalog.tables() == [table]
    copy = TableName(engine.name, ("sales",), "copy")
    catalog.register(copy, engine.pointer(table))
    engine.append(copy, 1)
    assert engine.rows(copy) == [1]
    assert catalog.locate(copy).metadata_location == engine.pointer(copy)
