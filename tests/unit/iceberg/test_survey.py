"""The files that a metadata file names, and which of all named files may be read."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bergung.errors import Refused
from bergung.iceberg.metadata import TableMetadata, read_metadata
from bergung.iceberg.survey import allowed_prefixes, check_allowed, outside, reached_by
from bergung.model.files import FileKind, ReachedFile
from tests.synthetic import Shape, SyntheticTable

OBJECTS = "s3://b/t/metadata/00001.metadata.json"


def table(folder: Path, **shape: Any) -> SyntheticTable:
    made = SyntheticTable(folder, Shape(with_data=False, **shape))
    for _ in range(3):
        made.append(2, manifests=2)
        made.commit()
    made.add_statistics()
    made.commit(snapshot=False)
    return made


def read(made: SyntheticTable) -> TableMetadata:
    return read_metadata(made.metadata_bytes(), str(made.metadata_path))


@pytest.mark.parametrize("shape", [{"format_version": 1}, {"format_version": 2}, {"format_version": 3}])
def test_reached_by(tmp_path: Path, shape: dict[str, Any]) -> None:
    made = table(tmp_path, **shape)
    wanted = {path: kind for path, kind in made.reached.items() if kind not in ("data", "manifest")}
    found = reached_by(read(made))
    assert {file.path: file.kind for file in found} == wanted
    assert len(found) == len(wanted)


def test_manifests_without_a_list_are_each_reached_once(tmp_path: Path) -> None:
    made = table(tmp_path, format_version=1, embedded_manifests=True)
    found = [file.path for file in reached_by(read(made)) if file.kind == FileKind.MANIFEST]
    assert found == made.snapshots[-1]["manifests"]
    assert len(found) == 6


def test_allowed_prefixes(tmp_path: Path) -> None:
    metadata = read(table(tmp_path, more={"properties": {"write.data.path": "/data/t"}}))
    own = f"file://{tmp_path}/metadata/x"
    assert allowed_prefixes(metadata, own, ["/more"]) == (f"file://{tmp_path}", "/data/t", "/more")


@pytest.mark.parametrize(
    ("location", "own_path"),
    [("s3://b/t", OBJECTS), ("/etc", OBJECTS), ("s3://b/t", "/wh/t/metadata/x")],
    ids=["both", "metadata file", "location"],
)
def test_a_table_in_an_object_store_has_no_local_prefix(tmp_path: Path, location: str, own_path: str) -> None:
    metadata = read(table(tmp_path, location=location, more={"properties": {"write.data.path": "file:/etc"}}))
    allowed = allowed_prefixes(metadata, own_path, ["/mnt", "s3://more"])
    assert allowed == tuple(prefix for prefix in (location, "s3://more") if prefix.startswith("s3:"))


@pytest.mark.parametrize("location", ["/", "", "wh/t", "/wh/../t", "s3://"])
def test_a_location_that_is_no_folder_allows_nothing(tmp_path: Path, location: str) -> None:
    metadata = read(table(tmp_path, more={"location": location}))
    assert allowed_prefixes(metadata, "/wh/t/metadata/x") == ()


def check(paths: list[str], prefixes: list[str]) -> Refused:
    with pytest.raises(Refused) as raised:
        check_allowed([ReachedFile(path, FileKind.DATA) for path in paths], prefixes, "lake.db.t")
    return raised.value


def test_check_allowed() -> None:
    check_allowed([ReachedFile("file:/wh/t/data/f", FileKind.DATA)], ["/wh/t"], "lake.db.t")
    one = check(["/wh/t/f", "/data/x/f"], ["/wh/t"])
    assert one.message == "lake.db.t names a file outside its own folders: /data/x/f"
    assert one.hint == "when this table may read there, add --allow-prefix /data/x"
    assert check([f"/data/{number}" for number in range(5)], ["/wh/t"]).message == (
        "lake.db.t names 5 files outside its own folders: /data/0, /data/1, /data/2 and 2 more"
    )


@pytest.mark.parametrize(
    ("path", "prefixes", "hint"),
    [
        ("/etc/shadow", ["s3://b/t"], "never makes Bergung read local files"),
        ("/wh/t/../../etc/shadow", ["/wh/t"], "such a path is never read"),
        ("/shadow", ["/wh/t"], "such a path is never read"),
    ],
)
def test_no_hint_says_how_to_allow_what_is_never_allowed(path: str, prefixes: list[str], hint: str) -> None:
    assert hint in check([path], prefixes).hint


def test_outside() -> None:
    paths = ["file:/wh/t/f", "/wh/t/f", "/wh//t/f", "/wh/tt/f", "/wh/t/../f", "/wh/t/..", "s3://b/t/f", "/wh/t/a..b"]
    paths.append("/wh/t/a\0b")
    found = outside(pa.array(paths, pa.string()), ["file:///wh/t"])
    assert found.to_pylist() == ["/wh/tt/f", "/wh/t/../f", "/wh/t/..", "s3://b/t/f", "/wh/t/a\0b"]
    assert outside(pa.array(paths, pa.string()), []).to_pylist() == paths
