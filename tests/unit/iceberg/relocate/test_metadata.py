"""A metadata file under other paths."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from bergung.errors import UnmappedPath
from bergung.iceberg.metadata import TableMetadata, read_metadata
from bergung.iceberg.relocate.metadata import Changes, relocate_metadata, relocate_older_metadata
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.survey import reached_by
from bergung.model.files import ReachedFile
from tests.synthetic import Shape, SyntheticTable

FAR = "s3://far/lake/orders"
UUID = "00000000-0000-4000-8000-00000000000a"


def made(folder: Path, **shape: Any) -> SyntheticTable:
    table = SyntheticTable(folder / "orders", Shape(with_data=False, **shape))
    for _ in range(3):
        table.append(2)
        table.commit()
    return table


def to_far(table: SyntheticTable) -> PathMap:
    return PathMap(((table.location, FAR),))


def with_fields(table: SyntheticTable, **fields: Any) -> bytes:
    values = {**json.loads(table.metadata_bytes()), **{name.replace("_", "-"): value for name, value in fields.items()}}
    return json.dumps(values).encode()


def surveyed(metadata: TableMetadata, moves: PathMap) -> set[ReachedFile]:
    return {ReachedFile(moves.of(file.path), file.kind, file.declared_bytes) for file in reached_by(metadata)}


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("packed", [False, True])
def test_a_survey_of_the_moved_is_the_moved_survey(tmp_path: Path, version: int, packed: bool) -> None:
    table = made(tmp_path, format_version=version, gzip=packed)
    data, moves = table.metadata_bytes(), to_far(table)
    stats = [{"snapshot-id": 1, "statistics-path": f"{table.location}/metadata/s.puffin", "file-size-in-bytes": 9}]
    if not packed:
        data = with_fields(table, statistics=stats, partition_statistics=stats)
    moved = relocate_metadata(data, "here", moves).data
    assert moved.startswith(b"\x1f\x8b") == packed
    before, after = read_metadata(data, "here"), read_metadata(moved, "there")
    assert set(reached_by(after)) == surveyed(before, moves)
    assert len(reached_by(after)) >= 3 + (0 if packed else 1)
    assert (after.location, after.identity, after.snapshot_log) == (FAR, before.identity, before.snapshot_log)
    back = relocate_metadata(moved, "there", PathMap(((FAR, table.location),))).data
    assert _values(back) == _values(data)


def _values(data: bytes) -> Any:
    return json.loads(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)


def test_a_map_to_itself_changes_no_word(tmp_path: Path) -> None:
    table = made(tmp_path)
    data = with_fields(table, unknown={"a": [1, None, "ü"]}, last_column_id=2**62)
    assert _values(relocate_metadata(data, "here", PathMap(((table.location, table.location),))).data) == _values(data)


def test_manifests_without_a_list_move(tmp_path: Path) -> None:
    table = made(tmp_path, format_version=1)
    values = json.loads(table.metadata_bytes())
    del values["snapshots"][0]["manifest-list"]
    values["snapshots"][0]["manifests"] = [f"{table.location}/metadata/m{number}.avro" for number in range(2)]
    moved = json.loads(relocate_metadata(json.dumps(values).encode(), "here", to_far(table)).data)
    assert moved["snapshots"][0]["manifests"] == [f"{FAR}/metadata/m{number}.avro" for number in range(2)]


def test_properties_that_say_where_to_write_move_and_others_are_told(tmp_path: Path) -> None:
    table = made(tmp_path)
    properties = {
        "write.data.path": "s3://fast/orders",
        "write.metadata.path": f"{table.location}/meta",
        "audit.copy": f"{table.location}/audit",
        "comment": "about /tmp",
    }
    moves = PathMap(((table.location, FAR), ("s3://fast/orders", f"{FAR}/elsewhere/s3/fast/orders")))
    moved = relocate_metadata(with_fields(table, properties=properties), "here", moves)
    assert json.loads(moved.data)["properties"] == {
        **properties,
        "write.data.path": f"{FAR}/elsewhere/s3/fast/orders",
        "write.metadata.path": f"{FAR}/meta",
    }
    assert moved.properties == {"audit.copy": f"{table.location}/audit"}


@pytest.mark.parametrize(
    "field", ["write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path"]
)
def test_a_write_path_without_a_place_is_refused(tmp_path: Path, field: str) -> None:
    table = made(tmp_path)
    data = with_fields(table, properties={field: "s3://fast/orders"})
    with pytest.raises(UnmappedPath, match="s3://fast/orders"):
        relocate_metadata(data, "here", to_far(table))
    assert json.loads(relocate_older_metadata(data, "here", to_far(table)))["properties"] == {field: "s3://fast/orders"}


def test_a_copy_has_its_own_uuid_tags_and_names_nothing_that_stayed_behind(tmp_path: Path) -> None:
    table = made(tmp_path)
    older = json.loads(table.metadata_bytes())["metadata-log"][0]["metadata-file"]
    snapshot = json.loads(table.metadata_bytes())["snapshots"][0]["snapshot-id"]
    tag = {"snapshot-id": snapshot, "type": "tag", "max-ref-age-ms": 7}
    changes = Changes(uuid=UUID, absent=frozenset({older}), tags={"kept": tag, "main": {"snapshot-id": 1, "type": "tag"}})
    before = read_metadata(table.metadata_bytes(), "here")
    after = json.loads(relocate_metadata(table.metadata_bytes(), "here", to_far(table), changes).data)
    assert after["table-uuid"] == UUID
    assert len(after["metadata-log"]) == len(before.metadata_log) - 1
    assert after["refs"]["kept"] == tag
    assert after["refs"]["main"]["snapshot-id"] == before.current_snapshot_id
