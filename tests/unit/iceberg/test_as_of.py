"""A metadata file as of an instant: what stays, what goes, what is never lowered."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from bergung.iceberg.as_of import AsOf, as_of, counters_of, later_specs, made_by, schema_by, with_files
from bergung.iceberg.metadata import TableMetadata, read_metadata
from bergung.iceberg.snapshots import SnapshotLogEntry
from bergung.iceberg.survey import reached_by
from tests.synthetic import MINUTE_MS, START_MS, Shape, SyntheticTable

Json = dict[str, Any]
HERE = "/t/metadata/00007-x.metadata.json"
FIRST = 1001
"""The id of the first snapshot; the others count up. It was made in minute 1, and so on."""


def minute(number: float) -> int:
    return int(START_MS + number * MINUTE_MS)


def table(folder: Path, commits: int = 4, **shape: Any) -> SyntheticTable:
    made = SyntheticTable(folder, Shape(with_data=False, **shape))
    for _ in range(commits):
        made.append(2)
        made.commit()
    return made


def values_of(made: SyntheticTable | bytes) -> Json:
    data = made if isinstance(made, bytes) else made.metadata_bytes()
    values: Json = json.loads(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
    return values


def data_of(values: Json) -> bytes:
    return json.dumps(values).encode()


def wanted(values: Json, place: int, **more: Any) -> AsOf:
    """By the log's entry of that place, all else as the newest file has it."""
    metadata = read_metadata(data_of(values), HERE)
    entry = metadata.snapshot_log[place]
    files = {file.path for file in reached_by(metadata)}
    given = {"snapshots": made_by(metadata, entry, entry.timestamp_ms), "files": files, "counters": {}, **more}
    return AsOf(entry, **given)


def made_as_of(values: Json, place: int, **more: Any) -> tuple[Json, TableMetadata]:
    data = as_of(data_of(values), HERE, wanted(values, place, **more))
    return values_of(data), read_metadata(data, HERE)


def ids(made: TableMetadata) -> list[int]:
    return [snapshot.snapshot_id - FIRST + 1 for snapshot in made.snapshots]


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("packed", [False, True])
def test_what_came_later_goes_and_nothing_else_changes(tmp_path: Path, version: int, packed: bool) -> None:
    made = table(tmp_path, format_version=version, gzip=packed, more={"x-unknown": {"a": [1]}})
    values = values_of(made)
    data = as_of(made.metadata_bytes(), HERE, wanted(values, 1))
    assert data.startswith(b"\x1f\x8b\x08\x00" + bytes(4)) == packed, "gzip, and no time in its head"
    after = values_of(data)
    assert {name for name in values if values[name] != after[name]} == {
        "snapshots",
        "snapshot-log",
        "metadata-log",
        "current-snapshot-id",
    }
    assert list(after) == list(values)
    assert after["snapshots"] == values["snapshots"][:2] and after["snapshot-log"] == values["snapshot-log"][:2]
    assert (after["current-snapshot-id"], after["metadata-log"]) == (FIRST + 1, [])
    assert as_of(data, HERE, wanted(values, 1)) is data, "made once more it is the same"


def test_what_is_so_already_stays_byte_for_byte(tmp_path: Path) -> None:
    data = b" " + table(tmp_path).metadata_bytes() + b"\n"
    assert as_of(data, HERE, wanted(values_of(data), 3)) is data


def test_a_rollback_leaves_what_was_made_before_it(tmp_path: Path) -> None:
    """And the branch that was staged then; what another branch did later goes, with the tags that came to it."""
    values = values_of(table(tmp_path, commits=5))
    log, refs = values["snapshot-log"], {name: {"snapshot-id": FIRST + place, "type": "tag"} for name, place in TAGS.items()}
    branch = {"snapshot-id": FIRST + 4, "type": "branch", "min-snapshots-to-keep": 5}
    values["refs"] = {"main": branch, **refs}
    # 1, 2; 3 is staged; back to 1; 4, 5.
    values["snapshot-log"] = [*log[:2], {"timestamp-ms": minute(3.5), "snapshot-id": FIRST}, *log[3:]]
    after, metadata = made_as_of(values, 2)
    assert (ids(metadata), metadata.current_snapshot_id) == ([1, 2, 3], FIRST)
    assert after["snapshot-log"] == values["snapshot-log"][:3]
    assert after["refs"] == {"main": {**branch, "snapshot-id": FIRST}, "old": refs["old"], "staged": refs["staged"]}


TAGS = {"old": 0, "staged": 2, "late": 3}


