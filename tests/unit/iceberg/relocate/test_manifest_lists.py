"""Manifest lists of tables that move: paths and lengths, and nothing else."""

import copy
from typing import Any

import pytest

from bergung.errors import BergungError, CorruptFile, DamageFound, UnmappedPath
from bergung.iceberg.manifest_list import read_manifest_list
from bergung.iceberg.relocate.manifest_lists import check_manifest_list, relocate_manifest_list
from bergung.iceberg.relocate.path_map import PathMap
from tests import avro_files
from tests.avro_files import CODECS, container, encode
from tests.manifest_writers import NEW, OLD, VERSIONS, WRITERS, list_schema

WHERE = "s3://old/lake/t/metadata/snap-1.avro"
MOVES = PathMap(((OLD, NEW),))
SUMMARY = {"contains_null": True, "lower_bound": f"{OLD}/m0.avro".encode(), "upper_bound": b"\x00\xff"}


def listed(path: str, schema: Any, **fields: Any) -> Any:
    """A row with a number in every field that is one."""
    numbers = {field["name"]: place << 20 for place, field in enumerate(schema["fields"]) if field["type"] in ("int", "long")}
    said = {"manifest_path": path, "partitions": [SUMMARY] * 2, "key_metadata": path.encode(), "added_snapshot_id": 1 << 62}
    return {**numbers, "content": 1, **said, **fields}


def manifest_list(schema: Any, rows: list[Any], codec: str = "null", per_block: int = 50) -> bytes:
    records = [encode(schema, row) for row in rows]
    said = {"snapshot-id": "17", "parent-snapshot-id": "null", "sequence-number": "3", "format-version": "2", "first-row-id": "9"}
    return container(schema, (records[at : at + per_block] for at in range(0, len(records), per_block)), codec, said)


def moved(data: bytes, lengths: dict[str, int]) -> bytes:
    found = relocate_manifest_list(data, WHERE, MOVES, lengths)
    check_manifest_list(data, found, WHERE, MOVES, lengths)
    return found


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("writer", WRITERS)
def test_paths_and_lengths_change_and_nothing_else(writer: str, version: int, codec: str) -> None:
    schema = list_schema(writer, version)
    paths = [f"{OLD}/metadata/ü {place}.avro" for place in range(120)]
    data = manifest_list(schema, [listed(path, schema) for path in paths], codec)
    lengths = {path: 1 << place % 60 for place, path in enumerate(paths)}
    new = moved(data, lengths)
    said = [{"manifest_path": NEW + path.removeprefix(OLD), "manifest_length": lengths[path]} for path in paths]
    assert avro_files.rows(new) == [{**row, **change} for row, change in zip(avro_files.rows(data), said, strict=True)]
    assert avro_files.head(new) == avro_files.head(data)
    assert [each.path for each in read_manifest_list(new, WHERE)] == [change["manifest_path"] for change in said]


def test_the_sequence_numbers_first_row_ids_and_nulls_stay() -> None:
    schema = list_schema("java", 3)
    path = f"{OLD}/m.avro"
    rows = [listed(path, schema, first_row_id=None, partitions=None), listed(path, schema, first_row_id=0, partitions=[])]
    new = avro_files.rows(moved(manifest_list(schema, rows), {path: 5}))
    assert [(row["first_row_id"], row["partitions"], row["sequence_number"]) for row in new] == [
        (None, None, rows[0]["sequence_number"]),
        (0, [], rows[0]["sequence_number"]),
    ]


def test_no_manifests() -> None:
    assert avro_files.rows(moved(manifest_list(list_schema("java", 2), []), {})) == []


def test_a_manifest_without_a_place() -> None:
    schema = list_schema("java", 2)
    rows = [listed(path, schema) for path in (f"{OLD}/a", "s3://other/b", "s3://other/c")]
    with pytest.raises(UnmappedPath) as raised:
        relocate_manifest_list(manifest_list(schema, rows), WHERE, MOVES, {row["manifest_path"]: 1 for row in rows})
    assert (raised.value.paths, raised.value.count) == (("s3://other/b", "s3://other/c"), 2)


def test_a_manifest_that_was_not_made_anew() -> None:
    schema = list_schema("java", 2)
    with pytest.raises(BergungError, match="m.avro was not made anew") as raised:
        relocate_manifest_list(manifest_list(schema, [listed(f"{OLD}/m.avro", schema)]), WHERE, MOVES, {f"{NEW}/m.avro": 5})
    assert type(raised.value) is BergungError


def test_every_byte_changed_is_noticed_or_means_what_it_says() -> None:
    schema = copy.deepcopy(list_schema("java", 2))
    data = manifest_list(schema, [listed(f"{OLD}/m", schema), listed(f"{OLD}/n", schema)])
    start = data.index(avro_files.SYNC) + 16
    lengths = {f"{OLD}/m": 300, f"{OLD}/n": 5}
    outcomes = set()
    for place in range(start, len(data)):
        for mask in (0x01, 0x02, 0x40, 0x80, 0xFF):
            changed = bytearray(data)
            changed[place] ^= mask
            outcomes.add(outcome(bytes(changed), lengths))
    assert outcomes >= {"moved", "CorruptFile", "BergungError"}


def outcome(data: bytes, lengths: dict[str, int]) -> str:
    try:
        new = relocate_manifest_list(data, WHERE, MOVES, lengths)
    except BergungError as error:
        return type(error).__name__
    for before, after in zip(avro_files.rows(data), avro_files.rows(new), strict=True):
        path = before["manifest_path"]
        assert {**before, "manifest_path": NEW + path.removeprefix(OLD), "manifest_length": lengths[path]} == after
    return "moved"


def test_what_was_written_otherwise_is_found_out() -> None:
    schema = list_schema("java", 2)
    rows = [listed(f"{OLD}/{name}", schema) for name in "abc"]
    data = manifest_list(schema, rows)
    lengths = {row["manifest_path"]: 300 for row in rows}
    new = moved(data, lengths)
    with pytest.raises(DamageFound):
        check_manifest_list(data, moved(data, {**lengths, f"{OLD}/b": 301}), WHERE, MOVES, lengths)
    with pytest.raises(CorruptFile):
        check_manifest_list(data, new[:-1], WHERE, MOVES, lengths)
