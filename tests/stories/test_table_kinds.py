"""Tables of every kind come back byte for byte, also those that no reader of ours understands."""

import json
from pathlib import Path

import pytest
from pyiceberg.exceptions import ValidationError
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil

from bergung.model.names import TableName
from bergung.upkeep.showing import files_of
from tests.faults.counting_store import Counts, counting_open
from tests.faults.lake import CATALOG, NAMESPACE, Lake, contents
from tests.stories.tables_at_risk import blobs, comes_back, entry_of, overwrite, states, table_with_history
from tests.synthetic import Shape, SyntheticTable

VARIANT = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": 1, "name": "id", "required": True, "type": "long"},
        {"id": 2, "name": "anything", "required": False, "type": "variant"},
        {"id": 3, "name": "later", "required": False, "type": {"type": "of a later version"}},
    ],
}
GEOMETRY = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": 1, "name": "id", "required": True, "type": "long"},
        {"id": 2, "name": "place", "required": False, "type": "geometry(srid:3857)"},
        {"id": 3, "name": "way", "required": False, "type": "geography(OGC:CRS84, spherical)"},
    ],
}
STRANGE_SPEC = {"spec-id": 0, "fields": [{"source-id": 1, "field-id": 1000, "name": "p", "transform": "zorder[7]"}]}
OF_TWO_COLUMNS = {"spec-id": 0, "fields": [{"source-ids": [1, 2], "field-id": 1000, "name": "b", "transform": "bucketV2[4]"}]}
PRESTO = "presto-sum-data-size-bytes-v1"
UNPARSABLE = {
    "variant": Shape(format_version=3, more={"schemas": [VARIANT]}),
    "geometry as Java spells it": Shape(format_version=3, more={"schemas": [GEOMETRY]}),
    "a transform of two columns": Shape(format_version=3, more={"partition-specs": [OF_TWO_COLUMNS]}),
    "manifests without a list": Shape(format_version=1, embedded_manifests=True),
}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


@pytest.mark.parametrize(
    "shape",
    [
        Shape(format_version=1),
        Shape(format_version=1, with_uuid=False),
        Shape(format_version=2, gzip=True),
        Shape(format_version=3),
        *UNPARSABLE.values(),
        Shape(format_version=2, more={"partition-specs": [STRANGE_SPEC]}),
        Shape(format_version=2, more={"x-unknown": {"a": [1, None]}}),
    ],
    ids=lambda shape: f"v{shape.format_version} {','.join(shape.more)}",
)
def test_it_comes_back_byte_for_byte(lake: Lake, shape: Shape) -> None:
    table = table_with_history(lake, shape=shape)
    table.delete(table.live_paths()[:1])
    table.append(1)
    lake.publish(table)
    table.add_statistics(PRESTO)
    lake.publish(table, snapshot=False)
    assert set(states(lake, lake.backup().run)) == {*table.reached, table.metadata_path}
    comes_back(lake, table)


@pytest.mark.parametrize("kind", [*UNPARSABLE, "statistics of another engine"])
def test_pyiceberg_cannot_parse_such_a_table(lake: Lake, kind: str) -> None:
    """Or else the test above would prove less than it says."""
    table = table_with_history(lake, shape=UNPARSABLE.get(kind, Shape()))
    if kind not in UNPARSABLE:
        table.add_statistics(PRESTO)
        lake.publish(table, snapshot=False)
    with pytest.raises(ValidationError):
        parsed_by_pyiceberg(table)


def test_pyiceberg_invents_a_uuid_for_a_table_without_one_at_each_look(lake: Lake) -> None:
    """So that it cannot be asked which table this is."""
    table = table_with_history(lake, shape=Shape(format_version=1, with_uuid=False))
    assert parsed_by_pyiceberg(table).table_uuid != parsed_by_pyiceberg(table).table_uuid


def parsed_by_pyiceberg(table: SyntheticTable) -> TableMetadata:
    return TableMetadataUtil.parse_raw(table.metadata_bytes().decode())


def test_a_table_without_uuid_is_known_again_after_it_grew(lake: Lake) -> None:
    table = table_with_history(lake, shape=Shape(format_version=1, with_uuid=False))
    lake.backup()
    held = entry_of(lake)
    assert held.uuid is None and held.identity.startswith("sha256:")
    before = blobs(lake)
    table.append(1)
    lake.publish(table)
    result = lake.backup()
    entry = entry_of(lake)
    assert (entry.identity, entry.location) == (held.identity, held.location)
    assert result.record.backup_metadata.backup_type == "incremental"
    assert len(blobs(lake) - before) == 4, "metadata file, manifest list, manifest, data file"
    comes_back(lake, table)


