"""Manifests of tables that move: paths go to their new places, and nothing else changes."""

import copy
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest

from bergung.errors import BergungError, CorruptFile, UnmappedPath, UnsupportedTable
from bergung.iceberg.manifests import read_entries, read_live_files
from bergung.iceberg.relocate.manifests import MovedManifest, check_manifest, relocate_manifest
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.rewritten import Rewritten
from bergung.iceberg.relocate.splice import layout
from tests import avro_files
from tests.avro_files import CODECS, written_out
from tests.manifest_writers import NEW, OLD, VERSIONS, WRITERS, entry, files_of, manifest, manifest_schema

WHERE = "s3://old/lake/t/metadata/m.avro"
MOVES = PathMap(((OLD, NEW),))
Moved = Callable[..., MovedManifest]
JAVA_2, JAVA_3 = manifest_schema("java", 2), manifest_schema("java", 3)


@pytest.fixture(params=["small", "among many"], autouse=True)
def warm(request: pytest.FixtureRequest) -> Iterator[Callable[[bytes, dict[str, Rewritten]], None]]:
    """Few entries are stepped through; many alike are read by an expression, which is kept for the next file."""
    layout._layout_of.cache_clear()
    yield read_many_like if request.param == "among many" else lambda data, rewritten: None
    layout._layout_of.cache_clear()


@pytest.fixture
def moved(warm: Callable[[bytes, dict[str, Rewritten]], None]) -> Moved:
    def move(data: bytes, rewritten: dict[str, Rewritten] | None = None) -> MovedManifest:
        warm(data, rewritten or {})
        found = relocate_manifest(data, WHERE, MOVES, rewritten or {})
        check_manifest(data, found.data, WHERE, MOVES, rewritten or {})
        return found

    return move


def read_many_like(data: bytes, rewritten: dict[str, Rewritten]) -> None:
    many = 1 + 200_000 // (len(avro_files.body(data)) or 200_000)
    start = data.index(avro_files.SYNC) + len(avro_files.SYNC)
    with suppress(BergungError):
        relocate_manifest(data[:start] + data[start:] * many, WHERE, MOVES, rewritten)


def as_meant(path: str) -> str:
    return NEW + path.removeprefix(OLD) if path.startswith(OLD + "/") else path


def expected(rows: Sequence[Any], **changes: dict[str, Any]) -> list[Any]:
    """Paths moved; `changes` are by the last part of a file's path."""
    new = []
    for row in rows:
        file = row["data_file"]
        paths = {name: as_meant(file[name]) for name in ("file_path", "referenced_data_file") if file.get(name)}
        new.append({**row, "data_file": {**file, **paths, **changes.get(file["file_path"].rpartition("/")[2], {})}})
    return new


def same_but_moved(data: bytes, new: bytes, **changes: dict[str, Any]) -> None:
    assert avro_files.rows(new) == expected(avro_files.rows(data), **changes)
    assert avro_files.head(new) == avro_files.head(data)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("writer", WRITERS)
def test_paths_move_and_nothing_else(moved: Moved, writer: str, version: int) -> None:
    entries = [entry(f"{OLD}/data/{place}.parquet", place % 3) for place in range(40)]
    data = manifest(manifest_schema(writer, version), entries)
    found = moved(data)
    same_but_moved(data, found.data)
    assert (found.existing_count, found.added_count, found.deleted_count, found.unmoved_count) == (14, 13, 13, 0)
    assert read_live_files(found.data, WHERE).num_rows == 27


@pytest.mark.parametrize("codec", CODECS)
def test_the_codec_stays(moved: Moved, codec: str) -> None:
    data = manifest(JAVA_2, [entry(f"{OLD}/data/{place}.parquet") for place in range(40)], codec, per_block=7)
    same_but_moved(data, moved(data).data)


@pytest.mark.parametrize("per_block", [1, 3, 50])
def test_many_blocks_become_some_of_usual_size(moved: Moved, per_block: int) -> None:
    """PyIceberg packs each entry by itself."""
    data = manifest(JAVA_2, [entry(f"{OLD}/data/{place:0200}.parquet") for place in range(800)], "deflate", per_block)
    found = moved(data).data
    same_but_moved(data, found)
    assert [len(block) > 60_000 for _, block in avro_files.blocks_of(found)] == [True, True, True, False]


