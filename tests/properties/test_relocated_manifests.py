"""What holds for every manifest that moves, whatever its writer put into it."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bergung.errors import BergungError
from bergung.iceberg.avro import open_container
from bergung.iceberg.manifests import read_live_files
from bergung.iceberg.relocate.fields import ENTRY
from bergung.iceberg.relocate.manifest_lists import relocate_manifest_list
from bergung.iceberg.relocate.manifests import check_manifest, relocate_manifest
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.rewritten import Rewritten
from bergung.iceberg.relocate.splice.layout import Layout, _layout_of, layout_of
from tests import avro_files
from tests.avro_files import CODECS, Blocks, encode
from tests.manifest_writers import OLD, VERSIONS, WRITERS, list_schema, manifest, manifest_schema

Json = Any
WHERE = "m.avro"
PATH_OF_DELETE = 2147483546
STORES = ("s3://new/elsewhere", "s3://ü/語/" + "long/" * 30)
NEWS = (*STORES, "/n", "hdfs://name/t")
INTEGERS = {"int": st.integers(-(1 << 31), (1 << 31) - 1), "long": st.integers(-(1 << 63), (1 << 63) - 1)}

names = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=12).filter(
    lambda name: name not in (".", "..")
)
below = st.lists(names | st.just("a%2Fb, c") | st.just("") | st.just("x" * 200), min_size=1, max_size=3).map("/".join)
inside = below.filter(lambda rest: rest != "" and not rest.endswith("/")).map(lambda rest: f"{OLD}/{rest}")
elsewhere = names.map(lambda name: f"s3://gone/{name}")


def values(schema: Json) -> st.SearchStrategy[Any]:
    """Anything that this type can hold; what looks like a path more often than by chance."""
    if isinstance(schema, list):
        return st.none() | st.one_of([values(each) for each in schema if each != "null"])
    kind = schema if isinstance(schema, str) else schema["type"]
    match kind:
        case "int" | "long":
            return st.integers(0, 70) | INTEGERS[kind]
        case "string":
            return inside | st.text(max_size=8)
        case "bytes":
            return inside.map(str.encode) | st.binary(max_size=80)
        case "boolean":
            return st.booleans()
        case "float" | "double":
            return st.floats(width=32 if kind == "float" else 64)
        case "fixed":
            return st.binary(min_size=schema["size"], max_size=schema["size"])
        case "array":
            return st.lists(values(schema["items"]), max_size=5)
        case "null":
            return st.none()
    return st.fixed_dictionaries({field["name"]: values(field["type"]) for field in schema["fields"]})


bounds = st.none() | st.lists(
    st.fixed_dictionaries({"key": st.sampled_from([1, PATH_OF_DELETE, 2147483545]), "value": inside.map(str.encode)}), max_size=3
)


@st.composite
def entries(draw: st.DrawFn, schema: Json, contents: Sequence[int]) -> Json:
    entry = draw(values(schema))
    file = entry["data_file"]
    entry["status"] = draw(st.integers(0, 2))
    file["file_path"] = draw(inside | elsewhere if entry["status"] == 2 else inside)
    file |= {name: draw(st.integers(0, 1 << 60)) for name in ("record_count", "file_size_in_bytes")}
    if "content" in file:
        file["content"] = draw(st.sampled_from(contents))
    file |= {"lower_bounds": draw(bounds), "upper_bounds": draw(bounds)} if draw(st.booleans()) else {}
    if "referenced_data_file" in file:
        file["referenced_data_file"] = draw(st.none() | inside)
    return entry


@st.composite
def manifests(draw: st.DrawFn, contents: Sequence[int] = (0, 1, 2)) -> bytes:
    schema = manifest_schema(draw(st.sampled_from(WRITERS)), draw(st.sampled_from(VERSIONS)))
    rows = draw(st.lists(entries(schema, contents), max_size=6))
    codec, per_block = draw(st.sampled_from(sorted(CODECS))), draw(st.integers(1, 6))
    return manifest(schema, rows, codec, per_block, draw(in_blocks))


def in_pieces(seed: int) -> Blocks:
    """Some way to put the items of arrays into blocks, often just one."""
    chance = random.Random(seed)

    def pieces(items: Sequence[Any]) -> Iterator[tuple[bool, Sequence[Any]]]:
        at = 0
        while at < len(items):
            size = chance.choice([1, 2, len(items)])
            yield chance.random() < 0.3, items[at : at + size]
            at += size

    return pieces


in_blocks = st.just(avro_files.in_one) | st.integers().map(in_pieces)


def made_anew(rows: Sequence[Json], moves: PathMap, seed: int) -> dict[str, Rewritten]:
    """Something said of every delete file."""
    chance = random.Random(seed)
    found = {}
    for file in (row["data_file"] for row in rows if row["data_file"].get("content") == 1):
        offsets = [row["data_file"].get("content_offset") for row in rows if row["data_file"]["file_path"] == file["file_path"]]
        found[file["file_path"]] = Rewritten(
            chance.randrange(1 << 40),
            chance.choice([None, {}, {PATH_OF_DELETE: 70_000, 5: 1}]),
            chance.choice([None, (), (4, 1 << 33)]),
            (b"lower", moves.of(f"{OLD}/{'upper' * 20}").encode()),
            {offset: (chance.randrange(1 << 40), chance.randrange(1 << 20)) for offset in offsets if offset is not None},
        )
    return found


def expected(row: Json, moves: PathMap, made: dict[str, Rewritten]) -> Json:
    file = dict(row["data_file"])
    for name in ("file_path", "referenced_data_file"):
        if file.get(name) is not None:
            file[name] = moves.maybe(file[name]) or file[name]
    if file.get("content") == 1 and row["status"] != 2:
        say(file, made[row["data_file"]["file_path"]])
    return {**row, "data_file": file}


def say(file: Json, of: Rewritten) -> None:
    file["file_size_in_bytes"] = of.size_bytes
    if of.column_sizes is not None:
        file["column_sizes"] = [{"key": id_, "value": size} for id_, size in of.column_sizes.items()]
    if of.split_offsets is not None:
        file["split_offsets"] = list(of.split_offsets)
    assert of.bounds is not None
    for name, bound in zip(("lower_bounds", "upper_bounds"), of.bounds, strict=True):
        if file[name] is not None:
            file[name] = [{**pair, "value": bound} if pair["key"] == PATH_OF_DELETE else pair for pair in file[name]]
    if file.get("content_offset") is not None:
        file["content_offset"], file["content_size_in_bytes"] = of.blobs[file["content_offset"]]


@settings(deadline=None, max_examples=100)
@given(manifests(), st.sampled_from(NEWS), st.integers())
def test_decoded_it_is_what_was_decoded_before_with_its_paths_moved(data: bytes, new: str, seed: int) -> None:
    moves, rows = PathMap(((OLD, new),)), avro_files.rows(data)
    made = made_anew(rows, moves, seed)
    found = relocate_manifest(data, WHERE, moves, made)
    check_manifest(data, found.data, WHERE, moves, made)
    assert repr(avro_files.rows(found.data)) == repr([expected(row, moves, made) for row in rows])
    assert avro_files.head(found.data) == avro_files.head(data)
    counts = [sum(row["status"] == status for row in rows) for status in range(3)]
    assert [found.existing_count, found.added_count, found.deleted_count] == counts
    assert found.unmoved_count == sum(moves.maybe(row["data_file"]["file_path"]) is None for row in rows)


@settings(deadline=None, max_examples=100)
@given(manifests(contents=(0, 2)))
def test_moved_to_where_it_is_it_stays_byte_for_byte(data: bytes) -> None:
    found = relocate_manifest(data, WHERE, PathMap(((OLD, OLD),)), {})
    assert avro_files.body(found.data) == avro_files.body(data)
    assert avro_files.head(found.data) == avro_files.head(data)


@settings(deadline=None, max_examples=100)
@given(manifests(contents=(0, 2)), st.sampled_from(STORES))
def test_there_and_back_it_is_the_same_byte_for_byte(data: bytes, new: str) -> None:
    there = relocate_manifest(data, WHERE, PathMap(((OLD, new),)), {})
    back = relocate_manifest(there.data, WHERE, PathMap(((new, OLD),)), {})
    assert avro_files.body(back.data) == avro_files.body(data)
    assert back.unmoved_count == there.unmoved_count


@settings(deadline=None, max_examples=40)
@given(manifests(contents=(0, 2)), st.sampled_from(NEWS))
def test_the_survey_of_the_moved_is_the_moved_survey(data: bytes, new: str) -> None:
    moves = PathMap(((OLD, new),))
    before = read_live_files(data, WHERE).to_pylist()
    after = read_live_files(relocate_manifest(data, WHERE, moves, {}).data, WHERE).to_pylist()
    assert after == sorted(({**row, "path": moves.of(row["path"])} for row in before), key=lambda row: row["path"])


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_an_expression_cuts_where_steps_cut(data: st.DataObject) -> None:
    schema = manifest_schema(data.draw(st.sampled_from(WRITERS)), data.draw(st.sampled_from(VERSIONS)))
    blocks = data.draw(in_blocks)
    known, others = (data.draw(st.lists(entries(schema, (0, 1, 2)), min_size=1, max_size=4)) for _ in range(2))
    encoded = [encode(schema, row, blocks) for row in known + others]
    learned, stepping = (fresh_layout(schema) for _ in range(2))
    many = encoded[: len(known)] * (1 + 100_000 // sum(map(len, encoded[: len(known)])))
    assert (
        stepping.cut(b"".join(encoded), len(encoded), WHERE)
        == learned.cut(b"".join(many + encoded), len(many + encoded), WHERE)[len(many) :]
    )
    assert learned._match is not None


def fresh_layout(schema: Json) -> Layout:
    _layout_of.cache_clear()
    return layout_of(open_container(manifest(schema, []), WHERE), ENTRY)


@settings(deadline=None, max_examples=150)
@given(manifests(), st.data())
def test_bytes_changed_are_noticed_or_mean_what_they_say(data: bytes, draw: st.DataObject) -> None:
    changed = bytearray(data)
    start = data.index(avro_files.SYNC)
    for _ in range(draw.draw(st.integers(1, 3))):
        changed[draw.draw(st.integers(start, len(data) - 1))] ^= draw.draw(st.integers(1, 255))
    moves = PathMap(((OLD, NEWS[0]),))
    made = made_anew(avro_files.rows(data), moves, 0)
    try:
        found = relocate_manifest(bytes(changed), WHERE, moves, made)
    except BergungError:
        return
    before, after = avro_files.rows(bytes(changed)), avro_files.rows(found.data)
    assert repr([expected(row, moves, made) for row in before]) == repr(after)


@st.composite
def manifest_lists(draw: st.DrawFn) -> bytes:
    schema = list_schema(draw(st.sampled_from(WRITERS)), draw(st.sampled_from(VERSIONS)))
    rows = draw(st.lists(values(schema), max_size=5))
    for row in rows:
        row["manifest_path"] = draw(inside)
    return manifest(schema, rows, draw(st.sampled_from(sorted(CODECS))), draw(st.integers(1, 5)), draw(in_blocks))


@settings(deadline=None, max_examples=100)
@given(manifest_lists(), st.sampled_from(NEWS), st.integers())
def test_a_manifest_list_says_where_the_manifests_are_and_how_long(data: bytes, new: str, seed: int) -> None:
    moves, rows, chance = PathMap(((OLD, new),)), avro_files.rows(data), random.Random(seed)
    lengths = {row["manifest_path"]: chance.randrange(1 << 50) for row in rows}
    found = relocate_manifest_list(data, WHERE, moves, lengths)
    said = [{"manifest_path": moves.of(row["manifest_path"]), "manifest_length": lengths[row["manifest_path"]]} for row in rows]
    assert avro_files.rows(found) == [{**row, **each} for row, each in zip(rows, said, strict=True)]
    assert avro_files.head(found) == avro_files.head(data)
    same = {row["manifest_path"]: row["manifest_length"] for row in rows}
    if len({(row["manifest_path"], row["manifest_length"]) for row in rows}) == len(same):
        assert avro_files.body(relocate_manifest_list(data, WHERE, PathMap(((OLD, OLD),)), same)) == avro_files.body(data)
