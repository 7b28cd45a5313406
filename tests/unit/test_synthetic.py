"""Tables of tests/synthetic.py are real ones: PyIceberg reads them, and our walk finds what they say of themselves."""

from pathlib import Path
from typing import Any

import pytest
from pyiceberg.exceptions import ValidationError
from pyiceberg.table import StaticTable

from tests.synthetic import Shape, SyntheticTable
from tests.walking import walk, with_other_sizes

SHAPES = [
    Shape(format_version=1),
    Shape(format_version=2),
    Shape(format_version=3),
    Shape(format_version=1, with_uuid=False),
    Shape(gzip=True),
    Shape(codec="null", columns_with_statistics=5),
]


def grown(folder: Path, shape: Shape) -> SyntheticTable:
    made = SyntheticTable(folder, shape)
    made.append(4, manifests=2)
    made.commit()
    made.append([[100, 101], [102]])
    made.commit()
    made.delete(made.live_paths()[1:2])
    made.commit()
    made.merge(2)
    made.add_statistics()
    made.commit()
    return made


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_pyiceberg_reads_every_snapshot(tmp_path: Path, shape: Shape) -> None:
    made = grown(tmp_path, shape)
    table = StaticTable.from_metadata(str(made.metadata_path))
    all_ids = [*range(12), 100, 101, 102]
    without = [id_ for id_ in all_ids if id_ not in (3, 4, 5)]
    wanted = [list(range(12)), all_ids, without, without]
    found = [table.scan(snapshot_id=each.snapshot_id).to_arrow() for each in table.snapshots()]
    assert [sorted(rows.column("id").to_pylist()) for rows in found] == wanted
    assert found[-1].sort_by("id").column("name").to_pylist() == [f"name {id_}" for id_ in without]


@pytest.mark.parametrize("shape", [*SHAPES, Shape(format_version=1, embedded_manifests=True)], ids=str)
def test_the_walk_finds_what_the_table_says_of_itself(tmp_path: Path, shape: Shape) -> None:
    made = grown(tmp_path, shape)
    found = walk(str(made.metadata_path))
    assert {path: str(file.kind) for path, file in found.items()} == made.reached
    assert with_other_sizes(found) == []


def test_files_of_all_kinds(tmp_path: Path) -> None:
    made = SyntheticTable(tmp_path, Shape(format_version=3))
    made.append(1)
    for kind in ("position_deletes", "deletion_vectors", "equality_deletes"):
        path, size = made.files.write("data/d", b"12345")
        file = {"file_path": path, "record_count": 1, "file_size_in_bytes": size}
        made.add_files([{**file, "file_format": "PUFFIN"} if kind == "deletion_vectors" else file], kind)
    made.commit()
    found = walk(str(made.metadata_path))
    assert {path: str(file.kind) for path, file in found.items()} == made.reached
    assert set(made.reached.values()) == {
        "manifest_list",
        "manifest",
        "data",
        "position_deletes",
        "deletion_vectors",
        "equality_deletes",
    }


def test_expired_snapshots_take_their_files_with_them(tmp_path: Path) -> None:
    made = grown(tmp_path, Shape())
    before = set(made.reached)
    made.expire(keep=1)
    made.commit(snapshot=False)
    found = walk(str(made.metadata_path))
    assert {path: str(file.kind) for path, file in found.items()} == made.reached
    gone = before - set(made.reached)
    assert sum(path.endswith(".parquet") and "/data/" in path for path in gone) == 1
    assert sum("/metadata/" in path and "snap-" in path for path in gone) == 3
    assert StaticTable.from_metadata(str(made.metadata_path)).scan().to_arrow().num_rows == 12


VARIANT = {"id": 3, "name": "v", "required": False, "type": "variant"}
TWO_SOURCES = {"source-ids": [1, 2], "field-id": 1000, "name": "b", "transform": "bucketV2[4]"}


@pytest.mark.parametrize(
    "more",
    [
        {"schemas": [{"type": "struct", "schema-id": 0, "fields": [VARIANT]}]},
        {"partition-specs": [{"spec-id": 0, "fields": []}, {"spec-id": 1, "fields": [TWO_SOURCES]}]},
    ],
    ids=["variant", "transform"],
)
def test_tables_that_pyiceberg_cannot_parse(tmp_path: Path, more: dict[str, Any]) -> None:
    made = grown(tmp_path, Shape(format_version=3, more=more))
    with pytest.raises((ValidationError, ValueError)):
        StaticTable.from_metadata(str(made.metadata_path))
    assert {path: str(file.kind) for path, file in walk(str(made.metadata_path)).items()} == made.reached


def test_the_same_at_each_run(tmp_path: Path) -> None:
    one, two = (grown(tmp_path / name, Shape(location="s3://b/t", with_data=False)) for name in ("a", "b"))
    assert one.metadata_path == two.metadata_path
    assert one.metadata_bytes() == two.metadata_bytes()
    manifests = [path for path, kind in one.reached.items() if kind == "manifest"]
    assert [one.local(path).read_bytes() for path in manifests] == [two.local(path).read_bytes() for path in manifests]