def test_no_entries(moved: Moved) -> None:
    for data in (manifest(JAVA_2, []), avro_files.container(JAVA_2, [[], []])):
        found = moved(data)
        assert avro_files.rows(found.data) == []
        assert avro_files.head(found.data) == avro_files.head(data)


def test_what_looks_like_a_path_and_is_none_stays(moved: Moved) -> None:
    path = f"{OLD}/data/a.parquet"
    bound = [{"key": 1, "value": path.encode()}, {"key": 2147483546, "value": path.encode()}]
    file = entry(path, key_metadata=path.encode(), lower_bounds=bound, upper_bounds=bound, partition={"p10": path})
    data = manifest(JAVA_2, [file] * 3)
    new = moved(data).data
    same_but_moved(data, new)
    assert avro_files.rows(new)[0]["data_file"]["partition"]["p10"] == path


@pytest.mark.parametrize("name", ["a,b c.parquet", "day=a%2Fb/c", "x//y", "ü/語/😀.parquet", "'\"\\n", "…" * 3000])
def test_names_of_all_kinds(moved: Moved, name: str) -> None:
    data = manifest(JAVA_2, [entry(f"{OLD}/data/{name}", partition={"p10": name})] * 2)
    new = moved(data).data
    same_but_moved(data, new)
    assert avro_files.rows(new)[0]["data_file"]["file_path"] == f"{NEW}/data/{name}"


def test_a_thousand_columns(moved: Moved) -> None:
    numbers = [{"key": id_, "value": id_ * 1000} for id_ in range(1, 1001)]
    bounds = [{"key": id_, "value": id_.to_bytes(8, "little")} for id_ in range(1, 1001)]
    stats = dict.fromkeys(("column_sizes", "value_counts", "null_value_counts", "nan_value_counts"), numbers)
    stats |= dict.fromkeys(("lower_bounds", "upper_bounds"), bounds)
    data = manifest(JAVA_2, [entry(f"{OLD}/data/{place}.parquet", **stats) for place in range(30)], per_block=1)
    same_but_moved(data, moved(data).data)


def test_a_live_path_without_a_place_stops_it_and_all_are_named() -> None:
    entries = [entry(f"s3://other/{place}", place % 3) for place in range(300)] + [entry(f"{OLD}/a")]
    with pytest.raises(UnmappedPath) as raised:
        relocate_manifest(manifest(JAVA_2, entries), WHERE, MOVES, {})
    assert raised.value.count == 200
    assert len(raised.value.paths) == 100
    assert raised.value.paths[:3] == ("s3://other/0", "s3://other/1", "s3://other/3")
    assert "s3://other/0, s3://other/1, s3://other/3 and 197 more" in raised.value.message


def test_a_deleted_path_without_a_place_stays_and_is_counted(moved: Moved) -> None:
    entries = [entry("s3://other/a", 2), entry(f"{OLD}/b", 2), entry(f"{OLD}/c")]
    data = manifest(JAVA_2, entries)
    found = moved(data)
    same_but_moved(data, found.data)
    assert (found.deleted_count, found.unmoved_count) == (2, 1)


BOUNDS = [{"key": 2147483546, "value": f"{OLD}/data/a".encode()}, {"key": 2147483545, "value": bytes(8)}]
NEW_BOUNDS = [{"key": 2147483546, "value": f"{NEW}/data/a".encode()}, {"key": 2147483545, "value": bytes(8)}]


def position_delete(name: str = "d.parquet", status: int = 1, **fields: Any) -> Any:
    sizes = [{"key": 2147483546, "value": 1}]
    said = {"column_sizes": sizes, "split_offsets": [4], "lower_bounds": BOUNDS, "upper_bounds": BOUNDS}
    return entry(f"{OLD}/data/{name}", status, **{"content": 1, **said, **fields})


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("writer", WRITERS)
def test_what_was_made_anew_is_said_of_a_position_delete(moved: Moved, writer: str, version: int) -> None:
    made = Rewritten(777, {2147483546: 70_000, 2147483545: 5}, (4, 900), (f"{NEW}/data/a".encode(),) * 2)
    referenced = {"referenced_data_file": f"{OLD}/data/a"} if writer == "java" else {}
    schema = manifest_schema(writer, version)
    data = manifest(schema, [position_delete(**referenced), entry(f"{OLD}/data/x", content=2), position_delete("d.parquet", 0)])
    new = moved(data, {f"{OLD}/data/d.parquet": made}).data
    changes = {
        "file_size_in_bytes": 777,
        "column_sizes": [{"key": 2147483546, "value": 70_000}, {"key": 2147483545, "value": 5}],
        "split_offsets": [4, 900],
        "lower_bounds": NEW_BOUNDS,
        "upper_bounds": NEW_BOUNDS,
    }
    same_but_moved(data, new, **{"d.parquet": changes})
    if writer == "java":
        assert avro_files.rows(new)[0]["data_file"]["referenced_data_file"] == f"{NEW}/data/a"


