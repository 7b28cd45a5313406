"""Whatever happens to the bytes of a table's own files: either they are read or they are said to be damaged."""

import io
import json
from collections.abc import Callable
from typing import Any

import fastavro
from hypothesis import given, settings
from hypothesis import strategies as st

from bergung.errors import BergungError
from bergung.iceberg.manifest_list import read_manifest_list
from bergung.iceberg.manifests import read_entries, read_live_files
from bergung.iceberg.metadata import read_metadata
from tests import synthetic_avro

FILE = {"content": 0, "file_format": "PARQUET", "partition": {}, "record_count": 3, "file_size_in_bytes": 100}
COUNTS = [{"key": 1, "value": 2}, {"key": 300, "value": 1 << 40}]
FILE |= {"column_sizes": COUNTS, "lower_bounds": [{"key": 1, "value": b"abc"}], "split_offsets": [4, 99]}
ENTRIES = [{"status": n % 3, "snapshot_id": n, "data_file": {**FILE, "file_path": f"s3://b/{n}"}} for n in range(20)]
LISTED = [{"manifest_path": f"m{n}", "manifest_length": n, "partition_spec_id": 0} for n in range(9)]


def written(schema: Any, rows: list[dict[str, Any]], codec: str) -> bytes:
    target = io.BytesIO()
    fastavro.writer(target, schema, rows, codec=codec, sync_interval=200)
    return target.getvalue()


SNAPSHOT = {"snapshot-id": 1, "timestamp-ms": 5, "summary": {"operation": "append"}, "manifest-list": "l"}
METADATA = {
    "format-version": 2,
    "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
    "location": "s3://b/t",
    "last-updated-ms": 7,
    "last-sequence-number": 1,
    "current-snapshot-id": 1,
    "schemas": [{"schema-id": 0, "fields": []}],
    "snapshots": [SNAPSHOT],
    "snapshot-log": [{"snapshot-id": 1, "timestamp-ms": 5}],
    "metadata-log": [{"metadata-file": "m", "timestamp-ms": 5}],
    "refs": {"main": {"snapshot-id": 1, "type": "branch"}},
    "properties": {"a": "b"},
}

Reader = Callable[[bytes, str], Any]
FILES: list[tuple[Reader, bytes]] = [
    (read_live_files, written(synthetic_avro.manifest_entry(3), ENTRIES, "null")),
    (read_live_files, written(synthetic_avro.manifest_entry(2), ENTRIES, "deflate")),
    (lambda data, where: list(read_entries(data, where)), written(synthetic_avro.manifest_entry(2), ENTRIES, "null")),
    (read_manifest_list, written(synthetic_avro.manifest_list(1), LISTED, "null")),
    (read_metadata, json.dumps(METADATA).encode()),
]


def read_or_refuse(reader: Reader, data: bytes) -> None:
    try:
        reader(data, "where")
    except BergungError as error:
        assert error.message.startswith("where")


@settings(deadline=None, max_examples=400)
@given(st.sampled_from(FILES), st.data())
def test_some_bytes_changed(file: tuple[Reader, bytes], data: st.DataObject) -> None:
    changed = bytearray(file[1])
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    read_or_refuse(file[0], bytes(changed))


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(FILES), st.data())
def test_a_stretch_replaced(file: tuple[Reader, bytes], data: st.DataObject) -> None:
    first, second = sorted(data.draw(st.lists(st.integers(0, len(file[1])), min_size=2, max_size=2)))
    read_or_refuse(file[0], file[1][:first] + data.draw(st.binary(max_size=20)) + file[1][second:])


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(sorted(METADATA)), anything)
def test_a_metadata_field_of_any_value(name: str, value: Any) -> None:
    read_or_refuse(read_metadata, json.dumps({**METADATA, name: value}).encode())