def test_deletes_of_all_kinds(lake: Lake) -> None:
    """Position deletes, equality deletes, and two deletion vectors in one Puffin file, which is one file."""
    table = table_with_history(lake, shape=Shape(format_version=3))
    table.add_files([_written(table, "equality.parquet")], "equality_deletes")
    table.add_files([_written(table, "position.parquet")], "position_deletes")
    puffin = {**_written(table, "vectors.puffin"), "file_format": "PUFFIN"}
    of = [
        {**puffin, "referenced_data_file": path, "content_offset": 4, "content_size_in_bytes": 9} for path in table.live_paths()[:2]
    ]
    table.add_files(of, "deletion_vectors")
    lake.publish(table)
    comes_back(lake, table)
    kinds = {file["path"].rpartition("-")[2]: file["kind"] for file in _files(lake)}
    assert kinds["equality.parquet"] == "equality_deletes"
    assert kinds["position.parquet"] == "position_deletes"
    assert kinds["vectors.puffin"] == "deletion_vectors"
    assert sum(file["path"].endswith("vectors.puffin") for file in _files(lake)) == 1


def _written(table: SyntheticTable, name: str) -> dict[str, object]:
    path, size = table.files.write(f"data/{name}", name.encode() * 5)
    return {"file_path": path, "file_size_in_bytes": size}


def _files(lake: Lake) -> list[dict[str, str]]:
    return list(files_of(lake.vault(), entry_of(lake)))


def test_one_file_under_two_spellings_is_kept_once_and_no_reason_to_ask(lake: Lake, tmp_path: Path) -> None:
    """`file:/a` and `file:///a`: in a manifest, and in the catalog beside the point."""
    folder = tmp_path / "spelled"
    table = SyntheticTable(folder, Shape(location=f"file:{folder}"))
    table.append(1)
    (path,) = table.live_paths()
    other = path.replace("file:/", "file:///")
    assert path.startswith("file:/") and not path.startswith("file://")
    table.add_files([{"file_path": other, "file_size_in_bytes": table.local(path).stat().st_size}])
    lake.point("spelled", table.commit())
    result = lake.backup()
    assert result.record.backup_metadata.status == "complete"
    assert {path, other} <= states(lake).keys()
    assert sum(key.endswith("part.parquet") for key in blobs(lake)) == 1
    assert not any("/beside/" in key for key in blobs(lake))
    content = table.local(path).read_bytes()
    table.local(path).unlink()
    spelled = (table.metadata_path or "").replace("file:/", "file:///")
    lake.point("spelled", spelled)
    done = lake.restore()
    assert [str(each.action) for each in done.plan.tables] == ["nothing"]
    assert done.restored.done == ("lake.sales.spelled",)
    assert table.local(path).read_bytes() == content
    name = TableName(CATALOG, (NAMESPACE,), "spelled")
    assert lake.catalog().locate(name).metadata_location == spelled
    assert contents(lake.source) == {}


def test_gzip_is_known_by_its_bytes_not_by_its_name(lake: Lake) -> None:
    table = table_with_history(lake, shape=Shape(gzip=True))
    assert table.metadata_bytes()[:2] == b"\x1f\x8b"
    with pytest.raises(UnicodeDecodeError):
        json.loads(table.metadata_bytes())
    comes_back(lake, table)


def test_a_table_under_table_keys_is_kept_as_it_is(lake: Lake) -> None:
    table = table_with_history(lake, shape=Shape(format_version=3, more={"properties": {"encryption.key-id": "k"}}))
    hidden = [path for path, kind in table.reached.items() if kind in ("manifest_list", "manifest")]
    for path in hidden:
        overwrite(lake, path, lambda content: bytes(byte ^ 0x5A for byte in content))
    first = lake.backup().record
    entry = entry_of(lake)
    assert (first.backup_metadata.status, entry.status, entry.encrypted) == ("complete", "complete", True)
    wanted = contents(lake.source)
    assert {path for _, path in lake.reached()} >= set(hidden)

    table.append(1)
    lake.publish(table)
    counts = Counts()
    assert lake.backup(open_=counting_open(counts)).record.backup_metadata.status == "complete"
    again = {key for key in counts.keys("blocks") if key in wanted and not key.endswith(".metadata.json")}
    assert again == set(), "what was captured is known by its name and length"
    wanted = contents(lake.source)
    lake.drop("orders")
    lake.restore()
    assert contents(lake.source) == wanted
    assert lake.verify().damages == ()