def test_what_was_not_said_before_can_be_said_now_and_bounds_are_not_invented(moved: Moved) -> None:
    bare = position_delete(column_sizes=None, split_offsets=None, lower_bounds=None, upper_bounds=BOUNDS[1:])
    made = Rewritten(777, {1: 2}, (), (b"a", b"b"))
    data = manifest(JAVA_2, [bare])
    new = moved(data, {f"{OLD}/data/d.parquet": made}).data
    changes = {"file_size_in_bytes": 777, "column_sizes": [{"key": 1, "value": 2}], "split_offsets": []}
    same_but_moved(data, new, **{"d.parquet": changes})


def test_only_the_size_changed(moved: Moved) -> None:
    data = manifest(JAVA_2, [position_delete(lower_bounds=None, upper_bounds=None)])
    new = moved(data, {f"{OLD}/data/d.parquet": Rewritten(5)}).data
    same_but_moved(data, new, **{"d.parquet": {"file_size_in_bytes": 5}})


def vector(name: str, offset: int | None, status: int = 1, of: str = "a") -> Any:
    place = {"content_offset": offset, "content_size_in_bytes": 50, "referenced_data_file": f"{OLD}/data/{of}"}
    return entry(f"{OLD}/data/{name}", status, content=1, file_format="PUFFIN", **place)


def test_several_deletion_vectors_of_one_puffin_file(moved: Moved) -> None:
    entries = [vector("p.puffin", offset, of=f"{offset}.parquet") for offset in (4, 54, 104)] + [vector("q.puffin", 4, 2)]
    data = manifest(JAVA_3, entries)
    made = Rewritten(999, blobs={4: (8, 51), 54: (100_000, 52), 104: (1 << 40, 53)})
    new = moved(data, {f"{OLD}/data/p.puffin": made}).data
    files = [row["data_file"] for row in avro_files.rows(new)]
    assert [(file["content_offset"], file["content_size_in_bytes"], file["file_size_in_bytes"]) for file in files] == [
        (8, 51, 999),
        (100_000, 52, 999),
        (1 << 40, 53, 999),
        (4, 50, 100),
    ]
    before, after = expected(avro_files.rows(data)), avro_files.rows(new)
    for row in before + after:
        for name in ("content_offset", "content_size_in_bytes", "file_size_in_bytes"):
            del row["data_file"][name]
    assert before == after


def test_a_deleted_position_delete_keeps_what_was_said_of_it(moved: Moved) -> None:
    data = manifest(JAVA_2, [position_delete(status=2)])
    same_but_moved(data, moved(data).data)


@pytest.mark.parametrize(
    ("file", "made", "problem"),
    [
        (position_delete(), {}, "not made anew"),
        (position_delete(), {f"{NEW}/data/d.parquet": Rewritten(5)}, "not made anew"),
        (position_delete(), {f"{OLD}/data/d.parquet": Rewritten(5)}, "not the bounds"),
        (vector("p.puffin", 4), {f"{OLD}/data/p.puffin": Rewritten(5, blobs={5: (1, 1)})}, "byte 4"),
    ],
)
def test_what_does_not_fit_together_is_a_fault_and_no_damage(file: Any, made: dict[str, Rewritten], problem: str) -> None:
    with pytest.raises(BergungError, match=problem) as raised:
        relocate_manifest(manifest(JAVA_3, [file]), WHERE, MOVES, made)
    assert type(raised.value) is BergungError


def test_bounds_of_paths_that_stay_may_stay() -> None:
    data = manifest(JAVA_2, [position_delete()])
    same = PathMap(((OLD, OLD),))
    found = relocate_manifest(data, WHERE, same, {f"{OLD}/data/d.parquet": Rewritten(100)})
    assert found.data == data


