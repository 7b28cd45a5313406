"""Tables written by Spark: our walk finds what Iceberg's own metadata tables say, for every kind of file."""

from collections import Counter

import pytest

from bergung.model.files import FileKind
from tests.spark.conftest import Lake
from tests.walking import metadata_of, walk, with_other_sizes

TABLES = {
    "shop.visits": set(),
    "shop.orders": {FileKind.POSITION_DELETES},
    "shop.payments": {FileKind.DELETION_VECTORS},
    "shop.places": set(),
    "shop.products": set(),
    "shop.customers": set(),
    "shop.wishes": set(),
    "shop.eu.north.stock": set(),
}
CONTENT = {
    0: {FileKind.DATA},
    1: {FileKind.POSITION_DELETES, FileKind.DELETION_VECTORS},
    2: {FileKind.EQUALITY_DELETES},
}


@pytest.mark.parametrize("table", TABLES)
def test_the_walk_finds_what_iceberg_says(lake_as_made: Lake, table: str) -> None:
    found = walk(lake_as_made.location(table))
    files = {path: (file.kind, file.declared_bytes, file.row_count) for path, file in found.items()}
    full = lake_as_made.full(table)
    rows = lake_as_made.spark.sql(f"SELECT * FROM {full}.all_files").collect()
    assert {row.file_path for row in rows} == {path for path, file in files.items() if file[2] is not None}
    for row in rows:
        kind, size, _ = files[row.file_path]
        assert kind in CONTENT[row.content] and size == row.file_size_in_bytes
        assert (kind == FileKind.DELETION_VECTORS) == (row.file_format == "PUFFIN")
    manifests = lake_as_made.spark.sql(f"SELECT path, length FROM {full}.all_manifests").collect()
    of_manifests = {path: file[1] for path, file in files.items() if file[0] == FileKind.MANIFEST}
    assert of_manifests == {row.path: row.length for row in manifests}
    snapshots = lake_as_made.spark.sql(f"SELECT manifest_list FROM {full}.snapshots").collect()
    assert {row.manifest_list for row in snapshots} == of_kind(files, FileKind.MANIFEST_LIST)
    log = lake_as_made.spark.sql(f"SELECT file FROM {full}.metadata_log_entries").collect()
    assert {row.file for row in log} == of_kind(files, FileKind.METADATA) | {lake_as_made.location(table)}
    assert TABLES[table] <= {file[0] for file in files.values()}
    assert with_other_sizes(found) == []


def of_kind(files: dict[str, tuple[FileKind, int | None, int | None]], kind: FileKind) -> set[str]:
    return {path for path, file in files.items() if file[0] == kind}


def test_rows_of_deletion_vectors_in_one_file_are_summed(lake_as_made: Lake) -> None:
    table = "shop.payments"
    found = walk(lake_as_made.location(table))
    current = lake_as_made.spark.sql(f"SELECT * FROM {lake_as_made.full(table)}.all_delete_files").collect()
    vectors = {(row.file_path, row.content_offset): row.record_count for row in current}
    wanted: Counter[str] = Counter()
    for (path, _), count in vectors.items():
        wanted[path] += count
    assert len(vectors) > len(wanted), "no file holds several"
    assert {path: file.row_count for path, file in found.items() if file.kind == FileKind.DELETION_VECTORS} == wanted


@pytest.mark.parametrize("table", TABLES)
def test_facts_of_the_metadata_file(lake_as_made: Lake, table: str) -> None:
    found = metadata_of(lake_as_made.location(table))
    full = lake_as_made.full(table)
    history = lake_as_made.spark.sql(f"SELECT * FROM {full}.history").collect()
    assert len(found.snapshot_log) == len(history)
    snapshots = lake_as_made.spark.sql(f"SELECT * FROM {full}.snapshots").collect()
    assert [(each.snapshot_id, each.parent_id, each.operation) for each in found.snapshots] == [
        (row.snapshot_id, row.parent_id, row.operation) for row in snapshots
    ]
    refs = lake_as_made.spark.sql(f"SELECT * FROM {full}.refs").collect()
    assert {name: ref.snapshot_id for name, ref in found.refs.items()} == {row.name: row.snapshot_id for row in refs}
    assert found.answers() == (found.snapshot_log[0].timestamp_ms if history else found.last_updated_ms)
