"""AWS Glue, by moto behind a front that checks versions and gives out pages; PyIceberg is the other program."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import boto3
import pytest
from pyiceberg.catalog.glue import GlueCatalog as PyIcebergCatalog

from bergung.catalogs.base import Catalog, Namespace
from bergung.catalogs.declaration import Declaration
from bergung.catalogs.glue import open_declared
from bergung.clock import SystemClock
from bergung.errors import Busy, UnknownTable, UsageError
from bergung.model.names import TableName
from bergung.stores.open import open_store
from tests.contract.catalogs.contract import ODD, CatalogContract, Engine
from tests.contract.catalogs.pyiceberg_engine import PyIcebergEngine
from tests.servers.glue_front import Front
from tests.servers.moto import REGION

KEYS = {"glue.region": REGION, "glue.access-key-id": "AKIAEXAMPLE", "glue.secret-access-key": "secret"}


class GlueEngine(PyIcebergEngine):
    """PyIceberg's GlueCatalog, with its files in a folder."""

    def __init__(self, properties: dict[str, str], warehouse: Path) -> None:
        self.catalog = PyIcebergCatalog(self.name, **properties, warehouse=f"file://{warehouse}")


class TestGlue(CatalogContract):
    @pytest.fixture
    def properties(self, glue: Front) -> dict[str, str]:
        return {"type": "glue", "glue.endpoint": glue.url, **KEYS}

    @pytest.fixture
    def engine(self, properties: dict[str, str], tmp_path: Path) -> GlueEngine:
        return GlueEngine(properties, tmp_path / "warehouse")

    @pytest.fixture
    def reopen(self, properties: dict[str, str]) -> Callable[[], Catalog]:
        return partial(open_declared, Declaration("lake", properties, SystemClock(), open_store))

    def test_odd_names_are_listed_located_and_registered(self, catalog: Catalog, engine: Engine, orders: TableName) -> None:
        """Glue keeps letters in lower case, so what has others is refused before Glue changes the name."""
        odd = [TableName(engine.name, ("sales",), name) for name in ODD]
        for table in odd:
            engine.create_table(table)
        assert catalog.tables() == sorted([orders, *odd])
        assert [catalog.locate(table).metadata_location for table in odd] == [engine.pointer(table) for table in odd]
        for name in ODD:
            copy = TableName(engine.name, (name.lower(),), name)
            catalog.create_namespace(Namespace(copy.namespace, {}))
            if name == name.lower():
                catalog.register(copy, engine.pointer(orders))
                assert engine.pointer(copy) == catalog.locate(copy).metadata_location == engine.pointer(orders)
            else:
                with pytest.raises(UsageError, match="in lower case: it cannot hold"):
                    catalog.register(copy, engine.pointer(orders))
                with pytest.raises(UsageError, match="in lower case: it cannot hold"):
                    catalog.create_namespace(Namespace((name,), {}))
        assert {each.levels for each in catalog.namespaces()} == {("sales",), *((name.lower(),) for name in ODD)}

    def test_namespaces_of_three_levels_and_their_parents(self, catalog: Catalog, engine: Engine) -> None:
        """There is one level only."""
        deep = TableName(engine.name, ("a", "b"), "deep")
        with pytest.raises(UsageError, match="databases of one level: it cannot hold the namespace a.b") as told:
            catalog.create_namespace(Namespace(deep.namespace, {}))
        assert told.value.hint == "choose a namespace of one level"
        with pytest.raises(UsageError, match="of one level"):
            catalog.register(deep, "file:///elsewhere/metadata/v1.metadata.json")
        with pytest.raises(UnknownTable):
            catalog.locate(deep)
        assert catalog.locate_all([deep]) == {}
        assert catalog.namespaces() == []

    def test_properties_of_namespaces_go_both_ways(self, catalog: Catalog, engine: Engine) -> None:
        properties = {"note": "grün, 100%", "location": "s3://lake/sales", "Description": "what was sold"}
        engine.create_namespace(("theirs",), properties)
        catalog.create_namespace(Namespace(("ours",), properties))
        assert catalog.namespaces() == [Namespace(("ours",), properties), Namespace(("theirs",), properties)]
        assert engine.properties(("ours",)) == engine.properties(("theirs",)) == properties

    def test_what_we_register_the_engine_reads_and_writes(self, catalog: Catalog, engine: Engine, orders: TableName) -> None:
        engine.append(orders, 7)
        copy = TableName(engine.name, ("back",), "orders")
        catalog.create_namespace(Namespace(copy.namespace, {}))
        catalog.register(copy, engine.pointer(orders))
        assert catalog.locate(copy).previous_location is None
        assert engine.tables(copy.namespace) == {"orders"}
        engine.append(copy, 8)
        assert engine.rows(copy) == [7, 8]
        assert catalog.locate(copy).metadata_location == engine.pointer(copy)

    def test_an_entry_of_ours_is_whole_after_the_first_commit_of_an_engine(
        self, catalog: Catalog, engine: Engine, orders: TableName, client: Any
    ) -> None:
        copy = TableName(engine.name, ("sales",), "copy")
        catalog.register(copy, engine.pointer(orders))
        folder = engine.pointer(orders).partition("/metadata/")[0]
        ours = entry(client, "copy")
        assert ours["TableType"] == entry(client, "orders")["TableType"] == "EXTERNAL_TABLE"
        assert ours["StorageDescriptor"] == {"Columns": [], "Location": folder}
        engine.append(copy, 1)
        columns = [each["Name"] for each in entry(client, "copy")["StorageDescriptor"]["Columns"]]
        assert columns == ["value"]

    def test_a_swap_changes_the_pointer_and_nothing_else(
        self, catalog: Catalog, engine: Engine, orders: TableName, client: Any, glue: Front
    ) -> None:
        first = engine.pointer(orders)
        engine.append(orders, 1)
        theirs = entry(client, "orders")
        given = {key: value for key, value in theirs.items() if key in ("Name", "TableType", "StorageDescriptor")}
        more = {"Owner": "anna", "Description": "what was sold", "Retention": 3, "PartitionKeys": [{"Name": "day", "Type": "date"}]}
        client.update_table(
            DatabaseName="sales",
            TableInput={**given, **more, "Parameters": {**theirs["Parameters"], "classification": "gold"}},
            VersionId=theirs["VersionId"],
        )
        before = entry(client, "orders")
        catalog.replace(orders, first, expected=before["Parameters"]["metadata_location"])
        after = entry(client, "orders")
        moved = {"metadata_location": first, "previous_metadata_location": before["Parameters"]["metadata_location"]}
        assert after["Parameters"] == {**before["Parameters"], **moved}
        changing = ("Parameters", "VersionId", "UpdateTime")
        assert {**after, **dict.fromkeys(changing)} == {**before, **dict.fromkeys(changing)}
        sent = next(each.words for each in reversed(glue.seen) if each.operation == "UpdateTable")
        assert (sent["VersionId"], sent["SkipArchive"]) == (before["VersionId"], False)

    def test_what_is_no_iceberg_table_is_left_out(self, catalog: Catalog, orders: TableName, client: Any) -> None:
        client.create_table(DatabaseName="sales", TableInput={"Name": "raw", "TableType": "EXTERNAL_TABLE", "Parameters": {}})
        client.create_table(DatabaseName="sales", TableInput={"Name": "bare"})
        client.create_table(DatabaseName="sales", TableInput={"Name": "report", "TableType": "VIRTUAL_VIEW"})
        raw, report = (TableName("lake", ("sales",), name) for name in ("raw", "report"))
        assert catalog.tables() == [orders]
        assert catalog.views() == [report]
        assert set(catalog.locate_all([orders, raw, report])) == {orders}
        with pytest.raises(UnknownTable, match="is no Iceberg table"):
            catalog.locate(raw)
        with pytest.raises(UnknownTable, match="is a view"):
            catalog.replace(report, "file:///new", expected="file:///old")
        with pytest.raises(Busy):
            catalog.register(raw, "file:///new")

    def test_the_case_of_the_kind_does_not_matter(self, catalog: Catalog, orders: TableName, client: Any) -> None:
        parameters = {"table_type": "iceberg", "metadata_location": "file:///x"}
        client.create_table(DatabaseName="sales", TableInput={"Name": "small", "Parameters": parameters})
        assert catalog.locate(TableName("lake", ("sales",), "small")).metadata_location == "file:///x"

    @pytest.fixture
    def client(self, moto_url: str, glue: Front) -> Any:
        return boto3.client(
            "glue", endpoint_url=moto_url, region_name=REGION, aws_access_key_id="AKIAEXAMPLE", aws_secret_access_key="secret"
        )


def entry(client: Any, name: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get_table(DatabaseName="sales", Name=name)["Table"]
    return found
