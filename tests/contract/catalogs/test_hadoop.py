"""A warehouse folder, shared with Iceberg's Java HadoopCatalog on Spark; PyIceberg and DuckDB read its folders besides."""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from pyiceberg.table import StaticTable
from pyspark.errors.exceptions.base import PySparkException
from pyspark.sql import SparkSession

from bergung.catalogs.base import Catalog, Namespace
from bergung.catalogs.declaration import Declaration
from bergung.catalogs.hadoop import open_declared
from bergung.clock import SystemClock
from bergung.errors import Busy, Refused, SourceChanged, UnknownTable, UsageError
from bergung.model.names import TableName
from bergung.spark.session import SessionSettings, open_session
from bergung.stores.open import open_store
from tests.contract.catalogs.contract import ODD, CatalogContract, wins
from tests.contract.catalogs.hadoop_engine import HadoopEngine
from tests.contract.catalogs.java_engine import EXTENSIONS
from tests.readers import rows_by_duckdb_in


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    session = open_session(SessionSettings(iceberg=True, short=True, confs=EXTENSIONS))
    yield session.newSession()


def declared(name: str, warehouse: str) -> Catalog:
    return open_declared(Declaration(name, {"type": "hadoop", "warehouse": warehouse}, SystemClock(), open_store))


def local(location: str) -> Path:
    return Path("/" + location.removeprefix("file:").lstrip("/"))


def without_java(table_folder: Path) -> tuple[int, int]:
    """How many rows two readers see that begin at the hint and are not Java."""
    by_pyiceberg = StaticTable.from_metadata(str(table_folder)).scan().to_arrow()
    return len(by_pyiceberg), len(rows_by_duckdb_in(str(table_folder)))


