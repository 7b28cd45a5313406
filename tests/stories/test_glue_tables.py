"""Tables of AWS Glue, lost and taken back, with their files on a disk or in a bucket; PyIceberg is who lives with them."""

import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import pyarrow as pa
import pytest
from pyiceberg.catalog.glue import GlueCatalog
from pyiceberg.manifest import clear_manifest_cache

from tests.command import call
from tests.servers.glue_front import Front
from tests.servers.moto import REGION
from tests.servers.s3 import KEY_ID, SECRET
from tests.stories.small_lake import SCHEMA

ORDERS = ("sales", "orders")
Rows = dict[int, list[int]]


class GlueLake:
    """The catalog `lake`, made known to every command by PyIceberg's variables."""

    def __init__(self, properties: dict[str, str], warehouse: str, moto_url: str) -> None:
        self.catalog = GlueCatalog("lake", **properties, warehouse=warehouse)
        keys = {"aws_access_key_id": KEY_ID, "aws_secret_access_key": SECRET}
        self.glue = boto3.client("glue", endpoint_url=moto_url, region_name=REGION, **keys)
        self.s3 = boto3.client("s3", endpoint_url=properties.get("s3.endpoint", moto_url), region_name="us-east-1", **keys)

    def append(self, *ids: int) -> None:
        data = pa.table({"id": ids, "name": [f"name {id_}" for id_ in ids]}, SCHEMA)
        self.catalog.load_table(ORDERS).append(data)

    def rows(self) -> Rows:
        """The ids of every retained snapshot."""
        clear_manifest_cache()
        table = self.catalog.load_table(ORDERS)
        ids = [snapshot.snapshot_id for snapshot in table.metadata.snapshots]
        return {id_: sorted(table.scan(snapshot_id=id_).to_arrow()["id"].to_pylist()) for id_ in ids}

    def entry(self) -> dict[str, Any]:
        return dict(self.glue.get_table(DatabaseName="sales", Name="orders")["Table"])

    def lose(self) -> None:
        """The entry, its database and every file."""
        location = urlsplit(self.catalog.load_table(ORDERS).location())
        self.catalog.drop_table(ORDERS)
        self.catalog.drop_namespace("sales")
        if location.scheme == "file":
            shutil.rmtree(location.path)
            return
        for page in self.s3.get_paginator("list_objects_v2").paginate(Bucket=location.netloc):
            for found in page.get("Contents", ()):
                self.s3.delete_object(Bucket=location.netloc, Key=found["Key"])


@pytest.fixture(params=["disk", "bucket"])
def lake(request: pytest.FixtureRequest, glue: Front, moto_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GlueLake:
    """With one table of two snapshots, and a vault on a disk."""
    properties = {"glue.endpoint": glue.url, "glue.region": REGION, "glue.access-key-id": KEY_ID, "glue.secret-access-key": SECRET}
    warehouse = f"file://{tmp_path}/warehouse"
    if request.param == "bucket":
        bucket = request.getfixturevalue("versitygw_server").new_bucket()
        warehouse = f"s3://{bucket.name}/lake"
        properties |= {"s3.endpoint": bucket.server.endpoint, "s3.region": "us-east-1"}
        properties |= {"s3.access-key-id": KEY_ID, "s3.secret-access-key": SECRET}
    announce({"type": "glue", **properties}, tmp_path, monkeypatch)
    lake = GlueLake(properties, warehouse, moto_url)
    lake.catalog.create_namespace("sales", {"owner": "anna", "Description": "what was sold"})
    lake.catalog.create_table(ORDERS, SCHEMA)
    lake.append(1, 2, 3)
    lake.append(4)
    assert call("init").code == 0
    return lake


def announce(properties: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "home").mkdir()
    monkeypatch.chdir(folder / "home")
    for key, value in properties.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__LAKE__{key.replace('.', '__').replace('-', '_').upper()}", value)
    settings = {"BERGUNG_VAULT": folder / "vault", "BERGUNG_ENGINE": "process"}
    for key, text in {**settings, "HOME": folder / "home", "XDG_CONFIG_HOME": folder / "home"}.items():
        monkeypatch.setenv(key, str(text))


def test_a_database_of_glue_is_lost_and_comes_back(lake: GlueLake) -> None:
    rows, pointer = lake.rows(), lake.entry()["Parameters"]["metadata_location"]
    properties = lake.catalog.load_namespace_properties("sales")
    said = call("backup", "lake")
    assert said.code == 0, said.err
    lake.lose()
    said = call("restore", "--all")
    assert said.code == 0, said.err
    assert lake.rows() == rows
    assert lake.entry()["Parameters"] == {"table_type": "ICEBERG", "metadata_location": pointer}
    assert lake.catalog.load_namespace_properties("sales") == properties
    lake.append(5)
    assert sorted(lake.rows().values())[-1] == [1, 2, 3, 4, 5]
    assert [column["Name"] for column in lake.entry()["StorageDescriptor"]["Columns"]] == ["id", "name"]


def test_a_table_of_glue_is_taken_back_and_its_entry_kept(lake: GlueLake, glue: Front) -> None:
    rows, before = lake.rows(), lake.entry()
    assert call("backup", "lake").code == 0
    lake.catalog.load_table(ORDERS).delete("id < 3")
    later = lake.entry()["Parameters"]["metadata_location"]
    glue.seen.clear()
    refused = call("restore", "lake.sales.orders")
    assert refused.code == 14 and f"with another state: {later}" in refused.err
    assert glue.count("UpdateTable") == 0
    said = call("restore", "lake.sales.orders", "--confirm")
    assert said.code == 0, said.err
    assert lake.rows() == rows
    after = lake.entry()
    assert after["Parameters"]["previous_metadata_location"] == later
    assert after["StorageDescriptor"] == before["StorageDescriptor"]
    lake.append(5)
    assert sorted(lake.rows().values())[-1] == [1, 2, 3, 4, 5]
