"""Metadata files of every format version, whole and damaged."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from bergung.errors import CorruptFile, UnsupportedTable
from bergung.iceberg.metadata import Ref, TableMetadata, file_at, read_metadata
from bergung.model.files import FileKind, ReachedFile
from tests.synthetic import MINUTE_MS, START_MS, Shape, SyntheticTable
from tests.synthetic_files import SCHEMA

WHERE = "s3://b/t/metadata/00001-x.metadata.json"


def table(folder: Path, **shape: Any) -> SyntheticTable:
    made = SyntheticTable(folder, Shape(with_data=False, **shape))
    for _ in range(3):
        made.append(2)
        made.commit()
    return made


def read(made: SyntheticTable) -> TableMetadata:
    return read_metadata(made.metadata_bytes(), str(made.metadata_path))


def changed(made: SyntheticTable, **fields: Any) -> bytes:
    """The metadata with other fields; None takes one out."""
    values = {**json.loads(made.metadata_bytes()), **{name.replace("_", "-"): value for name, value in fields.items()}}
    return json.dumps({name: value for name, value in values.items() if value is not None}).encode()


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("packed", [False, True])
def test_facts(tmp_path: Path, version: int, packed: bool) -> None:
    made = table(tmp_path, format_version=version, gzip=packed)
    found = read(made)
    assert found.format_version == version
    assert found.uuid == found.identity == made.uuid
    assert found.location == made.location
    assert found.last_updated_ms == START_MS + 3 * MINUTE_MS
    assert found.last_sequence_number == (0 if version == 1 else 3)
    assert found.current_snapshot_id == 1003
    assert found.refs == {"main": Ref(1003, "branch")}
    assert found.total_rows == 3 * 2 * 3
    assert found.schema == SCHEMA
    assert not found.encrypted
    assert [entry.path for entry in found.metadata_log] == [entry["metadata-file"] for entry in made.metadata_log]
    assert [(entry.timestamp_ms, entry.snapshot_id) for entry in found.snapshot_log] == [
        (START_MS + number * MINUTE_MS, 1000 + number) for number in (1, 2, 3)
    ]
    first, second, _ = found.snapshots
    assert (first.snapshot_id, first.parent_id, first.operation) == (1001, None, "append")
    assert second.parent_id == 1001
    assert second.sequence_number == (0 if version == 1 else 2)
    assert second.manifest_list == made.snapshots[1]["manifest-list"]
    assert second.manifests == ()


def test_gzip_is_known_by_its_bytes_and_not_by_its_name(tmp_path: Path) -> None:
    data = table(tmp_path).metadata_bytes()
    assert read_metadata(gzip.compress(data), "v1.metadata.json") == read_metadata(data, "v1.gz.metadata.json")


def test_a_table_without_snapshots(tmp_path: Path) -> None:
    made = SyntheticTable(tmp_path)
    made.commit(snapshot=False)
    found = read(made)
    assert found.current_snapshot_id is None
    assert found.current_snapshot is None
    assert found.refs == {}
    assert found.total_rows == 0
    assert found.answers() == START_MS + MINUTE_MS


@pytest.mark.parametrize("current", [None, -1])
def test_no_current_snapshot_is_minus_one_or_absent(tmp_path: Path, current: int | None) -> None:
    found = read_metadata(changed(table(tmp_path), current_snapshot_id=current), WHERE)
    assert found.current_snapshot_id is None


def test_manifests_of_version_1_without_lists(tmp_path: Path) -> None:
    made = table(tmp_path, format_version=1, embedded_manifests=True)
    found = read(made)
    assert [snapshot.manifest_list for snapshot in found.snapshots] == [None, None, None]
    assert found.snapshots[2].manifests == tuple(made.snapshots[2]["manifests"])
    assert len(found.snapshots[2].manifests) == 3


def test_a_manifest_list_counts_before_manifests(tmp_path: Path) -> None:
    made = table(tmp_path, format_version=1)
    made.snapshots[0]["manifests"] = ["old"]
    made.commit(snapshot=False)
    assert read(made).snapshots[0].manifests == ()


def test_answers(tmp_path: Path) -> None:
    made = table(tmp_path)
    assert read(made).answers() == START_MS + MINUTE_MS
    made.expire(keep=2)
    made.commit(snapshot=False)
    assert read(made).answers() == START_MS + 2 * MINUTE_MS
    assert read_metadata(changed(made, current_snapshot_id=1002), WHERE).answers() == START_MS + 4 * MINUTE_MS
    assert read_metadata(changed(made, snapshot_log=[]), WHERE).answers() == START_MS + 4 * MINUTE_MS


def test_version_1_with_one_schema_only(tmp_path: Path) -> None:
    made = table(tmp_path, format_version=1)
    schema = {"type": "struct", "fields": [{"id": 1, "name": "a", "required": True, "type": "int"}]}
    found = read_metadata(changed(made, schemas=None, current_schema_id=None, schema=schema), WHERE)
    assert found.schema == schema
    assert found.schema_id == 0


def test_identity_without_uuid_stays_while_the_table_grows(tmp_path: Path) -> None:
    made = table(tmp_path / "a", format_version=1, with_uuid=False)
    first = read(made)
    made.append(1)
    made.commit()
    assert first.uuid is None
    assert first.identity.startswith("sha256:") and len(first.identity) == 71
    assert read(made).identity == first.identity
    assert read(table(tmp_path / "b", format_version=1, with_uuid=False)).identity != first.identity


def test_identity_is_never_a_text_that_could_be_a_path(tmp_path: Path) -> None:
    found = read_metadata(changed(table(tmp_path), table_uuid="../../etc"), WHERE)
    assert found.uuid == "../../etc"
    assert found.identity.startswith("sha256:")


def test_identity_is_the_same_in_any_spelling_of_the_uuid(tmp_path: Path) -> None:
    made = table(tmp_path)
    assert read_metadata(changed(made, table_uuid=made.uuid.upper()), WHERE).identity == made.uuid


def test_refs_as_written(tmp_path: Path) -> None:
    refs = {"main": {"snapshot-id": 1003, "type": "branch"}, "q1": {"snapshot-id": 1001, "type": "tag"}}
    found = read_metadata(changed(table(tmp_path), refs=refs), WHERE)
    assert found.refs == {"main": Ref(1003, "branch"), "q1": Ref(1001, "tag")}


def test_statistics(tmp_path: Path) -> None:
    made = table(tmp_path)
    made.add_statistics()
    made.commit(snapshot=False)
    found = read(made)
    path = made.statistics[0]["statistics-path"]
    assert found.statistics == (ReachedFile(path, FileKind.STATISTICS, 8),)
    path = made.partition_statistics[0]["statistics-path"]
    assert found.partition_statistics == (ReachedFile(path, FileKind.PARTITION_STATISTICS, 8),)


def test_write_prefixes(tmp_path: Path) -> None:
    properties = {
        "write.data.path": "s3://data/t",
        "write.metadata.path": "s3://b/t",
        "write.format.default": "s3://no",
    }
    properties |= {"write.object-storage.path": "s3://spread/", "write.folder-storage.path": "s3://data/t"}
    found = read_metadata(changed(table(tmp_path), location="s3://b/t", properties=properties), WHERE)
    assert found.write_prefixes == ("s3://b/t", "s3://data/t", "s3://spread/")


@pytest.mark.parametrize(
    "fields",
    [
        {"encryption_keys": [{"key-id": "1", "encrypted-key-metadata": "eA=="}]},
        {"properties": {"encryption.key-id": "master"}},
    ],
)
def test_encrypted(tmp_path: Path, fields: dict[str, Any]) -> None:
    assert read_metadata(changed(table(tmp_path, format_version=3), **fields), WHERE).encrypted


def test_encrypted_by_a_snapshots_key(tmp_path: Path) -> None:
    made = table(tmp_path, format_version=3)
    made.snapshots[0]["key-id"] = "1"
    made.commit(snapshot=False)
    found = read(made)
    assert found.encrypted
    assert found.snapshots[0].key_id == "1"


def test_what_pyiceberg_refuses_is_read(tmp_path: Path) -> None:
    made = table(tmp_path, format_version=3)
    made.add_statistics(blob="somebody-elses-histogram")
    made.commit(snapshot=False)
    variant = {"id": 3, "name": "v", "required": False, "type": "variant"}
    schema = {"type": "struct", "schema-id": 0, "fields": [variant]}
    bucket = {"source-ids": [1, 2], "field-id": 1000, "name": "b", "transform": "bucketV2[4]"}
    specs = [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [bucket]}]
    found = read_metadata(changed(made, schemas=[schema], partition_specs=specs, of_tomorrow={"a": 1}), WHERE)
    assert found.schema["fields"] == [variant]
    assert len(found.statistics) == 1


def test_total_rows_only_when_the_writer_counted_them(tmp_path: Path) -> None:
    made = table(tmp_path)
    made.snapshots[-1]["summary"] = {"operation": "append"}
    made.commit(snapshot=False)
    assert read(made).total_rows is None


def test_file_at(tmp_path: Path) -> None:
    found, own = read(table(tmp_path)), "s3://b/t/metadata/now"
    first, second = (entry.path for entry in found.metadata_log)
    at = {minute: file_at(found, own, START_MS + int(minute * MINUTE_MS)) for minute in (0.9, 1, 1.9, 2, 2.9, 3, 99)}
    assert at == {0.9: None, 1: first, 1.9: first, 2: second, 2.9: second, 3: own, 99: own}


DAMAGED = {
    b"": "it is empty",
    b"  \n": "it is empty",
    b"{": "it is cut off or no JSON",
    b"\xff\xfe\x00": "it is cut off or no JSON",
    gzip.compress(b"{}" * 100)[:-9]: "it is cut off or no JSON",
    b"[" * 100_000: "it is cut off or no JSON",
    b"[]": "it holds no JSON object",
    b"{}": "format-version is missing",
    b'{"format-version": "2"}': "format-version is str, not int",
    b'{"format-version": true}': "format-version is bool, not int",
    b'{"format-version": 2}': "it has no schema",
    b'{"view-uuid": "x", "format-version": 1}': "it describes a view, not a table",
}


@pytest.mark.parametrize("data", DAMAGED, ids=[str(number) for number in range(len(DAMAGED))])
def test_damaged(data: bytes) -> None:
    with pytest.raises(CorruptFile) as raised:
        read_metadata(data, WHERE)
    assert raised.value.message == f"{WHERE} is damaged: {DAMAGED[data]}"
    assert raised.value.hint


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_cut_off(tmp_path: Path, cut: int) -> None:
    data = table(tmp_path).metadata_bytes()
    with pytest.raises(CorruptFile, match="cut off"):
        read_metadata(data[: -len(data) * cut // 4], WHERE)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"location": None}, "location is missing"),
        ({"last_updated_ms": None}, "last-updated-ms is missing"),
        ({"last_sequence_number": None}, "last-sequence-number is missing"),
        ({"location": 5}, "location is int, not str"),
        ({"snapshots": {"a": 1}}, "snapshots is dict, not list"),
        ({"snapshots": [7]}, "snapshots holds something else than objects"),
        ({"snapshots": [{"snapshot-id": 1, "timestamp-ms": 1}]}, "names neither a manifest list nor manifests"),
        ({"snapshots": [{"snapshot-id": 1, "timestamp-ms": 1, "manifests": [1]}]}, "something else than strings"),
        ({"snapshots": [{"manifest-list": "x", "timestamp-ms": 1}]}, "snapshot-id is missing"),
        ({"refs": {"main": 4}}, "refs holds something else than objects"),
        ({"refs": {"main": {"type": "branch"}}}, "snapshot-id is missing"),
        ({"statistics": [{"snapshot-id": 1}]}, "statistics-path is missing"),
        ({"metadata_log": [{"timestamp-ms": 1}]}, "metadata-file is missing"),
        ({"schemas": [{"schema-id": 0}]}, "it has no schema"),
    ],
)
def test_incomplete(tmp_path: Path, fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(CorruptFile, match=problem):
        read_metadata(changed(table(tmp_path), **fields), WHERE)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedTable, match="has Iceberg format version 4"):
        read_metadata(changed(table(tmp_path), format_version=4), WHERE)
