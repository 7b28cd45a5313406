"""A table without a catalog."""

import os
from pathlib import Path

import pytest

from bergung.catalogs.base import Namespace
from bergung.catalogs.location import LocationCatalog, absolute, is_address
from bergung.clock import SystemClock
from bergung.errors import Refused, UnknownTable, UsageError
from bergung.model.names import TableName, split_levels
from bergung.stores.memory import MemoryStore

UUID = "0a1b2c3d-0000-4000-8000-00000000000a"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    metadata = tmp_path / "Ünï, 100%20+" / "orders" / "metadata"
    metadata.mkdir(parents=True)
    for version in (1, 2, 3):
        (metadata / f"v{version}.metadata.json").write_text("{}")
    (metadata / "version-hint.text").write_text("2\n")
    return metadata.parent


@pytest.mark.parametrize("form", ["{}", "{}/", "file://{}", "file:{}", "file:{}/"])
def test_a_folder_in_any_form_is_one_table(folder: Path, form: str) -> None:
    before = SystemClock().now()
    catalog = LocationCatalog(form.format(folder))
    assert catalog.tables() == [TableName("location", (), str(folder))]
    found = catalog.locate(catalog.table)
    assert found.metadata_location == f"file://{folder}/metadata/v3.metadata.json"
    assert found.previous_location is None
    assert before <= found.read_at <= SystemClock().now()
    assert catalog.locate_all(catalog.tables()).keys() == {catalog.table}


def test_a_metadata_file_is_taken_as_it_is(folder: Path) -> None:
    catalog = LocationCatalog(f"{folder}/metadata/v1.metadata.json")
    assert catalog.table == LocationCatalog(str(folder)).table
    assert catalog.locate(catalog.table).metadata_location == f"file://{folder}/metadata/v1.metadata.json"


def test_a_metadata_file_outside_of_a_metadata_folder(tmp_path: Path) -> None:
    (tmp_path / "saved.json.gz").write_bytes(b"")
    catalog = LocationCatalog(f"file:{tmp_path}/saved.json.gz")
    assert catalog.table.name == str(tmp_path)
    assert catalog.locate(catalog.table).metadata_location == f"file://{tmp_path}/saved.json.gz"


def test_a_table_in_memory() -> None:
    store = MemoryStore("locations")
    store.put_if_absent(f"lake/orders/metadata/00000-{UUID}.metadata.json", [b"{}"])
    store.put_if_absent(f"lake/orders/metadata/00001-{UUID}.metadata.json", [b"{}"])
    store.put_if_absent(f"lake/orders/metadata/deeper/00002-{UUID}.metadata.json", [b"{}"])
    store.put_if_absent(f"lake/orders/metadata-old/00003-{UUID}.metadata.json", [b"{}"])
    catalog = LocationCatalog("memory://locations/lake/orders")
    assert catalog.table.name == "memory://locations/lake/orders"
    expected = f"memory://locations/lake/orders/metadata/00001-{UUID}.metadata.json"
    assert catalog.locate(catalog.table).metadata_location == expected
    named = LocationCatalog(expected)
    assert named.table == catalog.table
    assert named.locate(named.table).metadata_location == expected


def test_its_name_is_printed_so_that_it_can_be_read_back() -> None:
    table = LocationCatalog("/a.b/orders").table
    assert split_levels(str(table)) == ("location", "/a.b/orders")


@pytest.mark.parametrize("hint", ["", "two", "2x", "\xff"])
def test_an_unreadable_hint_is_no_hint(folder: Path, hint: str) -> None:
    (folder / "metadata" / "version-hint.text").write_text(hint, "latin-1")
    catalog = LocationCatalog(str(folder))
    assert catalog.locate(catalog.table).metadata_location.endswith("/v3.metadata.json")


def test_what_is_not_there_is_told(folder: Path) -> None:
    for address in (f"{folder}/metadata", f"{folder}/nothing", f"{folder}/metadata/v4.metadata.json"):
        catalog = LocationCatalog(address)
        with pytest.raises(UnknownTable, match="no metadata file"):
            catalog.locate(catalog.table)
        assert catalog.locate_all(catalog.tables()) == {}
    with pytest.raises(UnknownTable):
        LocationCatalog(str(folder)).locate(TableName("location", (), "/elsewhere"))


def test_what_cannot_be_decided_is_refused(folder: Path) -> None:
    (folder / "metadata" / "v3.gz.metadata.json").write_bytes(b"")
    catalog = LocationCatalog(str(folder))
    with pytest.raises(Refused, match=r"v3\.gz\.metadata\.json, v3\.metadata\.json"):
        catalog.locate(catalog.table)
    assert catalog.locate_all(catalog.tables()) == {}


def test_there_is_nowhere_to_register(folder: Path) -> None:
    catalog = LocationCatalog(str(folder))
    assert catalog.namespaces() == []
    with pytest.raises(UsageError) as told:
        catalog.register(catalog.table, "file:///a/v1.metadata.json")
    assert "register_table('namespace.name', 'file:///a/v1.metadata.json')" in told.value.hint
    with pytest.raises(UsageError):
        catalog.replace(catalog.table, "file:///a/v1.metadata.json", expected="file:///b")
    with pytest.raises(UsageError):
        catalog.create_namespace(Namespace(("a",), {}))


def test_no_store_for_it_yet() -> None:
    catalog = LocationCatalog("gs://bucket/lake/orders/")
    assert catalog.table.name == "gs://bucket/lake/orders"
    with pytest.raises(UsageError, match="no store for paths of this kind"):
        catalog.locate(catalog.table)


@pytest.mark.parametrize(
    ("word", "yes"),
    [("/a", True), ("./a", True), ("../a", True), ("file:/a", True), ("s3://b/k", True), ("memory://n/k", True),
     ("lake.sales.orders", False), ("lake", False), ("a/b", False), ("lake.`s3://b`.t", False), ("lake.a:b", False)],
)  # fmt: skip
def test_what_looks_like_an_address(word: str, yes: bool) -> None:
    assert is_address(word) is yes


def test_a_relative_path_begins_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute("./a/../orders/") == f"file://{os.getcwd()}/orders"
    assert absolute("//two//slashes") == "file:///two/slashes"
