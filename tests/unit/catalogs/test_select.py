"""From words to tables."""

from pathlib import Path

import pytest

from bergung.catalogs.base import Catalog, Namespace
from bergung.catalogs.select import Selected, pointers, select_tables
from bergung.catalogs.settings import open_catalog
from bergung.catalogs.sql import SqlCatalog
from bergung.catalogs.sqlite import Database
from bergung.clock import SystemClock
from bergung.errors import Refused, UnknownTable, UsageError
from bergung.model.names import TableName, table_name

TABLES = (
    "lake.sales.orders",
    "lake.sales.items",
    "lake.sales.eu.orders",
    "lake.hr.people",
    "lake.hr.`a.b`",
    "bay.sales.orders",
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two catalogs on one file; nothing here changes it."""
    path = tmp_path_factory.mktemp("lake") / "lake.db"
    path.touch()
    for table in map(table_name, TABLES):
        catalog = SqlCatalog(table.catalog, Database(path), SystemClock())
        catalog.create_namespace(Namespace(table.namespace, {}))
        catalog.register(table, location_of(table))
    return path


@pytest.fixture(autouse=True)
def declared(lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both, and one of which the file has nothing."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("lake", "bay", "empty"):
        monkeypatch.setenv(f"PYICEBERG_CATALOG__{name.upper()}__URI", f"sqlite:///{lake}")


def location_of(table: TableName) -> str:
    return f"file:///{table}/v1.metadata.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table without a catalog."""
    metadata = tmp_path / "bare" / "metadata"
    metadata.mkdir(parents=True)
    for version in (1, 2):
        (metadata / f"v{version}.metadata.json").write_text("{}")
    return metadata.parent


def names(words: list[str], exclude: list[str] | None = None) -> list[str]:
    return [str(each.table) for each in select_tables(words, exclude or [], open_catalog)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["lake.sales.orders"], ["lake.sales.orders"]),
        (["lake.sales"], ["lake.sales.items", "lake.sales.orders", "lake.sales.eu.orders"]),
        (["lake.sales.*"], ["lake.sales.items", "lake.sales.orders", "lake.sales.eu.orders"]),
        (["lake.*.orders"], ["lake.sales.orders"]),
        (["lake.*.?rders", "bay"], ["bay.sales.orders", "lake.sales.orders"]),
        (["lake.hr.`a.b`"], ["lake.hr.`a.b`"]),
        (["lake.hr", "lake.hr.people", "lake.hr.*"], ["lake.hr.`a.b`", "lake.hr.people"]),
        (["bay.sales", "lake.sales.orders"], ["bay.sales.orders", "lake.sales.orders"]),
    ],
)
def test_what_words_mean(words: list[str], expected: list[str]) -> None:
    assert names(words) == expected
    assert names(words[::-1]) == expected


def test_a_catalog_means_all_its_tables() -> None:
    assert names(["lake"]) == sorted((text for text in TABLES if text.startswith("lake")), key=table_name)


def test_excludes_are_taken_away_afterwards() -> None:
    assert names(["lake"], ["lake.sales", "lake.hr.peo*", "other.*"]) == ["lake.hr.`a.b`"]
    assert names(["lake.sales.orders", "bay"], ["lake.sales.orders"]) == ["bay.sales.orders"]
    with pytest.raises(UsageError, match="every table that was named is excluded"):
        names(["lake.sales"], ["lake"])


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("lake.sales.order", "lake.sales.orders"),
        ("lake.sale", "names: lake.sales, "),
        ("lake.Sales.orders", "lake.sales.orders"),
        ("lake.hr.a.b", "lake.hr.`a.b`"),
        ("lake.sales.x*", "lake.sales"),
        ("empty", "has entries of bay, lake"),
        ("empty.sales.orders", "has entries of bay, lake"),
        ("lake.zzz", "lake."),
        ("lake.zzzzzzzzzzzzzzzzzz", "names: lake.hr, "),
    ],
)
def test_a_word_that_matches_nothing_is_told(word: str, hint: str) -> None:
    with pytest.raises(UnknownTable) as told:
        names(["lake.sales.orders", word])
    assert word in told.value.message
    assert hint in told.value.hint


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "no table is named"),
        (["other.sales.orders"], "no catalog other"),
        (["*.sales.orders"], r"no catalog \*"),
        (["lake..orders"], "not a table name"),
        (["warehouse/orders"], "not the name of a table"),
    ],
)
def test_words_that_cannot_be_understood_are_told(words: list[str], told: str) -> None:
    with pytest.raises(UsageError, match=told) as error:
        names(words)
    assert error.value.hint


def test_a_path_is_a_table_without_a_catalog(folder: Path) -> None:
    name = str(TableName("location", (), str(folder)))
    for words in (
        [str(folder)],
        ["./bare", f"{folder}/"],
        [f"file://{folder}", f"file:{folder}"],
        [f"{folder}/metadata/v1.metadata.json"],
        [name],
    ):
        assert names([*words, "bay"]) == ["bay.sales.orders", name]
        assert names([*words, "bay"], ["./bare/"]) == ["bay.sales.orders"]
        assert names([*words, "bay"], [name]) == ["bay.sales.orders"]


def test_a_path_without_a_table_is_told_before_anything_starts(folder: Path) -> None:
    with pytest.raises(UnknownTable, match="no metadata file"):
        names(["bay", "./bear"])
    (folder / "metadata" / "v2.gz.metadata.json").touch()
    with pytest.raises(Refused):
        names(["bay", str(folder)])


def test_one_table_cannot_be_meant_by_two_files(folder: Path) -> None:
    with pytest.raises(UsageError, match="named twice"):
        names([f"{folder}/metadata/v1.metadata.json", f"{folder}/metadata/v2.metadata.json"])


def test_pointers_of_many_catalogs(folder: Path) -> None:
    selected = select_tables(["lake", "bay", "./bare"], [], open_catalog)
    found = pointers(selected)
    assert sorted(found) == [each.table for each in selected]
    for table, pointer in found.items():
        expected = location_of(table) if table.namespace else f"file://{folder}/metadata/v2.metadata.json"
        assert (pointer.table, pointer.metadata_location) == (table, expected)


def test_every_catalog_is_asked_once_whatever_the_number_of_tables() -> None:
    questions: list[str] = []
    words = ["lake.sales.*", "lake.hr.people", "lake"]
    selected = select_tables(words, ["lake.hr.`a.b`"], lambda name: Counting(open_catalog(name), questions))
    assert questions == ["tables"]
    assert len(pointers(selected)) == len(selected) == 4
    assert questions == ["tables", "locate_all"]


class Counting:
    """A real catalog that writes down what it is asked."""

    def __init__(self, catalog: Catalog, questions: list[str]) -> None:
        self.name = catalog.name
        self._catalog = catalog
        self._questions = questions

    def __getattr__(self, question: str) -> object:
        self._questions.append(question)
        return getattr(self._catalog, question)


def test_selected_says_which_catalog_knows_the_table() -> None:
    (only,) = select_tables(["bay"], [], open_catalog)
    assert only == Selected(table_name("bay.sales.orders"), only.catalog)
    assert only.catalog.locate(only.table).metadata_location == location_of(only.table)
