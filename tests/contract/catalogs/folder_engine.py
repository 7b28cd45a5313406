"""PyIceberg as a writer of Hadoop tables in a bucket: it commits aside, and what it wrote is laid down as a version.

Java's HadoopCatalog would need Hadoop's S3A file system, whose jars are not part of this.
"""

from pathlib import Path
from uuid import uuid4

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import StaticTable, Table

from bergung.model.names import TableName
from tests.contract.catalogs.pyiceberg_engine import SCHEMA
from tests.servers.s3 import KEY_ID, REGION, SECRET, OwnBucket

ASIDE = "aside"


class FolderEngine:
    """The warehouse `s3://bucket/warehouse`."""

    name = "lake"

    def __init__(self, bucket: OwnBucket, scratch: Path) -> None:
        self.bucket = bucket
        keys = {"s3.access-key-id": KEY_ID, "s3.secret-access-key": SECRET}
        self.access = {"s3.endpoint": bucket.server.endpoint, "s3.region": REGION, **keys}
        self.catalog = SqlCatalog("aside", uri=f"sqlite:///{scratch}/aside.db", warehouse=self.address, **self.access)
        self.catalog.create_namespace(ASIDE)

    @property
    def address(self) -> str:
        return f"s3://{self.bucket.name}/warehouse"

    def create_namespace(self, levels: tuple[str, ...], properties: dict[str, str]) -> None:
        """As S3A makes folders."""
        assert not properties
        for depth in range(1, len(levels) + 1):
            self._put(f"{'/'.join(levels[:depth])}/", b"")

    def properties(self, levels: tuple[str, ...]) -> dict[str, str]:
        return {}

    def create_table(self, table: TableName) -> None:
        made = self.catalog.create_table((ASIDE, uuid4().hex), SCHEMA, location=f"{self.address}/{_folder(table)}")
        self._lay_down(table, made, 1)

    def append(self, table: TableName, value: int) -> None:
        changed = self.catalog.register_table((ASIDE, uuid4().hex), self.pointer(table))
        changed.append(pa.table({"value": [value]}, SCHEMA))
        self._lay_down(table, changed, self._hint(table) + 1)

    def pointer(self, table: TableName) -> str:
        return f"{self.address}/{_folder(table)}/metadata/v{self._hint(table)}.metadata.json"

    def rows(self, table: TableName) -> list[int]:
        """By the folder: it believes the hint."""
        read = StaticTable.from_metadata(f"{self.address}/{_folder(table)}", self.access)
        return sorted(read.scan().to_arrow()["value"].to_pylist())

    def tables(self, levels: tuple[str, ...]) -> set[str]:
        prefix = f"warehouse/{'/'.join(levels)}/"
        page = self.bucket.server.client.list_objects_v2(Bucket=self.bucket.name, Prefix=prefix)
        rests = (row["Key"][len(prefix) :] for row in page["Contents"])
        found = {rest.partition("/metadata/v1.")[0] for rest in rests if "/metadata/v1." in rest}
        return {name for name in found if "/" not in name}

    def _lay_down(self, table: TableName, written: Table, number: int) -> None:
        with written.io.new_input(written.metadata_location).open() as stream:
            self._put(f"{_folder(table)}/metadata/v{number}.metadata.json", stream.read())
        self._put(f"{_folder(table)}/metadata/version-hint.text", str(number).encode())

    def _hint(self, table: TableName) -> int:
        key = f"warehouse/{_folder(table)}/metadata/version-hint.text"
        return int(self.bucket.server.client.get_object(Bucket=self.bucket.name, Key=key)["Body"].read())

    def _put(self, key: str, content: bytes) -> None:
        self.bucket.overwrite(key, content, "warehouse")


def _folder(table: TableName) -> str:
    return "/".join((*table.namespace, table.name))
