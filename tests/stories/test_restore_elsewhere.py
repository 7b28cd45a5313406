"""Tables come back under other names and other paths, and the originals are as they were."""

import json
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog as PyIcebergCatalog

from bergung.clock import SystemClock
from tests.command import call
from tests.stories.small_lake import SmallLake, rows_at

ORDERS = "lake.sales.orders"


@pytest.fixture
def other(lake: SmallLake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PyIcebergCatalog:
    """A second catalog, empty, known to every command; and three snapshots of orders in a point of the first."""
    uri = f"sqlite:///{tmp_path}/other.db"
    monkeypatch.setenv("PYICEBERG_CATALOG__OTHER__URI", uri)
    lake.make("sales", "orders")
    lake.append(("sales", "orders"), range(10, 14))
    lake.append(("sales", "orders"), [20])
    assert call("backup", "lake").code == 0
    return PyIcebergCatalog("other", uri=uri, warehouse=f"file://{tmp_path}/other")


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_copy_beside_its_living_original(lake: SmallLake, other: PyIcebergCatalog, tmp_path: Path) -> None:
    before, rows = everything(lake.warehouse), lake.rows("sales", "orders")
    said = call("restore", ORDERS, "--to", "other.copies.orders", "--location", str(tmp_path / "there"), "--json")
    assert said.code == 0, said.err
    copy = other.load_table("copies.orders")
    assert rows_at(copy.metadata_location) == rows and len(rows) == 3
    assert copy.location() == f"file://{tmp_path}/there"
    original = lake.catalog.load_table("sales.orders")
    assert copy.metadata.table_uuid != original.metadata.table_uuid
    assert [each.metadata_file.startswith(copy.location()) for each in copy.metadata.metadata_log] == [True] * 3
    assert everything(lake.warehouse) == before
    assert str(lake.warehouse) not in json.dumps(
        [path.read_bytes().decode("latin-1") for path in (tmp_path / "there").rglob("*.avro")]
    )
    # What came back is protected from an expiry that would take all but the newest.
    copy.maintenance.expire_snapshots().older_than(SystemClock().now()).commit()
    assert rows_at(other.load_table("copies.orders").metadata_location) == rows


def test_what_replaces_a_lost_original_keeps_its_uuid(lake: SmallLake, other: PyIcebergCatalog, tmp_path: Path) -> None:
    rows, uuid = lake.rows("sales", "orders"), lake.catalog.load_table("sales.orders").metadata.table_uuid
    lake.lose("sales", "orders")
    assert call("restore", ORDERS, "--to", "other.sales.orders", "--location", str(tmp_path / "there")).code == 0
    copy = other.load_table("sales.orders")
    assert copy.metadata.table_uuid == uuid and rows_at(copy.metadata_location) == rows
    assert other.load_namespace_properties("sales")["depth"] == "1"


def test_a_whole_database_keeps_its_names(lake: SmallLake, other: PyIcebergCatalog, tmp_path: Path) -> None:
    lake.make("sales", "eu", "customers")
    assert call("backup", "lake").code == 0
    assert call("restore", "--all", "--to", "other.*", "--location", str(tmp_path / "there")).code == 0
    for levels in (("sales", "orders"), ("sales", "eu", "customers")):
        copy = other.load_table(levels)
        assert rows_at(copy.metadata_location) == lake.rows(*levels)
        assert copy.location() == f"file://{tmp_path}/there/{'/'.join(levels)}"


def test_a_copy_of_a_copy(lake: SmallLake, other: PyIcebergCatalog, tmp_path: Path) -> None:
    rows = lake.rows("sales", "orders")
    assert call("restore", ORDERS, "--to", "other.copies.one", "--location", str(tmp_path / "one")).code == 0
    assert call("backup", "other").code == 0
    assert call("restore", "other.copies.one", "--to", "other.copies.two", "--location", str(tmp_path / "two")).code == 0
    assert rows_at(other.load_table("copies.two").metadata_location) == rows


def test_a_look_first(lake: SmallLake, other: PyIcebergCatalog, tmp_path: Path) -> None:
    words = ("restore", ORDERS, "--to", "other.copies.orders", "--location", str(tmp_path / "there"))
    planned = call(*words, "--dry-run", "--json")
    (table,) = planned.result["tables"]
    assert table["moves"] == [{"from": lake.catalog.load_table("sales.orders").location(), "to": f"file://{tmp_path}/there"}]
    assert (table["to"], table["catalog"], planned.result["needs_confirm"]) == ("other.copies.orders", "register", [])
    assert table["uuid"] is not None and table["absent"]["files"] > 8
    assert not (tmp_path / "there").exists() and other.list_namespaces() == []
    said = call(*words, "--dry-run").out
    assert f"→ file://{tmp_path}/there" in said and "--to other.copies.orders" in said


@pytest.mark.parametrize(
    ("more", "code", "fact"),
    [
        (["--to", "other.copies.orders"], 2, "no place is given"),
        (["--map", "/a=/b"], 2, "are for another place"),
        (["--to", "other.copies.orders", "--location", "{warehouse}/sales/orders/inside"], 14, "lies in the folder of"),
        (["--to", "other.copies.orders", "--location", "{warehouse}"], 14, "or around it"),
        (["--to", "other.copies.orders", "--location", "{vault}/x"], 14, "the vault"),
        (["--to", "other.copies.orders", "--location", "{tmp}"], 14, "around it"),
        (["--to", "lake.sales.orders", "--location", "{tmp}/there"], 11, "has a table lake.sales.orders already"),
        (["--to", "other.orders", "--location", "{tmp}/there"], 2, "not a full table name"),
        (["--to", "nowhere.copies.orders", "--location", "{tmp}/there"], 2, "no catalog nowhere"),
        (["--to", "other.copies.orders", "--location", "{tmp}/there", "--uuid", "keep"], 14, "the original of"),
        (["--to", "other.copies.orders", "--location", "{tmp}/there", "--map", "x"], 2, "not a pair"),
    ],
)
def test_places_and_names_that_are_refused(
    lake: SmallLake, other: PyIcebergCatalog, tmp_path: Path, more: list[str], code: int, fact: str
) -> None:
    before = everything(tmp_path)
    filled = [word.format(tmp=tmp_path, warehouse=lake.warehouse, vault=lake.vault) for word in more]
    said = call("restore", ORDERS, *filled)
    assert said.code == code and fact in said.err, said.err
    after = {path: data for path, data in everything(tmp_path).items() if "/runs/" not in path and not path.endswith(".db")}
    assert after == {path: data for path, data in before.items() if "/runs/" not in path and not path.endswith(".db")}


def test_a_place_where_another_table_lies(lake: SmallLake, other: PyIcebergCatalog, tmp_path: Path) -> None:
    lake.make("sales", "others", location=f"file://{tmp_path}/there")
    said = call("restore", ORDERS, "--to", "other.copies.orders", "--location", str(tmp_path / "there"))
    assert said.code == 11 and "another table lies" in said.err


def test_a_table_that_writes_elsewhere_too(lake: SmallLake, other: PyIcebergCatalog, tmp_path: Path) -> None:
    lake.make("sales", "split")
    table = lake.catalog.load_table("sales.split")
    with table.transaction() as change:
        change.set_properties({"write.data.path": f"file://{tmp_path}/fast/split"})
    lake.append(("sales", "split"), range(30, 33))
    assert call("backup", "lake.sales.split").code == 0
    words = ("restore", "lake.sales.split", "--to", "other.copies.split", "--location", str(tmp_path / "there"))
    assert call(*words, "--map", f"{tmp_path}/fast/split={tmp_path}/fast/copy").code == 0
    copy = other.load_table("copies.split")
    assert rows_at(copy.metadata_location) == lake.rows("sales", "split")
    assert copy.properties["write.data.path"] == f"{tmp_path}/fast/copy"
    assert sorted((tmp_path / "fast" / "copy").rglob("*.parquet"))
    assert call(*words[:3], "other.copies.again", "--location", str(tmp_path / "again")).code == 0
    again = other.load_table("copies.again")
    assert again.properties["write.data.path"] == f"file://{tmp_path}/again/elsewhere/file{tmp_path}/fast/split"
    assert rows_at(again.metadata_location) == lake.rows("sales", "split")


@pytest.mark.parametrize("harm", ["gone", "unreadable"])
def test_a_table_that_had_lost_a_manifest_cannot_move(lake: SmallLake, other: PyIcebergCatalog, tmp_path: Path, harm: str) -> None:
    lake.make("sales", "harmed")
    manifest = next(path for path in lake.files("sales", "harmed", kind="*.avro") if not path.name.startswith("snap-"))
    manifest.unlink() if harm == "gone" else manifest.write_bytes(b"Obj\x01 and no more")
    assert call("backup", "lake.sales.harmed").code == 5
    said = call("restore", "lake.sales.harmed", "--to", "other.copies.harmed", "--location", str(tmp_path / "there"))
    assert said.code == 5 and "cannot get other paths" in said.err and manifest.name in said.err, said.err
    assert not (tmp_path / "there").exists()


def test_what_an_interrupted_restore_left_is_gone_on_with(lake: SmallLake, other: PyIcebergCatalog, tmp_path: Path) -> None:
    """Not entered yet, a data file, a manifest and a list not written yet: only these are."""
    words = ("restore", ORDERS, "--to", "other.copies.orders", "--location", str(tmp_path / "there"), "--json")
    whole = call(*words).result["written"]["files"]
    other.drop_table("copies.orders")
    there = tmp_path / "there"
    gone = [min(there.rglob("*.parquet")), min(there.rglob("snap-*.avro")), min(there.rglob("*-m0.avro"))]
    for path in gone:
        path.unlink()
    again = call(*words)
    assert again.code == 0, again.err
    # The metadata file is new too: its tags end by the clock.
    assert again.result["written"]["files"] == len(gone) + 1 < whole
    assert rows_at(other.load_table("copies.orders").metadata_location) == lake.rows("sales", "orders")


def test_in_a_hadoop_warehouse_the_folders_are_the_names(
    lake: SmallLake, other: PyIcebergCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYICEBERG_CATALOG__WARE__TYPE", "hadoop")
    monkeypatch.setenv("PYICEBERG_CATALOG__WARE__WAREHOUSE", f"file://{tmp_path}/ware")
    elsewhere = call("restore", ORDERS, "--to", "ware.copies.orders", "--location", str(tmp_path / "there"))
    assert elsewhere.code == 2 and "must lie at" in elsewhere.err
    said = call("restore", ORDERS, "--to", "ware.copies.orders", "--json")
    assert said.code == 0, said.err
    versions = sorted((tmp_path / "ware" / "copies" / "orders" / "metadata").glob("v*.metadata.json"))
    assert [path.name for path in versions] == ["v1.metadata.json"]
    assert rows_at(str(versions[0])) == lake.rows("sales", "orders")