def test_fields_are_found_by_id_whatever_their_names(moved: Moved) -> None:
    schema = copy.deepcopy(JAVA_2)
    for field in schema["fields"]:
        if field["name"] != "data_file":
            field["name"] = f"x{field['field-id']}"
    for field in files_of(schema):
        field["name"] = f"y{field['field-id']}"
    file = {"y134": 0, "y100": f"{OLD}/a", "y101": "orc", "y102": {}, "y103": 1, "y104": 5, "y143": f"{OLD}/b"}
    data = manifest(schema, [{"x0": 1, "data_file": file}])
    (row,) = avro_files.rows(moved(data).data)
    assert (row["data_file"]["y100"], row["data_file"]["y143"]) == (f"{NEW}/a", f"{NEW}/b")


def test_fields_without_ids_are_found_by_name(moved: Moved) -> None:
    schema = copy.deepcopy(JAVA_2)
    for field in (*schema["fields"], *files_of(schema)):
        del field["field-id"]
    data = manifest(schema, [entry(f"{OLD}/a"), position_delete(lower_bounds=None, upper_bounds=None)])
    same_but_moved(data, moved(data, {f"{OLD}/data/d.parquet": Rewritten(100)}).data)


def test_writers_may_let_fields_be_null_and_put_null_last(moved: Moved) -> None:
    schema = copy.deepcopy(JAVA_3)
    for field in (schema["fields"][0], *files_of(schema)):
        if isinstance(field["type"], list):
            field["type"].reverse()
        elif field["name"] != "partition":
            field["type"] = [field["type"], "null"]
    made = Rewritten(777, {1: 2}, (4, 5), (b"a", b"b"), {4: (9, 10)})
    entries = [entry(f"{OLD}/a"), entry(f"{OLD}/b", 2, content=None), vector("p.puffin", 4), position_delete("p.puffin")]
    data = manifest(schema, entries)
    new = moved(data, {f"{OLD}/data/p.puffin": made}).data
    files = [row["data_file"] for row in avro_files.rows(new)]
    assert [file["file_path"] for file in files] == [f"{NEW}/a", f"{NEW}/b", f"{NEW}/data/p.puffin", f"{NEW}/data/p.puffin"]
    assert (files[2]["content_offset"], files[2]["content_size_in_bytes"], files[2]["split_offsets"]) == (9, 10, [4, 5])
    assert files[3]["lower_bounds"] == [{"key": 2147483546, "value": b"a"}, BOUNDS[1]]


def test_unknown_fields_of_tomorrow_are_passed_over(moved: Moved) -> None:
    schema = copy.deepcopy(JAVA_3)
    distinct = {"name": "ndv", "type": ["null", "double"], "field-id": 9001}
    column = {"type": "record", "name": "stats", "fields": [distinct]}
    letter = {"type": "enum", "name": "e", "symbols": [f"S{place}" for place in range(200)]}
    new = [
        {"name": "content_stats", "type": {"type": "map", "values": column}, "field-id": 9000},
        {"name": "letter", "type": letter, "field-id": 9002},
        {"name": "three", "type": {"type": "fixed", "name": "f", "size": 3}, "field-id": 9003},
        {"name": "flag", "type": "boolean", "field-id": 9004},
        {"name": "many", "type": {"type": "array", "items": ["null", "string", "float"]}, "field-id": 9005},
        {"name": "again", "type": ["null", {"type": "array", "items": "k117_v118"}], "field-id": 9006},
    ]
    files_of(schema)[8:8] = new
    files_of(schema)[0:0] = [{**field, "name": f"{field['name']}2", "field-id": field["field-id"] + 50} for field in new[2:4]]
    again = [{"key": 1, "value": 2}] * 3
    values = {"content_stats": {"a": {"ndv": 0.5}, "ü": {}}, "letter": "S190", "three": b"xyz", "flag": True, "many": ["a", None]}
    values |= {"again": again, "three2": b"abc", "flag2": False}
    data = manifest(written_out(schema), [entry(f"{OLD}/a", **values)] * 3)
    same_but_moved(data, moved(data).data)