def test_by_clocks_that_differ_nothing_goes_that_the_state_stands_on(tmp_path: Path) -> None:
    """Snapshot 1 says that it was made after 3; 2 was current before it, and says the same."""
    values = values_of(table(tmp_path))
    for place in (0, 1):
        values["snapshots"][place]["timestamp-ms"] = minute(9)
    values["snapshots"][2]["parent-snapshot-id"] = FIRST
    values["snapshot-log"][:1] = []
    assert ids(made_as_of(values, 1)[1]) == [1, 2, 3]
    del values["snapshots"][2]["parent-snapshot-id"]
    assert ids(made_as_of(values, 1)[1]) == [2, 3]


def test_a_log_with_the_same_snapshot_twice_is_cut_at_the_entry_that_was_meant(tmp_path: Path) -> None:
    values = values_of(table(tmp_path))
    again = {"timestamp-ms": minute(5), "snapshot-id": FIRST}
    values["snapshot-log"] += [again, {"timestamp-ms": minute(6), "snapshot-id": FIRST + 2}]
    assert made_as_of(values, 0)[0]["snapshot-log"] == values["snapshot-log"][:1]
    assert made_as_of(values, 4)[0]["snapshot-log"] == values["snapshot-log"][:5]
    values["snapshot-log"] += [again]
    assert made_as_of(values, 4)[0]["snapshot-log"] == values["snapshot-log"], "of two that are equal the last"


def test_an_entry_whose_snapshot_is_gone_clears_what_stands_before_it(tmp_path: Path) -> None:
    values = values_of(table(tmp_path))
    held = frozenset({FIRST, FIRST + 2, FIRST + 3})
    after, _ = made_as_of(values, 3, snapshots=held)
    assert after["snapshot-log"] == values["snapshot-log"][2:]
    assert [each["snapshot-id"] for each in after["snapshots"]] == sorted(held)
    del values["snapshots"][1]
    assert made_as_of(values, 3)[0] == {**after, "snapshots": values["snapshots"]}, "gone already when the file was written"


def test_statistics_go_with_their_snapshot_or_when_their_file_is_not_there(tmp_path: Path) -> None:
    made = table(tmp_path, commits=2)
    made.add_statistics()
    made.append(1)
    made.commit()
    made.add_statistics()
    made.commit(snapshot=False)
    values = values_of(made)
    assert [len(values[name]) for name in ("statistics", "partition-statistics")] == [2, 2]
    after, _ = made_as_of(values, 1)
    assert after["statistics"] == values["statistics"][:1]
    assert after["partition-statistics"] == values["partition-statistics"][:1]
    files = {values["statistics"][1]["statistics-path"]}
    after, _ = made_as_of(values, 2, files=files)
    assert (after["statistics"], after["partition-statistics"]) == (values["statistics"][1:], [])


def test_numbers_that_count_up_are_never_lowered(tmp_path: Path) -> None:
    """Made from a file of then, they are those of the newest file; a number that a format has not stays away."""
    made = table(tmp_path, format_version=3)
    values = values_of(made)
    reached = counters_of(made.metadata_bytes(), HERE)
    assert reached == {"last-sequence-number": 4, "next-row-id": 24, "last-column-id": 2, "last-partition-id": 999}
    assert {name: made_as_of(values, 0)[0][name] for name in reached} == reached
    higher = {name: number + 7 for name, number in reached.items()}
    assert {name: made_as_of(values, 0, counters=higher)[0][name] for name in reached} == higher
    old = values_of(table(tmp_path / "old", format_version=1))
    assert {name for name in reached if name in made_as_of(old, 0, counters=higher)[0]} == {"last-column-id", "last-partition-id"}


def test_snapshots_without_their_manifest_list_are_no_use(tmp_path: Path) -> None:
    metadata = read_metadata(table(tmp_path).metadata_bytes(), HERE)
    lists = [snapshot.manifest_list or "" for snapshot in metadata.snapshots]
    assert with_files(metadata, set(lists[1:])) == {FIRST + 1, FIRST + 2, FIRST + 3}
    embedded = read_metadata(table(tmp_path / "old", format_version=1, embedded_manifests=True).metadata_bytes(), HERE)
    two = set(embedded.snapshots[1].manifests)
    assert with_files(embedded, two) == {FIRST, FIRST + 1}


DAY = {"id": 3, "name": "day", "required": False, "type": "date"}
NESTED = {
    "type": "list",
    "element-id": 5,
    "element-required": True,
    "element": {"type": "map", "key-id": 6, "key": "int", "value-id": 7, "value-required": True, "value": "int"},
}


def evolved(folder: Path, **shape: Any) -> Json:
    """A column that came after snapshot 2, and that the partitions and the order then went by."""
    values = values_of(table(folder, **shape))
    (first,) = values["schemas"]
    bucket = {"source-id": 1, "field-id": 1000, "transform": "bucket[4]", "name": "id_bucket"}
    by_day = {"source-id": 3, "field-id": 1001, "transform": "identity", "name": "day"}
    values["schemas"] = [first, {**first, "schema-id": 1, "fields": [*first["fields"], DAY]}]
    values["partition-specs"] = [{"spec-id": 0, "fields": [bucket]}, {"spec-id": 1, "fields": [bucket, by_day]}]
    values["sort-orders"] = [{"order-id": 0, "fields": []}, {"order-id": 1, "fields": [{"source-ids": [1, 3], "transform": "x"}]}]
    values |= {"current-schema-id": 1, "default-spec-id": 1, "default-sort-order-id": 1}
    if values["format-version"] == 1:
        values |= {"schema": values["schemas"][1], "partition-spec": [bucket, by_day]}
    for snapshot in values["snapshots"][2:]:
        snapshot["schema-id"] = 1
    return values


