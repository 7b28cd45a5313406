"""Live files of manifests, by whatever writer."""

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from bergung.errors import CorruptFile
from bergung.iceberg.manifests import LIVE_FILES, read_entries, read_live_files
from tests import synthetic_avro
from tests.synthetic import Shape, SyntheticTable

WHERE = "s3://b/t/metadata/m.avro"


def written(entries: list[dict[str, Any]], version: int = 2, schema: Any = None, **options: Any) -> bytes:
    target = io.BytesIO()
    fastavro.writer(target, schema or synthetic_avro.manifest_entry(version), entries, **options)
    return target.getvalue()


def entry(path: str, status: int = 1, **fields: Any) -> dict[str, Any]:
    file = {"content": 0, "file_format": "PARQUET", "partition": {}, "record_count": 3, "file_size_in_bytes": 100}
    file |= {"block_size_in_bytes": 1, "file_path": path, **fields}
    return {"status": status, "snapshot_id": 1, "sequence_number": 5, "file_sequence_number": None, "data_file": file}


def rows(data: bytes) -> list[tuple[Any, ...]]:
    found = read_live_files(data, WHERE)
    assert found.schema == LIVE_FILES
    return [tuple(row.values())[:5] for row in found.to_pylist()]


def test_live_files_are_sorted_and_deleted_ones_left_out() -> None:
    data = written([entry("s3://b/z", 1), entry("s3://b/gone", 2), entry("s3://b/a", 0, record_count=7)])
    assert rows(data) == [("s3://b/a", "data", 100, 7, 0), ("s3://b/z", "data", 100, 3, 1)]


def test_who_added_a_file_and_when() -> None:
    """An ADDED entry may leave both to its manifest, an older one says them; version 1 has no sequence numbers."""
    inherits = {**entry("s3://b/new"), "snapshot_id": None}
    tells = {**entry("s3://b/old", 0), "snapshot_id": 7, "file_sequence_number": 3}
    added = ("path", "added_by", "added_at")
    found = read_live_files(written([inherits, tells]), WHERE).select(added).to_pylist()
    assert [tuple(row.values()) for row in found] == [("s3://b/new", None, None), ("s3://b/old", 7, 3)]
    (old,) = read_live_files(written([tells], version=1), WHERE).select(added).to_pylist()
    assert tuple(old.values()) == ("s3://b/old", 7, None)


def test_nothing_lives() -> None:
    assert rows(written([entry("s3://b/gone", 2)])) == []
    assert rows(written([])) == []


def test_version_1_has_data_only() -> None:
    assert rows(written([entry("s3://b/a")], version=1)) == [("s3://b/a", "data", 100, 3, 1)]


def test_kinds() -> None:
    files = [
        entry("a", content=0),
        entry("b", content=1),
        entry("c", content=1, file_format="puffin"),
        entry("d", content=2),
    ]
    found = [row[:2] for row in rows(written(files))]
    assert found == [("a", "data"), ("b", "position_deletes"), ("c", "deletion_vectors"), ("d", "equality_deletes")]


def test_a_puffin_file_is_one_row() -> None:
    puffin = {"content": 1, "file_format": "PUFFIN"}
    vectors = [
        entry("p", 1, record_count=4, **puffin),
        entry("p", 0, record_count=5, **puffin),
        entry("q", 2, **puffin),
    ]
    assert rows(written(vectors, version=3)) == [("p", "deletion_vectors", 100, 9, 0)]


def test_a_data_file_that_was_added_twice_is_one_row() -> None:
    assert rows(written([entry("a"), entry("a")])) == [("a", "data", 100, 3, 1)]


