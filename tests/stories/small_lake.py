"""A small lake that PyIceberg writes: real tables, a SQLite catalog, a vault beside it, and a user who types commands."""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog as PyIcebergCatalog
from pyiceberg.exceptions import NamespaceAlreadyExistsError
from pyiceberg.manifest import clear_manifest_cache
from pyiceberg.table import StaticTable, Table

from bergung.catalogs.base import Namespace
from bergung.catalogs.settings import open_catalog
from bergung.catalogs.sql import SqlCatalog
from bergung.model.names import table_name
from tests.synthetic import SyntheticTable

SCHEMA = pa.schema([pa.field("id", pa.int64()), pa.field("name", pa.string())])
Levels = Sequence[str]


@dataclass
class SmallLake:
    """The catalog `lake` in a folder; BERGUNG_VAULT and PyIceberg's own variables make it known to every command."""

    folder: Path
    catalog: PyIcebergCatalog = field(init=False)

    def __post_init__(self) -> None:
        self.warehouse.mkdir(parents=True)
        self.catalog = PyIcebergCatalog("lake", uri=f"sqlite:///{self.database}", warehouse=f"file://{self.warehouse}")

    @property
    def database(self) -> Path:
        return self.folder / "lake.db"

    @property
    def warehouse(self) -> Path:
        return self.folder / "warehouse"

    @property
    def vault(self) -> Path:
        return self.folder / "vault"

    def announce(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """As a user would: by variables, in a folder and a home without other settings."""
        home = self.folder / "home"
        home.mkdir()
        monkeypatch.chdir(home)
        monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", f"sqlite:///{self.database}")
        for name, value in {"HOME": home, "XDG_CONFIG_HOME": home, "BERGUNG_VAULT": self.vault}.items():
            monkeypatch.setenv(name, str(value))
        monkeypatch.setenv("BERGUNG_ENGINE", "process")

    def make(self, *levels: str, location: str | None = None, rows: Iterable[int] = range(10)) -> Table:
        """A table with one snapshot; none when there are no rows."""
        for depth in range(1, len(levels)):
            try:
                self.catalog.create_namespace(levels[:depth], {"depth": str(depth)})
            except NamespaceAlreadyExistsError:
                continue
        table = self.catalog.create_table(levels, SCHEMA, location=location)
        self.append(levels, rows)
        return table

    def append(self, levels: Levels, rows: Iterable[int]) -> None:
        ids = list(rows)
        if ids:
            data = pa.table({"id": ids, "name": [f"name {id_}" for id_ in ids]}, SCHEMA)
            self.catalog.load_table(tuple(levels)).append(data)

    def adopt(self, name: str, table: SyntheticTable) -> None:
        """Enter a table that was made without an engine."""
        full = table_name(f"lake.{name}")
        own = open_catalog("lake")
        assert isinstance(own, SqlCatalog) and table.metadata_path is not None
        own.create_namespace(Namespace(full.namespace, {}))
        own.register(full, table.metadata_path)

    def point_to(self, levels: Levels, location: str) -> None:
        """Move the pointer, whatever lies there."""
        name = table_name(".".join(("lake", *levels)))
        own = open_catalog("lake")
        own.replace(name, location, expected=own.locate(name).metadata_location)

    def pointer(self, *levels: str) -> str:
        return open_catalog("lake").locate(table_name(".".join(("lake", *(f"`{level}`" for level in levels))))).metadata_location

    def lose(self, *levels: str) -> None:
        """Dropped, and every file of it gone."""
        location = self.catalog.load_table(levels).location()
        self.catalog.drop_table(levels)
        shutil.rmtree(location.removeprefix("file://"))

    def rows(self, *levels: str) -> dict[int, list[int]]:
        """The ids of every retained snapshot, read cold."""
        return rows_at(self.pointer(*levels))

    def files(self, *levels: str, kind: str = "*") -> list[Path]:
        folder = Path(self.catalog.load_table(levels).location().removeprefix("file://"))
        return sorted(path for path in folder.rglob(kind) if path.is_file())


def rows_at(metadata_location: str) -> dict[int, list[int]]:
    """The same by the metadata file alone."""
    clear_manifest_cache()
    table = StaticTable.from_metadata(metadata_location)
    ids = [snapshot.snapshot_id for snapshot in table.metadata.snapshots]
    return {id_: sorted(table.scan(snapshot_id=id_).to_arrow()["id"].to_pylist()) for id_ in ids}
