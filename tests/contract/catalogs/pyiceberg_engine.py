"""PyIceberg as the other program."""

from pathlib import Path

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.sql import SqlCatalog

from bergung.model.names import TableName

SCHEMA = pa.schema([pa.field("value", pa.int64())])


class PyIcebergEngine:
    """A warehouse in a folder, its catalog in one SQLite file, or where a uri says."""

    name = "lake"

    def __init__(self, database: Path | str, warehouse: Path) -> None:
        uri = database if isinstance(database, str) else f"sqlite:///{database}"
        self.catalog: Catalog = SqlCatalog(self.name, uri=uri, warehouse=f"file://{warehouse}")

    def create_namespace(self, levels: tuple[str, ...], properties: dict[str, str]) -> None:
        self.catalog.create_namespace(levels, properties)

    def properties(self, levels: tuple[str, ...]) -> dict[str, str]:
        return dict(self.catalog.load_namespace_properties(levels))

    def create_table(self, table: TableName) -> None:
        self.catalog.create_table(_identifier(table), SCHEMA)

    def append(self, table: TableName, value: int) -> None:
        self.catalog.load_table(_identifier(table)).append(pa.table({"value": [value]}, SCHEMA))

    def pointer(self, table: TableName) -> str:
        return self.catalog.load_table(_identifier(table)).metadata_location

    def rows(self, table: TableName) -> list[int]:
        rows = self.catalog.load_table(_identifier(table)).scan().to_arrow()
        return sorted(rows["value"].to_pylist())

    def tables(self, levels: tuple[str, ...]) -> set[str]:
        return {identifier[-1] for identifier in self.catalog.list_tables(levels)}


def _identifier(table: TableName) -> tuple[str, ...]:
    return (*table.namespace, table.name)