def test_several_blocks_and_batches(tmp_path: Path) -> None:
    made = SyntheticTable(tmp_path, Shape(with_data=False, columns_with_statistics=20))
    made.append(5000)
    made.commit()
    path = next(path for path, kind in made.reached.items() if kind == "manifest")
    found = read_live_files(made.local(path).read_bytes(), path)
    assert found.column("path").to_pylist() == sorted(made.live_paths())
    assert set(found.column("declared_bytes").to_pylist()) == {1003}


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard", "bzip2", "xz"])
def test_codecs(codec: str) -> None:
    files = [entry(f"s3://b/{number:05d}") for number in range(200)]
    data = repacked(written(files, codec="null", sync_interval=2000), codec)
    assert [row[0] for row in rows(data)] == [each["data_file"]["file_path"] for each in files]


def repacked(data: bytes, codec: str) -> bytes:
    """The same container with blocks packed by another codec: fastavro has no snappy and zstd of its own."""
    pack = {
        "null": bytes,
        "deflate": lambda block: pack_with("zlib", block)[2:-4],
        "bzip2": lambda block: pack_with("bz2", block),
        "xz": lambda block: pack_with("lzma", block),
        "snappy": lambda block: pa.compress(block, "snappy", asbytes=True) + pack_with("crc", block),
        "zstandard": lambda block: pa.compress(block, "zstd", asbytes=True),
    }[codec]
    target = io.BytesIO()
    blocks = list(fastavro.block_reader(io.BytesIO(data)))
    head = data[: blocks[0].offset].replace(b"\x14avro.codec\x08null", b"\x14avro.codec" + lengthed(codec.encode()))
    target.write(head)
    for block in blocks:
        body = pack(block.bytes_.getvalue())
        target.write(number(block.num_records) + lengthed(body) + data[blocks[0].offset - 16 : blocks[0].offset])
    return target.getvalue()


def pack_with(name: str, block: bytes) -> bytes:
    import bz2
    import lzma
    import zlib

    if name == "crc":
        return zlib.crc32(block).to_bytes(4, "big")
    return {"zlib": zlib.compress, "bz2": bz2.compress, "lzma": lzma.compress}[name](block)


def number(value: int) -> bytes:
    target = io.BytesIO()
    fastavro.schemaless_writer(target, "long", value)
    return target.getvalue()


def lengthed(content: bytes) -> bytes:
    return number(len(content)) + content


def test_fields_are_found_by_id_whatever_their_names() -> None:
    schema = synthetic_avro.manifest_entry(2)
    for place, field in enumerate(schema["fields"]):
        field["name"] = f"x{place}"
    inner = schema["fields"][-1]["type"]
    inner["name"] = "x4"
    names = {field["name"]: f"y-{place}" for place, field in enumerate(inner["fields"])}
    for field in inner["fields"]:
        field["name"] = names[field["name"]]
    given = entry("s3://b/a", 0, file_size_in_bytes=5)
    renamed = {f"x{place}": value for place, value in enumerate(given.values())}
    renamed["x4"] = {names[name]: value for name, value in given["data_file"].items() if name in names}
    assert rows(written([renamed], schema=schema)) == [("s3://b/a", "data", 5, 3, 0)]


def test_fields_without_ids_are_found_by_name() -> None:
    schema = synthetic_avro.manifest_entry(2)
    for field in (*schema["fields"], *schema["fields"][-1]["type"]["fields"]):
        del field["field-id"]
    assert rows(written([entry("s3://b/a")], schema=schema)) == [("s3://b/a", "data", 100, 3, 1)]


def test_a_type_may_be_named_instead_of_written_again() -> None:
    schema = synthetic_avro.manifest_entry(2)
    file = schema["fields"][-1]["type"]
    twice = next(field for field in file["fields"] if field["name"] == "value_counts")
    twice["type"] = ["null", {"type": "array", "items": "k117_v118"}]
    counts = [{"key": 1, "value": 2}]
    data = written([entry("s3://b/a", column_sizes=counts, value_counts=counts)], schema=schema)
    assert rows(data) == [("s3://b/a", "data", 100, 3, 1)]


