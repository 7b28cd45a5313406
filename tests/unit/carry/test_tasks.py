"""Stored task lists and their slices: files stay whole, slices stay even, what is settled passes by."""

import uuid
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bergung.carry.job import Job, TableJob, read_part
from bergung.carry.rows import LISTED, Row, batched, each
from bergung.carry.tasks import PART_ROWS, SLICE_BYTES, SLICE_FILES, files_of, plan_parts
from bergung.iceberg.columns import rows_of
from bergung.stores.memory import MemoryStore


@pytest.fixture
def job() -> Job:
    return _job()


def _job() -> Job:
    store = MemoryStore(uuid.uuid4().hex)
    tables = {number: TableJob(f"t{number}", f"tables/t{number}/", f"memory://x/t{number}") for number in range(3)}
    return Job(store.url, "run", tables)


def _file(path: str, table: int = 0, bytes_: int | None = 1, rank: int | None = 0, parent: str = "m") -> Row:
    return {"table": table, "path": path, "parent": parent, "kind": "data", "declared_bytes": bytes_, "rank": rank}


def _planned(job: Job, rows: Sequence[Row]) -> list[Row]:
    return list(each(plan_parts(job, batched(LISTED, iter(rows)))))


def _groups(job: Job, slices: Sequence[Row]) -> Iterator[list[Row]]:
    """As the workers see them: the files of each slice, each with all its rows."""
    for slice_ in slices:
        yield from files_of(read_part(job, slice_["part"]).slice(slice_["start"], slice_["count"]))


files = st.builds(
    _file,
    st.sampled_from([f"memory://x/{name}" for name in "abcdefgh"]),
    st.integers(0, 2),
    st.sampled_from([None, 0, 1, SLICE_BYTES // 2, SLICE_BYTES, 5 * SLICE_BYTES]),
    st.sampled_from([None, 0, 1, 7]),
    st.sampled_from(["m1", "m2", "m3"]),
)


@settings(max_examples=60)
@given(st.lists(files, max_size=80))
def test_every_row_is_in_one_slice_and_no_file_is_in_two(rows: list[Row]) -> None:
    job = _job()
    groups = list(_groups(job, _planned(job, rows)))
    assert sorted(map(_facts, rows)) == sorted(_facts(row) for group in groups for row in group)
    named = [(group[0]["table"], group[0]["path"]) for group in groups]
    assert len(named) == len(set(named)), "all the rows of a file are in one call"
    for group in groups:
        assert {(row["table"], row["path"]) for row in group} == {(group[0]["table"], group[0]["path"])}
        ranks = [row["rank"] or 0 for row in group]
        assert ranks == sorted(ranks), "what the newest snapshot sees comes first"


def _facts(row: Row) -> tuple[object, ...]:
    return tuple(str(row[name]) for name in ("table", "path", "declared_bytes", "rank", "parent"))


def test_a_slice_ends_when_it_has_bytes_enough(job: Job) -> None:
    rows = [_file(f"memory://x/{number:03d}", bytes_=SLICE_BYTES // 4) for number in range(10)]
    assert [(row["start"], row["count"], row["bytes"]) for row in _planned(job, rows)] == [
        (0, 4, SLICE_BYTES),
        (4, 4, SLICE_BYTES),
        (8, 2, SLICE_BYTES // 2),
    ]


def test_a_slice_ends_when_it_has_files_enough(job: Job) -> None:
    rows = [_file(f"memory://x/{number:04d}") for number in range(2 * SLICE_FILES + 1)]
    assert [row["count"] for row in _planned(job, rows)] == [SLICE_FILES, SLICE_FILES, 1]


def test_a_file_weighs_once_however_many_manifests_name_it(job: Job) -> None:
    rows = [_file("memory://x/a", bytes_=100, parent=f"m{number}") for number in range(SLICE_FILES + 44)]
    assert [(row["count"], row["bytes"]) for row in _planned(job, rows)] == [(SLICE_FILES + 44, 100)]


def test_a_known_size_counts_where_none_is_declared(job: Job) -> None:
    rows = [{**_file("memory://x/a", bytes_=None), "size_bytes": 9}, _file("memory://x/b", bytes_=None)]
    assert [row["bytes"] for row in _planned(job, rows)] == [9]


def test_a_stored_list_is_not_cut_within_a_file(job: Job) -> None:
    """The file that stands across the border has two rows."""
    rows = [_file(f"memory://x/{number:05d}") for number in range(PART_ROWS - 1)]
    rows += [_file("memory://x/99998", parent=parent) for parent in ("m1", "m2")] + [_file("memory://x/99999")]
    slices = _planned(job, rows)
    lengths = {row["part"]: read_part(job, row["part"]).num_rows for row in slices}
    assert sorted(lengths.values()) == [1, PART_ROWS + 1]
    assert len(list(_groups(job, slices))) == PART_ROWS + 1


def test_what_is_settled_passes_by(job: Job) -> None:
    settled = [{**_file("memory://x/a"), "state": "missing"}, {**_file("memory://x/b"), "error": "StoreError\tno\t"}]
    out = _planned(job, [*settled, _file("memory://x/c")])
    assert [(row["path"], row["part"] is None) for row in out] == [
        ("memory://x/a", True),
        ("memory://x/b", True),
        (None, False),
    ]
    assert [group[0]["path"] for group in _groups(job, out[2:])] == ["memory://x/c"]


def test_a_repeated_task_writes_the_same_list(job: Job) -> None:
    rows = [_file(f"memory://x/{number}") for number in range(5)]
    assert _planned(job, rows) == _planned(job, rows[::-1]), "in whatever order the shuffle brings them"
    assert len(list(job.vault().list("runs/run/tasks/"))) == 1


def test_no_rows_no_list(job: Job) -> None:
    assert _planned(job, []) == []
    assert list(job.vault().list("")) == []


def test_the_files_of_a_stretch() -> None:
    rows = [_file("a", parent="m1"), _file("a", parent="m2"), _file("a", table=1), _file("b", table=1)]
    (batch,) = batched(LISTED, iter(rows))
    assert [[row["parent"] for row in group] for group in files_of(batch)] == [["m1", "m2"], ["m"], ["m"]]
    assert rows_of(batch)[0]["table"] == 0