@pytest.mark.parametrize("version", [1, 2])
def test_the_schema_of_then_and_what_fits_it(tmp_path: Path, version: int) -> None:
    values = evolved(tmp_path, format_version=version)
    assert later_specs(data_of(values), HERE, 0) == {1}
    after, metadata = made_as_of(values, 1, schema_id=0, without_specs=frozenset({1}))
    assert (metadata.schema_id, after["default-spec-id"], after["default-sort-order-id"]) == (0, 0, 0)
    assert after["partition-specs"] == values["partition-specs"][:1]
    assert (after["schemas"], after["sort-orders"]) == (values["schemas"], values["sort-orders"])
    old = (values["schemas"][0], values["partition-specs"][0]["fields"]) if version == 1 else (None, None)
    assert (after.get("schema"), after.get("partition-spec")) == old


def test_the_partition_spec_and_the_order_stay_where_they_fit(tmp_path: Path) -> None:
    values = evolved(tmp_path)
    values["partition-specs"].append({"spec-id": 2, "fields": []})
    values["sort-orders"].append({"order-id": 2, "fields": [{"source-id": 1, "transform": "identity"}]})
    after, _ = made_as_of(values, 1, schema_id=0)
    assert (after["default-spec-id"], after["default-sort-order-id"]) == (2, 2), "the last that fit"
    values |= {"default-spec-id": 0, "default-sort-order-id": 0}
    after, _ = made_as_of(values, 1, schema_id=0)
    assert (after["default-spec-id"], after["default-sort-order-id"]) == (0, 0)


def test_the_schema_stays_where_no_partition_spec_fits_that_of_then(tmp_path: Path) -> None:
    values = evolved(tmp_path)
    values["partition-specs"] = values["partition-specs"][1:]
    after, _ = made_as_of(values, 1, schema_id=0)
    assert [after[name] for name in ("current-schema-id", "default-spec-id", "default-sort-order-id")] == [1, 1, 1]
    assert made_as_of(evolved(tmp_path / "x"), 1, schema_id=9)[0]["current-schema-id"] == 1, "a schema that is not there"
    assert made_as_of(evolved(tmp_path / "y"), 1)[0]["current-schema-id"] == 1, "none is asked for"


def test_columns_count_however_deep_they_lie(tmp_path: Path) -> None:
    values = evolved(tmp_path)
    values["schemas"][1]["fields"][2] = {"id": 4, "name": "deep", "required": False, "type": NESTED}
    for source in (4, 5, 6, 7):
        values["partition-specs"][1]["fields"][1]["source-id"] = source
        assert later_specs(data_of(values), HERE, 0) == {1}
    values["partition-specs"][1]["fields"][1]["source-id"] = 8
    assert later_specs(data_of(values), HERE, 0) == frozenset(), "a column that was dropped before"
    assert later_specs(data_of(values), HERE, 1) == frozenset()


def test_the_schema_of_then_is_that_of_the_youngest_snapshot_then(tmp_path: Path) -> None:
    """After a rollback the table still had the columns that it had got."""
    metadata = read_metadata(data_of(evolved(tmp_path)), HERE)
    assert schema_by(metadata, {FIRST, FIRST + 1}) == 0
    assert schema_by(metadata, {FIRST, FIRST + 2}) == 1
    old = values_of(table(tmp_path / "old", format_version=1))
    for snapshot in old["snapshots"]:
        snapshot.pop("schema-id")
    assert schema_by(read_metadata(data_of(old), HERE), {FIRST}) is None
    old["snapshots"][1]["schema-id"], old["snapshots"][0]["schema-id"] = 4, 5
    assert schema_by(read_metadata(data_of(old), HERE), {FIRST, FIRST + 1}) == 4


def test_the_entry_that_becomes_the_last(tmp_path: Path) -> None:
    """Where the log has it not, as one whose writer keeps none, it is all there is."""
    values = values_of(table(tmp_path))
    values["snapshot-log"] = []
    entry = SnapshotLogEntry(minute(2), FIRST + 1)
    data = as_of(data_of(values), HERE, AsOf(entry, frozenset({FIRST, FIRST + 1}), (), {}))
    assert values_of(data)["snapshot-log"] == [{"timestamp-ms": minute(2), "snapshot-id": FIRST + 1}]