class TestHadoop(CatalogContract):
    @pytest.fixture
    def warehouse(self, tmp_path: Path) -> Path:
        (tmp_path / "warehouse").mkdir()
        return tmp_path / "warehouse"

    @pytest.fixture
    def engine(self, spark: SparkSession, warehouse: Path) -> HadoopEngine:
        return HadoopEngine(spark, warehouse.as_uri())

    @pytest.fixture
    def reopen(self, engine: HadoopEngine, warehouse: Path) -> Callable[[], Catalog]:
        return partial(declared, engine.name, warehouse.as_uri())

    @pytest.fixture
    def folder(self, warehouse: Path) -> Path:
        """Of the table `orders`."""
        return warehouse / "sales" / "orders"

    def test_odd_names_are_listed_located_and_registered(self, catalog: Catalog, engine: HadoopEngine, orders: TableName) -> None:
        """What is registered from elsewhere becomes version 1 in the table's own folder."""
        odd = [TableName(engine.name, ("sales",), name) for name in ODD]
        for table in odd:
            engine.create_table(table)
        assert catalog.tables() == sorted([orders, *odd])
        assert [catalog.locate(table).metadata_location for table in odd] == [engine.pointer(table) for table in odd]
        for name in ODD:
            copy = TableName(engine.name, (name,), name)
            catalog.create_namespace(Namespace((name,), {}))
            catalog.register(copy, engine.pointer(orders))
            assert engine.pointer(copy) == catalog.locate(copy).metadata_location
            assert catalog.locate(copy).metadata_location.endswith(f"/{name}/{name}/metadata/v1.metadata.json")
        assert {each.levels for each in catalog.namespaces()} == {("sales",), *((name,) for name in ODD)}
        for name in ("a/b", ".", "..", "", "a\0b"):
            with pytest.raises(UsageError, match="no folder can have the name") as told:
                catalog.register(TableName(engine.name, ("sales",), name), engine.pointer(orders))
            assert "without slashes" in told.value.hint
            with pytest.raises(UsageError, match="no folder can have the name"):
                catalog.create_namespace(Namespace((name,), {}))
            with pytest.raises(UnknownTable):
                catalog.locate(TableName(engine.name, (name,), "t"))

    def test_properties_of_namespaces_go_both_ways(self, catalog: Catalog, engine: HadoopEngine) -> None:
        """Neither we nor Java can keep any."""
        with pytest.raises(UsageError, match="has no properties: .*ours") as told:
            catalog.create_namespace(Namespace(("ours",), {"note": "x"}))
        assert "a catalog that keeps them" in told.value.hint
        with pytest.raises(PySparkException, match="not supported"):
            engine.create_namespace(("theirs",), {"note": "x"})
        engine.create_namespace(("theirs", "inner"), {})
        assert catalog.namespaces() == [Namespace(("theirs",), {}), Namespace(("theirs", "inner"), {})]

    def test_a_namespace_that_is_there_stays_as_it_is(self, catalog: Catalog, orders: TableName) -> None:
        """And one that is not comes with its first table."""
        before = catalog.namespaces()
        catalog.create_namespace(Namespace(orders.namespace, {}))
        catalog.create_namespace(Namespace(("ours",), {}))
        assert catalog.namespaces() == before == [Namespace(("sales",), {})]

    def test_nothing_is_registered_in_a_namespace_that_is_not_there(
        self, catalog: Catalog, engine: HadoopEngine, orders: TableName
    ) -> None:
        """The folder is made with the table, as Java does it: so a namespace cannot be missing."""
        for table in (TableName(catalog.name, ("new", "deep"), "ours"), TableName(catalog.name, ("newer",), "theirs")):
            (catalog.register(table, engine.pointer(orders)) if table.name == "ours" else engine.create_table(table))
            assert table in catalog.tables()
            assert Namespace(table.namespace, {}) in catalog.namespaces()
            assert engine.tables(table.namespace) == {table.name}

    def test_of_two_processes_one_registers(
        self, catalog: Catalog, reopen: Callable[[], Catalog], engine: HadoopEngine, orders: TableName
    ) -> None:
        places = [local(engine.pointer(orders)).with_name(f"{runner}.json") for runner in range(2)]
        for runner, place in enumerate(places):
            place.write_text(f'{{"runner": {runner}}}')
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            for round_ in range(5):
                table = TableName(catalog.name, orders.namespace, f"race{round_}")
                won = list(pool.map(wins, [reopen] * 2, [table] * 2, map(str, places)))
                assert sorted(won) == [False, True]
                written = local(catalog.locate(table).metadata_location)
                assert written.read_bytes() == places[won.index(True)].read_bytes()

    def test_a_pointer_is_swapped_only_from_what_is_expected(
        self, catalog: Catalog, engine: HadoopEngine, orders: TableName, folder: Path
    ) -> None:
        """The old state is written once more, as the next version, and all readers find it."""
        first = engine.pointer(orders)
        engine.append(orders, 1)
        second = engine.pointer(orders)
        with pytest.raises(SourceChanged):
            catalog.replace(orders, first, expected=first)
        assert engine.pointer(orders) == second
        assert without_java(folder) == (1, 1)
        catalog.replace(orders, first, expected=second)
        found = catalog.locate(orders)
        assert local(found.metadata_location).read_bytes() == local(first).read_bytes()
        assert (found.metadata_location, found.previous_location) == (engine.pointer(orders), second)
        assert engine.rows(orders) == []
        assert without_java(folder) == (0, 0)
        engine.append(orders, 2)
        assert engine.rows(orders) == [2]
        assert without_java(folder) == (1, 1)

    def test_a_pointer_whose_file_is_gone_is_replaced(
        self, catalog: Catalog, engine: HadoopEngine, orders: TableName, folder: Path
    ) -> None:
        """The hint still names it; the number is not taken again."""
        engine.append(orders, 1)
        found = catalog.locate(orders)
        assert found.previous_location is not None
        local(found.metadata_location).unlink()
        assert catalog.locate(orders) == found or catalog.locate(orders).metadata_location == found.metadata_location
        catalog.replace(orders, found.previous_location, expected=found.metadata_location)
        assert engine.pointer(orders).endswith("/v3.metadata.json")
        assert engine.rows(orders) == []
        assert without_java(folder) == (0, 0)

    def test_a_swap_that_is_done_is_not_done_again(self, catalog: Catalog, engine: HadoopEngine, orders: TableName) -> None:
        first = engine.pointer(orders)
        engine.append(orders, 1)
        catalog.replace(orders, first, expected=engine.pointer(orders))
        third = catalog.locate(orders).metadata_location
        catalog.replace(orders, first, expected=third)
        assert catalog.locate(orders).metadata_location == third

    @pytest.mark.parametrize("codec", ["none", "gzip"])
    def test_a_table_whose_files_came_back_is_registered_by_them(
        self, catalog: Catalog, engine: HadoopEngine, orders: TableName, folder: Path, codec: str
    ) -> None:
        engine.sql(f"ALTER TABLE {orders} SET TBLPROPERTIES ('write.metadata.compression-codec' = '{codec}')")
        engine.append(orders, 1)
        engine.append(orders, 2)
        newest = engine.pointer(orders)
        assert newest.endswith("v4.gz.metadata.json" if codec == "gzip" else "v4.metadata.json")
        for hidden in (*folder.glob("metadata/.*"), folder / "metadata" / "version-hint.text"):
            hidden.unlink()
        before = sorted(folder.rglob("*"))
        catalog.register(orders, f"file://{local(newest)}")
        assert sorted({*folder.rglob("*")} - {*before}) == [folder / "metadata" / "version-hint.text"]
        assert catalog.locate(orders).metadata_location == newest
        assert engine.rows(orders) == [1, 2]
        if codec == "none":
            # By a folder, these two do not find compressed metadata, whoever wrote it.
            assert without_java(folder) == (2, 2)
        with pytest.raises(Busy):
            catalog.register(orders, newest.replace("v4", "v3"))
        engine.append(orders, 3)
        assert engine.rows(orders) == [1, 2, 3]

    def test_a_compressed_state_is_written_as_one(self, catalog: Catalog, engine: HadoopEngine, orders: TableName) -> None:
        engine.sql(f"ALTER TABLE {orders} SET TBLPROPERTIES ('write.metadata.compression-codec' = 'gzip')")
        second = engine.pointer(orders)
        engine.append(orders, 1)
        # As Iceberg's older versions named them.
        old = local(second).with_name("v2.metadata.json.gz")
        local(second).rename(old)
        local(second).with_name(f".{local(second).name}.crc").unlink()
        catalog.replace(orders, str(old), expected=engine.pointer(orders))
        assert catalog.locate(orders).metadata_location.endswith("/v4.gz.metadata.json")
        assert engine.rows(orders) == []

    @pytest.mark.parametrize("hint", [None, "1", "junk"])
    def test_a_missing_stale_or_broken_hint_is_no_harm(
        self, catalog: Catalog, engine: HadoopEngine, orders: TableName, folder: Path, hint: str | None
    ) -> None:
        engine.append(orders, 1)
        (folder / "metadata" / ".version-hint.text.crc").unlink()
        (folder / "metadata" / "version-hint.text").unlink()
        if hint is not None:
            (folder / "metadata" / "version-hint.text").write_text(hint)
        assert catalog.locate(orders).metadata_location == engine.pointer(orders)
        first = catalog.locate(orders).previous_location
        assert first is not None
        catalog.replace(orders, first, expected=catalog.locate(orders).metadata_location)
        assert without_java(folder) == (0, 0)
        engine.append(orders, 2)
        assert engine.rows(orders) == [2]

    def test_a_gap_is_told_and_the_advice_helps(
        self, catalog: Catalog, engine: HadoopEngine, orders: TableName, folder: Path
    ) -> None:
        engine.append(orders, 1)
        engine.append(orders, 2)
        for name in ("v2.metadata.json", ".v2.metadata.json.crc", ".version-hint.text.crc"):
            (folder / "metadata" / name).unlink()
        (folder / "metadata" / "version-hint.text").write_text("1")
        with pytest.raises(Refused, match="version 2 is missing, at which readers stop") as told:
            catalog.locate(orders)
        assert "take version-hint.text away" in told.value.hint
        assert catalog.tables() == [orders]
        assert catalog.locate_all([orders]) == {}
        (folder / "metadata" / "version-hint.text").unlink()
        assert catalog.locate(orders).metadata_location == engine.pointer(orders)
        assert engine.rows(orders) == [1, 2]

    def test_sums_that_hadoop_left_beside_files_do_not_outlive_them(
        self, catalog: Catalog, engine: HadoopEngine, orders: TableName, folder: Path
    ) -> None:
        """Java does not read a file that differs from its sum: not the hint, and not a version whose number is used again."""
        first = engine.pointer(orders)
        engine.append(orders, 1)
        (folder / "metadata" / ".v3.metadata.json.crc").write_bytes(
            (folder / "metadata" / ".v1.metadata.json.crc").read_bytes()[:-1]
        )
        assert (folder / "metadata" / ".version-hint.text.crc").exists()
        catalog.replace(orders, first, expected=engine.pointer(orders))
        assert not (folder / "metadata" / ".version-hint.text.crc").exists()
        assert engine.rows(orders) == []
        engine.append(orders, 2)
        assert engine.rows(orders) == [2]

    def test_a_table_of_another_kind_of_catalog_is_neither_table_nor_namespace(
        self, catalog: Catalog, orders: TableName, warehouse: Path
    ) -> None:
        other = warehouse / "sales" / "other" / "metadata"
        other.mkdir(parents=True)
        (other / "00000-0a1b2c3d-0000-4000-8000-00000000000a.metadata.json").write_text("{}")
        (warehouse / "sales" / "loop").symlink_to(warehouse)
        assert catalog.tables() == [orders]
        assert catalog.namespaces() == [Namespace(("sales",), {})]
        with pytest.raises(UnknownTable):
            catalog.locate(TableName(catalog.name, ("sales",), "other"))

    def test_a_table_without_a_namespace(self, catalog: Catalog, engine: HadoopEngine) -> None:
        root = TableName(engine.name, (), "root")
        engine.create_table(root)
        assert catalog.tables() == [root]
        assert catalog.namespaces() == []
        assert catalog.locate(root).metadata_location == engine.pointer(root)
