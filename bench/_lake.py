"""A lake of incompressible Parquet, made once with PyIceberg, kept in the cache, and put right again after each use."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyiceberg.catalog import Catalog, load_catalog

CATALOG, NAMESPACE = "lake", "sales"
TABLES, COMMITS, FILES = 4, 12, 3
ROWS = 720_000  # of 16 random bytes: 11.5 MB a file
MADE, DATABASE, PRISTINE = "made.json", "catalog.db", "catalog.db.made"
SCHEMA = pa.schema([("id", pa.int64()), ("value", pa.float64())])
PROPERTIES = {
    "write.target-file-size-bytes": str(ROWS * 16),
    "write.parquet.compression-codec": "uncompressed",
}


@dataclass(frozen=True)
class Lake:
    """Where it lies, and the size of every file below it."""

    root: Path
    sizes: dict[str, int]

    @property
    def warehouse(self) -> Path:
        return self.root / "warehouse"

    @property
    def data_files(self) -> int:
        return sum(name.endswith(".parquet") for name in self.sizes)

    @property
    def bytes(self) -> int:
        return sum(self.sizes.values())

    def said(self) -> str:
        others = len(self.sizes) - self.data_files
        commits = f"{TABLES} tables, {TABLES * COMMITS} snapshots"
        return f"{commits}, {self.data_files} data files and {others} of metadata, {self.bytes / 1e9:.2f} GB"

    def append(self, rows: int) -> int:
        """One commit to one table; how many bytes it wrote."""
        before = below(self.warehouse)
        _open(self.root).load_table(f"{NAMESPACE}.t0").append(_rows(rows, seed=len(before)))
        return sum(size for name, size in below(self.warehouse).items() if name not in before)

    def purge(self) -> None:
        """Every table goes, with all its files."""
        catalog = _open(self.root)
        for table in catalog.list_tables(NAMESPACE):
            catalog.drop_table(table)
        shutil.rmtree(self.warehouse / NAMESPACE)

    def is_whole(self) -> bool:
        return below(self.warehouse) == self.sizes

    @contextmanager
    def put_right(self) -> Iterator[None]:
        """What was committed inside is gone at the end."""
        try:
            yield
        finally:
            _tidy(self)


def lake_in(folder: Path) -> Lake:
    """The lake of an earlier run when it is still whole, else a new one."""
    root = folder / "lake"
    if (root / MADE).is_file():
        lake = Lake(root, json.loads((root / MADE).read_text()))
        _tidy(lake)
        if lake.is_whole():
            return lake
    shutil.rmtree(root, ignore_errors=True)
    return _make(root)


def below(folder: Path) -> dict[str, int]:
    """Every file and its size."""
    return {str(path.relative_to(folder)): path.stat().st_size for path in folder.rglob("*") if path.is_file()}


def read_all(folder: Path) -> None:
    """So that every file lies in the page cache."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb", buffering=0) as file:
                while file.read(1024 * 1024):
                    pass


def _make(root: Path) -> Lake:
    print("making the lake (once)", flush=True)
    warehouse = root / "warehouse"
    warehouse.mkdir(parents=True)
    declared = f"type: sql\n    uri: sqlite:///{root / DATABASE}\n    warehouse: {warehouse.as_uri()}\n"
    (root / ".pyiceberg.yaml").write_text(f"catalog:\n  {CATALOG}:\n    {declared}")
    catalog = _open(root)
    catalog.create_namespace(NAMESPACE)
    for number in range(TABLES):
        table = catalog.create_table(f"{NAMESPACE}.t{number}", SCHEMA, properties=PROPERTIES)
        for commit in range(COMMITS):
            table.append(_rows(ROWS * FILES, seed=number * COMMITS + commit))
    lake = Lake(root, below(warehouse))
    if lake.data_files < 140 or lake.bytes < 1.5e9:
        raise SystemExit(f"error: the lake is too small: {lake.said()}")
    shutil.copy2(root / DATABASE, root / PRISTINE)
    (root / MADE).write_text(json.dumps(lake.sizes))
    return lake


def _tidy(lake: Lake) -> None:
    for name in below(lake.warehouse):
        if name not in lake.sizes:
            (lake.warehouse / name).unlink()
    shutil.copy2(lake.root / PRISTINE, lake.root / DATABASE)


def _rows(count: int, seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    columns = {"id": random.integers(0, 2**63, count), "value": random.integers(0, 2**63, count).view(np.float64)}
    return pa.table(columns, schema=SCHEMA)


def _open(root: Path) -> Catalog:
    uri, warehouse = f"sqlite:///{root / DATABASE}", (root / "warehouse").as_uri()
    return load_catalog(CATALOG, type="sql", uri=uri, warehouse=warehouse)
