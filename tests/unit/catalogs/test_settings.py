"""The user's catalogs: declared to PyIceberg, found by us."""

import sqlite3
from pathlib import Path

import pytest
from pyiceberg.catalog import load_catalog

from bergung.catalogs.base import Namespace
from bergung.catalogs.hive import HiveCatalog
from bergung.catalogs.settings import catalog_names, open_catalog
from bergung.catalogs.sql import SqlCatalog
from bergung.errors import UsageError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without any configuration."""
    for folder in ("home", "here"):
        (tmp_path / folder).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PYICEBERG_HOME", raising=False)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "home"


def declare(folder: Path, text: str) -> None:
    (folder / ".pyiceberg.yaml").write_text(text)


def test_a_catalog_of_the_file_in_the_home_folder(home: Path, tmp_path: Path) -> None:
    declare(home, f"catalog:\n  Lake:\n    uri: sqlite:///{tmp_path}/lake.db\n  other:\n    type: rest\n")
    load_catalog("lake", uri=f"sqlite:///{tmp_path}/lake.db").create_namespace("sales")
    assert catalog_names() == ["lake", "other"]
    catalog = open_catalog("lake")
    assert catalog.name == "lake"
    assert catalog.namespaces() == [Namespace(("sales",), {})]


def test_a_catalog_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYICEBERG_CATALOG__MY_LAKE__TYPE", "SQL")
    monkeypatch.setenv("PYICEBERG_CATALOG__MY_LAKE__URI", f"sqlite:///{tmp_path}/lake.db")
    (tmp_path / "lake.db").touch()
    assert catalog_names() == ["my-lake"]
    assert open_catalog("my-lake").tables() == []


def test_pyiceberg_home_comes_first_and_this_folder_last(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(Path(), "catalog:\n  here:\n    type: sql\n")
    assert catalog_names() == ["here"]
    declare(home, "catalog:\n  home:\n    type: sql\n")
    assert catalog_names() == ["home"]
    declare(tmp_path, "catalog:\n  first:\n    type: sql\n")
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    assert catalog_names() == ["first"]


def test_entries_are_kept_under_the_name_as_it_is_given(home: Path, tmp_path: Path) -> None:
    """As PyIceberg does it: declarations know no upper case, entries do."""
    declare(home, f"catalog:\n  lake:\n    uri: sqlite:///{tmp_path}/lake.db\n")
    load_catalog("LAKE", uri=f"sqlite:///{tmp_path}/lake.db").create_namespace("sales")
    assert open_catalog("lake").namespaces() == []
    assert open_catalog("LAKE").namespaces() == [Namespace(("sales",), {})]


def test_nothing_is_made_by_opening_or_asking(home: Path, tmp_path: Path) -> None:
    declare(home, f"catalog:\n  lake:\n    uri: sqlite:///{tmp_path}/typo.db\n")
    catalog = open_catalog("lake")
    with pytest.raises(UsageError, match=r"does not exist: .*/typo\.db") as told:
        catalog.tables()
    assert told.value.hint.endswith(f"touch {tmp_path}/typo.db")
    assert not (tmp_path / "typo.db").exists()


def test_an_unknown_catalog_is_told_with_those_that_are_known(home: Path) -> None:
    with pytest.raises(UsageError, match="no catalog my-lake in the PyIceberg configuration; none is declared") as told:
        open_catalog("my-lake")
    assert "export PYICEBERG_CATALOG__MY_LAKE__URI=sqlite:////" in told.value.hint
    declare(home, "catalog:\n  lake:\n    type: sql\n  bay:\n    type: sql\n")
    with pytest.raises(UsageError, match="declared are: bay, lake"):
        open_catalog("my-lake")


def test_the_hint_can_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError) as told:
        open_catalog("my-lake")
    variable, value = told.value.hint.rpartition("export ")[2].split("=")
    monkeypatch.setenv(variable, value.replace("/path/to", str(tmp_path)))
    sqlite3.connect(tmp_path / "my-lake.db").close()
    assert open_catalog("my-lake").tables() == []


@pytest.mark.parametrize(
    ("properties", "kind"),
    [
        ("uri: thrift://host:9083", HiveCatalog),
        ("type: hive\n    uri: thrift://host:9083,thrift://other:9083", HiveCatalog),
        ("uri: postgresql://user:secret@host/db", SqlCatalog),
        ("type: sql\n    uri: postgresql+psycopg2://user:secret@host/db", SqlCatalog),
        ("uri: sqlite:////no/such.db", SqlCatalog),
    ],
)
def test_every_kind_is_opened_without_asking_it(home: Path, properties: str, kind: type) -> None:
    declare(home, f"catalog:\n  lake:\n    {properties}\n")
    catalog = open_catalog("lake")
    assert type(catalog) is kind
    assert catalog.name == "lake"


@pytest.mark.parametrize(
    ("properties", "told"),
    [
        ("type: dynamodb\n    uri: https://user:secret@host/", "is of type dynamodb, which this version does not know yet"),
        ("type: dynamodb", "is of type dynamodb, which"),
        ("type: hadoop", "is declared without an absolute warehouse"),
        ("type: hadoop\n    warehouse: ./secret", "is declared without an absolute warehouse"),
        ("type: in-memory", "is of type in-memory, which"),
        ("uri: postgresql+asyncpg://user:secret@host/db", "no driver of this version"),
        ("uri: postgresql://user:secret@secret@host/db", "not the uri of a PostgreSQL database"),
        ("uri: thrift://secret:port", "not the uri of a Hive Metastore"),
        ("type: sql\n    uri: mysql://user:secret@host/db", "is kept in mysql, which"),
        ("uri: oracle://user:secret@host/db", "is of type oracle, which"),
        ("type: sql", "is declared without a uri"),
        ("warehouse: /secret", "is declared without a uri"),
        ("uri: 'sqlite:///:memory:'", "in memory"),
    ],
)
def test_what_this_version_cannot_open_is_said_without_secrets(home: Path, properties: str, told: str) -> None:
    declare(home, f"catalog:\n  lake:\n    {properties}\n")
    with pytest.raises(UsageError, match=told) as error:
        open_catalog("lake")
    assert error.value.hint
    assert "secret" not in error.value.message + error.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- secret\n",
        "catalog: secret\n",
        "catalog:\n",
        "catalog:\n  lake: secret\n",
        "catalog:\n  lake: {token: secret}\n",
        "catalog:\n  lake:\n    token: secret\n    token: secret2\n",
        "catalog:\n  lake:\n token: secret\n   x",
    ],
)
def test_a_configuration_that_pyiceberg_cannot_read_is_told_without_secrets(home: Path, text: str) -> None:
    declare(home, text)
    with pytest.raises(UsageError, match="the PyIceberg configuration cannot be read") as told:
        open_catalog("lake")
    assert "secret" not in told.value.message + told.value.hint


def test_bytes_and_variables_that_do_not_fit_are_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".pyiceberg.yaml").write_bytes(b"catalog:\n  l\xff: x")
    with pytest.raises(UsageError, match="cannot be read"):
        open_catalog("lake")
    declare(home, "catalog:\n  lake:\n    uri: x\n")
    monkeypatch.setenv("PYICEBERG_CATALOG", "word")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__TOKEN", "secret")
    with pytest.raises(UsageError, match="cannot be read") as told:
        open_catalog("lake")
    assert "secret" not in told.value.message
