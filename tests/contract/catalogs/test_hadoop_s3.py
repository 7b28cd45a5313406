"""A warehouse in a bucket: over versitygw, and with versions over MinIO."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from bergung.catalogs.base import Catalog, Namespace
from bergung.catalogs.declaration import Declaration
from bergung.catalogs.hadoop import open_declared
from bergung.clock import SystemClock
from bergung.errors import SourceChanged, UsageError
from bergung.model.names import TableName
from bergung.stores.open import open_path, open_store
from tests.contract.catalogs.contract import CatalogContract, wins
from tests.contract.catalogs.folder_engine import FolderEngine
from tests.faults.counting_store import Counts, counting_open
from tests.servers.s3 import OwnBucket, S3Server

# What a bucket of this server cannot hold is no name of a table there.
NAMES = ["with space", "Ünï cöde", "100%", "a%2Fb", "a+b", "a,b;c", "o'clock", "a[1]", "UPPER", "upper", "😀"]


class TestHadoopOnS3(CatalogContract):
    @pytest.fixture
    def bucket(self, versitygw_server: S3Server) -> OwnBucket:
        return versitygw_server.new_bucket()

    @pytest.fixture
    def engine(self, bucket: OwnBucket, tmp_path: Path) -> FolderEngine:
        return FolderEngine(bucket, tmp_path)

    @pytest.fixture
    def declaration(self, engine: FolderEngine) -> Declaration:
        properties = {"type": "hadoop", "warehouse": engine.address, **engine.access}
        return Declaration("lake", properties, SystemClock(), open_store)

    @pytest.fixture
    def reopen(self, declaration: Declaration) -> Callable[[], Catalog]:
        return partial(open_declared, declaration)

    def test_odd_names_are_listed_located_and_registered(self, catalog: Catalog, engine: FolderEngine, orders: TableName) -> None:
        odd = [TableName("lake", ("sales",), name) for name in NAMES]
        for table in odd:
            engine.create_table(table)
        assert catalog.tables() == sorted([orders, *odd])
        for name in NAMES:
            copy = TableName("lake", (name,), name)
            catalog.register(copy, engine.pointer(orders))
            assert engine.pointer(copy) == catalog.locate(copy).metadata_location

    def test_properties_of_namespaces_go_both_ways(self, catalog: Catalog, engine: FolderEngine) -> None:
        """There are none; an empty folder that S3A marked is a namespace."""
        with pytest.raises(UsageError, match="has no properties"):
            catalog.create_namespace(Namespace(("ours",), {"note": "x"}))
        engine.create_namespace(("theirs", "inner"), {})
        assert catalog.namespaces() == [Namespace(("theirs",), {}), Namespace(("theirs", "inner"), {})]

    def test_a_namespace_that_is_there_stays_as_it_is(self, catalog: Catalog, orders: TableName) -> None:
        catalog.create_namespace(Namespace(orders.namespace, {}))
        assert catalog.namespaces() == [Namespace(("sales",), {})]

    def test_nothing_is_registered_in_a_namespace_that_is_not_there(
        self, catalog: Catalog, engine: FolderEngine, orders: TableName
    ) -> None:
        """It comes with its first table."""
        table = TableName("lake", ("new", "deep"), "ours")
        catalog.register(table, engine.pointer(orders))
        assert [each.levels for each in catalog.namespaces()] == [("new",), ("new", "deep"), ("sales",)]

    def test_of_two_processes_one_registers(
        self, catalog: Catalog, reopen: Callable[[], Catalog], bucket: OwnBucket, orders: TableName
    ) -> None:
        for runner in range(2):
            bucket.overwrite(f"{runner}.json", b"%d" % runner, "old")
        places = [f"s3://{bucket.name}/old/{runner}.json" for runner in range(2)]
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            for round_ in range(5):
                table = TableName("lake", orders.namespace, f"race{round_}")
                won = list(pool.map(wins, [reopen] * 2, [table] * 2, places))
                assert sorted(won) == [False, True]
                assert self.content(catalog, catalog.locate(table).metadata_location) == b"%d" % won.index(True)

    def test_a_pointer_is_swapped_only_from_what_is_expected(
        self, catalog: Catalog, engine: FolderEngine, orders: TableName
    ) -> None:
        first = engine.pointer(orders)
        engine.append(orders, 1)
        second = engine.pointer(orders)
        with pytest.raises(SourceChanged):
            catalog.replace(orders, first, expected=first)
        assert engine.rows(orders) == [1]
        catalog.replace(orders, first, expected=second)
        found = catalog.locate(orders)
        assert (found.metadata_location, found.previous_location) == (engine.pointer(orders), second)
        assert self.content(catalog, found.metadata_location) == self.content(catalog, first)
        assert engine.rows(orders) == []
        engine.append(orders, 2)
        assert engine.rows(orders) == [2]

    def test_a_pointer_whose_file_is_gone_is_replaced(
        self, catalog: Catalog, engine: FolderEngine, orders: TableName, bucket: OwnBucket
    ) -> None:
        engine.append(orders, 1)
        found = catalog.locate(orders)
        assert found.previous_location is not None
        bucket.put_marker(found.metadata_location.partition("/warehouse/")[2], "warehouse")
        assert catalog.locate(orders).metadata_location == found.metadata_location
        catalog.replace(orders, found.previous_location, expected=found.metadata_location)
        assert engine.pointer(orders).endswith("/v3.metadata.json")
        assert engine.rows(orders) == []

    def test_a_table_that_cannot_be_parsed_is_located(self, catalog: Catalog, orders: TableName, bucket: OwnBucket) -> None:
        found = catalog.locate(orders)
        bucket.overwrite(found.metadata_location.partition("/warehouse/")[2], b"{", "warehouse")
        assert catalog.locate(orders).metadata_location == found.metadata_location
        assert catalog.tables() == [orders]

    def test_another_spelling_of_the_scheme_is_the_same_place(
        self, declaration: Declaration, engine: FolderEngine, orders: TableName
    ) -> None:
        warehouse = engine.address.replace("s3:", "s3a:")
        catalog = open_declared(Declaration("lake", {**declaration.properties, "warehouse": warehouse}, SystemClock(), open_store))
        first = engine.pointer(orders)
        engine.append(orders, 1)
        assert catalog.locate(orders).metadata_location == engine.pointer(orders).replace("s3:", "s3a:")
        catalog.replace(orders, first, expected=engine.pointer(orders))
        assert engine.rows(orders) == []

    def test_no_data_file_is_listed(self, declaration: Declaration, engine: FolderEngine, orders: TableName) -> None:
        for value in range(3):
            engine.append(orders, value)
        counts = Counts()
        catalog = open_declared(Declaration("lake", declaration.properties, SystemClock(), counting_open(counts)))
        assert catalog.tables() == [orders]
        asked = sorted((one.operation, one.key) for one in counts.made)
        assert asked == [
            ("folders", "warehouse/"),
            ("folders", "warehouse/sales/"),
            ("list", "warehouse/sales/metadata/"),
            ("list", "warehouse/sales/metadata/v"),
            ("list", "warehouse/sales/orders/metadata/v"),
            ("read", "warehouse/sales/orders/metadata/version-hint.text"),
        ]

    def content(self, catalog: Catalog, location: str) -> bytes:
        store, key = open_path(location, open_store, catalog.access(TableName("lake", (), "t")))
        return store.read(key)


@pytest.mark.nightly
class TestHadoopOnMinioVersioned(TestHadoopOnS3):
    @pytest.fixture
    def bucket(self, minio_server: S3Server) -> OwnBucket:
        return minio_server.new_bucket(versioned=True)


def test_a_bucket_that_creates_nothing_over_a_marker_does_without_the_hint(versitygw_server: S3Server, tmp_path: Path) -> None:
    """versitygw with versions; readers of Java take the highest number then."""
    engine = FolderEngine(versitygw_server.new_bucket(versioned=True), tmp_path)
    orders = TableName("lake", ("sales",), "orders")
    engine.create_table(orders)
    first = engine.pointer(orders)
    engine.append(orders, 1)
    properties = {"type": "hadoop", "warehouse": engine.address, **engine.access}
    catalog = open_declared(Declaration("lake", properties, SystemClock(), open_store))
    catalog.replace(orders, first, expected=engine.pointer(orders))
    assert catalog.locate(orders).metadata_location.endswith("/v3.metadata.json")
    with pytest.raises(engine.bucket.server.client.exceptions.NoSuchKey):
        engine.pointer(orders)