def in_pieces(items: Sequence[Any]) -> Iterator[tuple[bool, Sequence[Any]]]:
    """Blocks of two, every other one with its length before it."""
    for place in range(0, len(items), 2):
        yield place % 4 == 0, items[place : place + 2]


def test_arrays_in_several_blocks(moved: Moved) -> None:
    numbers = [{"key": id_, "value": id_ << 40} for id_ in range(1, 8)]
    bounds = [*BOUNDS, *({"key": id_, "value": bytes(id_)} for id_ in range(1, 6))]
    stats = {"column_sizes": numbers, "lower_bounds": bounds, "upper_bounds": bounds, "split_offsets": list(range(9))}
    deletes = position_delete(**stats)
    data = manifest(JAVA_2, [entry(f"{OLD}/a", **stats), deletes, entry(f"{OLD}/b")], blocks=in_pieces)
    made = Rewritten(100, bounds=(f"{NEW}/data/a".encode(),) * 2)
    same = {name: [NEW_BOUNDS[0], *bounds[1:]] for name in ("lower_bounds", "upper_bounds")}
    new = moved(data, {f"{OLD}/data/d.parquet": made}).data
    same_but_moved(data, new, **{"d.parquet": same})


@pytest.mark.parametrize(
    ("fields", "problem"),
    [({"status": 3}, "makes no sense"), ({"content": 3}, "makes no sense"), ({"content": -1}, "makes no sense")],
)
def test_values_that_mean_nothing(moved: Moved, fields: dict[str, int], problem: str) -> None:
    with pytest.raises(CorruptFile, match=problem):
        moved(manifest(JAVA_2, [entry(f"{OLD}/a", **fields)]))


@pytest.mark.parametrize("content", [0, 1])
def test_an_entry_without_a_path(content: int) -> None:
    schema = copy.deepcopy(JAVA_2)
    next(field for field in files_of(schema) if field["name"] == "file_path")["type"] = ["null", "string"]
    with pytest.raises(CorruptFile, match="makes no sense"):
        relocate_manifest(manifest(schema, [entry(None, 2, content=content)]), WHERE, MOVES, {})


def test_encrypted_manifests_are_refused() -> None:
    with pytest.raises(UnsupportedTable, match="encrypted"):
        relocate_manifest(b"AGS1" + bytes(30), WHERE, MOVES, {})


def test_every_byte_changed_is_noticed_or_means_what_it_says(warm: Callable[[bytes, dict[str, Rewritten]], None]) -> None:
    """Whatever the strict reader still reads, it must read the same, moved; and what it refuses is refused here."""
    stats = {"column_sizes": [{"key": 1, "value": 2}], "lower_bounds": [{"key": 1, "value": b"abc"}], "split_offsets": [4, 99]}
    schema = copy.deepcopy(JAVA_3)
    parts = next(field for field in files_of(schema) if field["name"] == "partition")
    parts["type"]["fields"] = [field for field in parts["type"]["fields"] if field["name"] in ("p1", "p10")]
    entries = [entry(f"{OLD}/a", 0, **stats, partition={"p1": True, "p10": "ü"}), entry("s3://gone/b", 2), vector("p", 4)]
    data = manifest(schema, entries, per_block=2)
    made = {f"{OLD}/data/p": Rewritten(5, blobs={4: (8, 51)})}
    start = data.index(avro_files.SYNC) + 16
    warm(data, made)
    outcomes: Counter[str] = Counter()
    for place in range(start, len(data)):
        for mask in (0x01, 0x02, 0x40, 0x80, 0xFF):
            changed = bytearray(data)
            changed[place] ^= mask
            outcomes[outcome(bytes(changed), made)] += 1
    assert outcomes["moved"] > 100
    assert outcomes["CorruptFile"] > 500


def outcome(data: bytes, made: dict[str, Rewritten]) -> str:
    try:
        found = relocate_manifest(data, WHERE, MOVES, made).data
    except BergungError as error:
        return type(error).__name__
    before, after = list(read_entries(data, WHERE)), list(read_entries(found, WHERE))
    for row in before:
        file = row["data_file"]
        file |= {name: as_meant(file[name]) for name in ("file_path", "referenced_data_file") if file[name]}
        if file["content"] == 1 and row["status"] != 2:
            file |= {"file_size_in_bytes": 5, "content_offset": 8, "content_size_in_bytes": 51}
    assert repr(before) == repr(after)
    return "moved"
