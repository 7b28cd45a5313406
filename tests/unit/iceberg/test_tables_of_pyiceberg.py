"""Tables written by PyIceberg: our walk finds what PyIceberg's own metadata tables say."""

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.manifest import ManifestEntry, ManifestEntryStatus, ManifestFile
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    DateType,
    DecimalType,
    FixedType,
    LongType,
    NestedField,
    StringType,
    TimestamptzType,
    UUIDType,
)

from bergung.iceberg.manifests import read_entries
from bergung.model.files import FileKind
from tests.walking import local, metadata_of, walk, with_other_sizes

COLUMNS = {
    "id": (LongType(), pa.int64(), [1, 2, 3]),
    "day": (DateType(), pa.date32(), [dt.date(2024, 5, 1), dt.date(1969, 12, 31), None]),
    "at": (TimestamptzType(), pa.timestamp("us", "UTC"), [dt.datetime(2024, 5, 1, 7, tzinfo=dt.UTC)] * 3),
    "price": (DecimalType(9, 2), pa.decimal128(9, 2), [Decimal("1.50"), Decimal("-2.25"), None]),
    "key": (UUIDType(), pa.uuid(), [UUID(int=7).bytes, UUID(int=8).bytes, None]),
    "hash": (FixedType(4), pa.binary(4), [b"abcd", b"\0\0\0\0", None]),
    "a name, 100% + ü": (StringType(), pa.string(), ["a/b", "c d", "é"]),
}
SCHEMA = Schema(*(NestedField(id_, name, own[0]) for id_, (name, own) in enumerate(COLUMNS.items(), 1)))
ROWS = pa.table({name: pa.array(values, type_) for name, (_, type_, values) in COLUMNS.items()})


def spec(column: str, transform: Any) -> PartitionSpec:
    return PartitionSpec(PartitionField(SCHEMA.find_field(column).field_id, 1000, transform, "part"))


SPECS = {
    "none": PartitionSpec(),
    "date": spec("day", IdentityTransform()),
    "time": spec("at", IdentityTransform()),
    "decimal": spec("price", IdentityTransform()),
    "fixed": spec("hash", IdentityTransform()),
    "text": spec("a name, 100% + ü", IdentityTransform()),
}


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[SqlCatalog]:
    opened = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}/wh")
    opened.create_namespace("db")
    yield opened
    opened.close()


def grown(catalog: SqlCatalog, name: str, version: int) -> Table:
    properties = {"format-version": str(version), "write.metadata.previous-versions-max": "3"}
    table = catalog.create_table(f"db.{name}", SCHEMA, partition_spec=SPECS[name], properties=properties)
    table.append(ROWS)
    table.append(ROWS.slice(0, 2))
    table.delete("id = 1")
    table.overwrite(ROWS.slice(1))
    return catalog.load_table(f"db.{name}")


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", SPECS)
def test_the_walk_finds_what_pyiceberg_says(catalog: SqlCatalog, name: str, version: int) -> None:
    table = grown(catalog, name, version)
    found = walk(table.metadata_location)
    files = (entry.data_file for _, entry in entries_of(table) if entry.status != ManifestEntryStatus.DELETED)
    assert of_kind(found, FileKind.DATA) == {file.file_path: (file.file_size_in_bytes, file.record_count) for file in files}
    manifests = {manifest.manifest_path: (manifest.manifest_length, None) for manifest, _ in entries_of(table)}
    assert of_kind(found, FileKind.MANIFEST) == manifests
    assert set(of_kind(found, FileKind.MANIFEST_LIST)) == {each.manifest_list for each in table.metadata.snapshots}
    assert set(of_kind(found, FileKind.METADATA)) == {each.metadata_file for each in table.metadata.metadata_log}
    assert with_other_sizes(found) == []


def entries_of(table: Table) -> Iterator[tuple[ManifestFile, ManifestEntry]]:
    """By PyIceberg's own readers; its inspect.all_files cannot show a table with a uuid column."""
    for snapshot in table.metadata.snapshots:
        for manifest in snapshot.manifests(table.io):
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=False):
                yield manifest, entry


def of_kind(found: Any, kind: FileKind) -> dict[str, tuple[int | None, int | None]]:
    return {path: (file.declared_bytes, file.row_count) for path, file in found.items() if file.kind == kind}


@pytest.mark.parametrize("version", [1, 2])
def test_facts_of_the_metadata_file(catalog: SqlCatalog, version: int) -> None:
    table = grown(catalog, "none", version)
    found = metadata_of(table.metadata_location)
    assert found.identity == str(table.metadata.table_uuid)
    assert found.location == table.location()
    assert found.current_snapshot_id == table.metadata.current_snapshot_id
    assert found.total_rows == table.scan().to_arrow().num_rows
    assert found.last_updated_ms == table.metadata.last_updated_ms
    assert [each.snapshot_id for each in found.snapshots] == [each.snapshot_id for each in table.metadata.snapshots]
    assert found.answers() == table.metadata.snapshots[0].timestamp_ms
    assert len(found.metadata_log) == 3


@pytest.mark.parametrize("name", ["date", "decimal", "fixed", "text", "time"])
def test_partitions_of_damaged_files_can_be_named(catalog: SqlCatalog, name: str) -> None:
    table = grown(catalog, name, 2)
    paths = of_kind(walk(table.metadata_location), FileKind.MANIFEST)
    entries = [entry["data_file"] for path in paths for entry in read_entries(local(path).read_bytes(), path)]
    found = {file["file_path"]: file["partition"]["part"] for file in entries}
    assert found == {entry.data_file.file_path: meant(entry.data_file.partition[0], name) for _, entry in entries_of(table)}


def meant(value: Any, name: str) -> Any:
    """PyIceberg gives dates as days and times as microseconds."""
    if name == "date" and value is not None:
        return dt.date(1970, 1, 1) + dt.timedelta(days=value)
    return dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=value) if name == "time" else value


def test_expired_by_pyiceberg_the_log_has_a_gap_and_the_answers_begin_after_it(catalog: SqlCatalog) -> None:
    table = grown(catalog, "none", 2)
    second, third = table.metadata.snapshots[1:3]
    table.maintenance.expire_snapshots().by_id(second.snapshot_id).commit()
    found = metadata_of(catalog.load_table("db.none").metadata_location)
    logged = [entry.snapshot_id for entry in found.snapshot_log]
    assert second.snapshot_id not in logged
    assert logged[0] == table.metadata.snapshots[0].snapshot_id, "PyIceberg keeps what came before"
    assert found.answers() == third.timestamp_ms
