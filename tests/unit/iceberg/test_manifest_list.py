"""Manifest lists of every format version."""

import io
from pathlib import Path
from typing import Any

import fastavro
import pytest

from bergung.errors import CorruptFile
from bergung.iceberg.manifest_list import ManifestContent, ManifestFile, read_manifest_list
from tests import synthetic_avro
from tests.synthetic import Shape, SyntheticTable

WHERE = "s3://b/t/metadata/snap-1.avro"


def written(rows: list[dict[str, Any]], schema: Any) -> bytes:
    target = io.BytesIO()
    fastavro.writer(target, schema, rows)
    return target.getvalue()


@pytest.mark.parametrize("version", [1, 2, 3])
def test_what_a_snapshot_lives_on(tmp_path: Path, version: int) -> None:
    made = SyntheticTable(tmp_path, Shape(format_version=version, with_data=False))
    made.append(2)
    made.commit()
    made.append(3)
    made.delete(made.live_paths()[:1])
    made.commit()
    path = made.snapshots[-1]["manifest-list"]
    rewritten, new = read_manifest_list(made.local(path).read_bytes(), path)
    paths = [path for path, kind in made.reached.items() if kind == "manifest"]
    assert {rewritten.path, new.path} < set(paths)
    assert rewritten.length == made.local(rewritten.path).stat().st_size
    sequence = 0 if version == 1 else 2
    assert rewritten == ManifestFile(
        path=rewritten.path,
        length=rewritten.length,
        content=ManifestContent.DATA,
        sequence_number=sequence,
        added_snapshot_id=1002,
        partition_spec_id=0,
        added_count=0,
        existing_count=1,
        deleted_count=1,
        added_row_count=0,
        existing_row_count=3,
        has_key=False,
    )
    assert (new.added_count, new.existing_count, new.deleted_count, new.added_row_count) == (3, 0, 0, 9)


@pytest.mark.parametrize("content", list(ManifestContent))
def test_content_and_key(content: ManifestContent) -> None:
    row = {"manifest_path": "m", "manifest_length": 5, "partition_spec_id": 4, "key_metadata": b"k"}
    row |= {"content": ["data", "deletes"].index(content), "sequence_number": 7, "min_sequence_number": 1}
    row |= {"added_snapshot_id": 9, "added_files_count": 1, "existing_files_count": 2, "deleted_files_count": 3}
    row |= {"added_rows_count": 10, "existing_rows_count": 20, "deleted_rows_count": 30, "partitions": None}
    (found,) = read_manifest_list(written([row], synthetic_avro.manifest_list(2)), WHERE)
    assert found == ManifestFile("m", 5, content, 7, 9, 4, 1, 2, 3, 10, 20, has_key=True)


def test_an_old_writer_left_the_counts_out() -> None:
    row = {"manifest_path": "m", "manifest_length": 5, "partition_spec_id": 0}
    (found,) = read_manifest_list(written([row], synthetic_avro.manifest_list(1)), WHERE)
    assert found == ManifestFile("m", 5, ManifestContent.DATA, 0, None, 0, None, None, None, None, None, has_key=False)


@pytest.mark.parametrize("version", [1, 2])
def test_without_ids_the_names_of_both_versions_are_known(version: int) -> None:
    schema = synthetic_avro.manifest_list(version)
    for field in schema["fields"]:
        del field["field-id"]
    row = {"manifest_path": "m", "manifest_length": 5, "partition_spec_id": 0, "added_snapshot_id": 9, "content": 0}
    row |= {"sequence_number": 7, "min_sequence_number": 1}
    for place, name in enumerate(("added", "existing", "deleted")):
        row |= dict.fromkeys((f"{name}_files_count", f"{name}_data_files_count", f"{name}_rows_count"), place)
    (found,) = read_manifest_list(written([row], schema), WHERE)
    assert (found.added_snapshot_id, found.added_count, found.existing_count, found.deleted_count) == (9, 0, 1, 2)
    assert (found.added_row_count, found.existing_row_count) == (0, 1)


def test_a_list_of_nothing() -> None:
    assert read_manifest_list(written([], synthetic_avro.manifest_list(2)), WHERE) == []


def test_each_manifest_once() -> None:
    row = {"manifest_path": "m", "manifest_length": 5, "partition_spec_id": 0}
    assert len(read_manifest_list(written([row, row], synthetic_avro.manifest_list(1)), WHERE)) == 1


def test_content_of_tomorrow_is_not_guessed() -> None:
    schema = {"type": "record", "name": "m", "fields": synthetic_avro.manifest_list(1)["fields"]}
    schema["fields"].append({"name": "content", "type": "int", "field-id": 517})
    row = {"manifest_path": "m", "manifest_length": 5, "partition_spec_id": 0, "content": 2}
    with pytest.raises(CorruptFile, match="makes no sense"):
        read_manifest_list(written([row], schema), WHERE)


@pytest.mark.parametrize(
    ("name", "type_", "value"),
    [("manifest_path", "bytes", b"x"), ("manifest_length", "string", "x"), ("partition_spec_id", "string", "x")],
)
def test_a_field_of_another_type(name: str, type_: str, value: Any) -> None:
    schema = synthetic_avro.manifest_list(1)
    next(field for field in schema["fields"] if field["name"] == name)["type"] = type_
    row = {"manifest_path": "m", "manifest_length": 5, "partition_spec_id": 0, name: value}
    with pytest.raises(CorruptFile, match="of another type"):
        read_manifest_list(written([row], schema), WHERE)