def test_unknown_fields_of_tomorrow_are_passed_over() -> None:
    schema = synthetic_avro.manifest_entry(3)
    distinct = {"name": "ndv", "type": ["null", "double"], "field-id": 9001}
    column = {"type": "record", "name": "stats", "fields": [distinct]}
    fixed = {"type": "fixed", "name": "f", "size": 3}
    new = [
        {"name": "content_stats", "type": {"type": "map", "values": column}, "field-id": 9000},
        {"name": "letter", "type": {"type": "enum", "name": "e", "symbols": ["A", "B"]}, "field-id": 9002},
        {"name": "three", "type": fixed, "field-id": 9003},
        {"name": "flag", "type": "boolean", "field-id": 9004},
        {"name": "many", "type": {"type": "array", "items": ["null", "string", "float"]}, "field-id": 9005},
    ]
    schema["fields"][-1]["type"]["fields"][0:0] = new
    values = {"content_stats": {"a": {"ndv": 0.5}}, "letter": "B", "three": b"xyz", "flag": True, "many": ["a", 1.5]}
    assert rows(written([entry("s3://b/a", **values)], schema=schema)) == [("s3://b/a", "data", 100, 3, 1)]


def test_read_entries_gives_all_with_partitions() -> None:
    schema = synthetic_avro.manifest_entry(2)
    partition = next(field for field in schema["fields"][-1]["type"]["fields"] if field["name"] == "partition")
    day = {"name": "day", "type": ["null", {"type": "int", "logicalType": "date"}], "field-id": 1000}
    partition["type"] = {"type": "record", "name": "r102", "fields": [day]}
    bounds = [{"key": 1, "value": b"\x01"}]
    data = written([entry("s3://b/a", 2, partition={"day": 0}, lower_bounds=bounds)], schema=schema)
    (found,) = read_entries(data, WHERE)
    assert found["status"] == 2
    assert str(found["data_file"]["partition"]["day"]) == "1970-01-01"
    assert found["data_file"]["lower_bounds"] == bounds


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"status": 3}, "status 3"),
        ({"content": 3}, "content 3"),
        ({"content": -1}, "content -1"),
        ({"file_size_in_bytes": -1}, "negative"),
        ({"record_count": -1}, "negative"),
    ],
)
def test_values_that_mean_nothing(fields: dict[str, int], problem: str) -> None:
    with pytest.raises(CorruptFile, match=problem):
        read_live_files(written([entry("s3://b/a", **fields)]), WHERE)


@pytest.mark.parametrize("name", ["file_path", "record_count", "file_size_in_bytes"])
def test_a_schema_without_what_every_manifest_has(name: str) -> None:
    schema = synthetic_avro.manifest_entry(2)
    file = schema["fields"][-1]["type"]
    file["fields"] = [field for field in file["fields"] if field["name"] != name]
    with pytest.raises(CorruptFile, match="makes no sense"):
        read_live_files(written([entry("s3://b/a")], schema=schema), WHERE)


def test_pandas_is_not_imported(tmp_path: Path) -> None:
    """It would cost every worker a second (design 4a)."""
    made = SyntheticTable(tmp_path, Shape(with_data=False))
    made.append(3)
    made.commit()
    program = """if True:
        import sys
        from bergung.iceberg.manifests import read_live_files
        from bergung.iceberg.manifest_list import read_manifest_list
        from bergung.iceberg.survey import outside
        for path in sys.argv[2:]:
            files = read_live_files(open(path, "rb").read(), path)
            print(len(outside(files.column("path").combine_chunks(), ["/x", sys.argv[1]])), files.num_rows)
        print(sorted({"pandas", "pyiceberg", "pyspark"} & set(sys.modules)))
    """
    manifests = [str(made.local(path)) for path, kind in made.reached.items() if kind == "manifest"]
    command = [sys.executable, "-c", program, str(tmp_path), *manifests]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["0 3", "[]"]
