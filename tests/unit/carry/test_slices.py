"""Slices of work: durability is waited for behind the next slice, and what fails is an error of its slice."""

import pickle
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Event, Lock
from time import sleep

import pytest

from bergung.carry.at_hand import AtHand
from bergung.carry.job import Job, TableJob, read_part, write_part
from bergung.carry.rows import LISTED, Row, batched, each, error_of
from bergung.carry.slices import AT_ONCE, Outcome, done_part, work
from bergung.carry.tasks import SLICE_BYTES, plan_parts
from bergung.carry.waves import WAVE
from bergung.clock import SystemClock
from bergung.errors import Refused, StoreError, StoreFull
from bergung.iceberg.columns import table_of
from bergung.stores.base import Store
from bergung.stores.local import LocalStore
from bergung.vault.journal import begin
from bergung.vault.receipts import HELD
from tests.faults.counting_store import Counts, counting_open

PATIENCE_SECONDS = 20


class Slow(LocalStore):
    """Makes the first slice durable only after the second has been worked on."""

    def __init__(self, root: Path, second: Event) -> None:
        super().__init__(root)
        self.second = second

    def make_durable(self, keys: Iterable[str]) -> None:
        if not self.second.wait(PATIENCE_SECONDS):
            raise StoreError("the second slice was not worked on meanwhile")
        super().make_durable(keys)


class Full(LocalStore):
    """A disk that is full when the first file is to be made durable."""

    def make_durable(self, keys: Iterable[str]) -> None:
        named = list(keys)
        if "0" in named:
            raise StoreFull("no space left on device")
        super().make_durable(named)


class Guarded(LocalStore):
    """A store that cannot be sent anywhere."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.guard = Lock()

    def __reduce__(self) -> tuple[type[LocalStore], tuple[str]]:
        raise TypeError("this store stays where it is")


def job_on(store: Store) -> Job:
    return Job(store.url, "run", {0: TableJob("t", "tables/t/", "file:///t")}, open=lambda _: store)


def planned(job: Job, files: int) -> list[Row]:
    """A slice for each file."""
    rows = (
        {"table": 0, "path": str(number), "parent": "", "kind": "data", "declared_bytes": SLICE_BYTES} for number in range(files)
    )
    slices = list(each(plan_parts(job, batched(LISTED, rows))))
    assert len(slices) == files
    return slices


def worked(job: Job, slices: Sequence[Row], second: Event) -> list[Row]:
    def act(_: Job, rows: list[Row]) -> Outcome:
        job.vault().put_if_absent(rows[0]["path"], [b"content"])
        if rows[0]["path"] == "1":
            second.set()
        return Outcome([{**rows[0], "state": HELD, "size_bytes": 7}], 7, (job.vault(), rows[0]["path"]))

    return list(each(work(job, act, batched(WAVE, iter(slices)))))


def test_a_slice_is_made_durable_while_the_next_is_worked_on(tmp_path: Path) -> None:
    second = Event()
    job = job_on(Slow(tmp_path, second))
    slices = planned(job, 3)
    done = worked(job, slices, second)
    assert [(row["start"], row["files"], row["moved_bytes"], row["error"]) for row in done] == [
        (start, 1, 7, None) for start in range(3)
    ]
    assert all(read_part(job, done_part(slice_["part"], slice_["start"])).num_rows == 1 for slice_ in slices)


def test_what_cannot_be_made_durable_is_an_error_of_its_slice_and_has_no_outcome(tmp_path: Path) -> None:
    job = job_on(Full(tmp_path))
    slices = planned(job, 2)
    first, last = worked(job, slices, Event())
    assert isinstance(error_of(first["error"]), StoreFull) and last["error"] is None
    stored = [stat.key for stat in job.vault().list("runs/run/done/")]
    assert stored == [f"runs/run/{done_part(slices[1]['part'], slices[1]['start'])}"]


@pytest.mark.parametrize(("far", "most"), [(True, [16, 3, 1]), (False, [1, 1, 1])])
def test_over_a_network_as_many_files_go_at_once_as_their_size_allows(tmp_path: Path, far: bool, most: list[int]) -> None:
    place = "s3://far/t" if far else "file:///t"
    job = replace(job_on(LocalStore(tmp_path)), tables={0: TableJob("t", "tables/t/", place)})
    sizes = [size for size, _ in AT_ONCE[:-1]] + [AT_ONCE[-2][0] + 1]
    rows = [
        {"table": 0, "path": f"{number:03d}", "parent": "", "kind": "data", "declared_bytes": sizes[number % 3]}
        for number in range(99)
    ]
    barriers = dict(zip(sizes, map(Barrier, most), strict=True))
    now, seen, guard = Counter[int](), Counter[int](), Lock()

    def act(_: Job, rows: list[Row]) -> Outcome:
        size = rows[0]["declared_bytes"]
        with guard:
            now[size] += 1
            seen[size] = max(seen[size], now.total())
        if int(rows[0]["path"]) < 3 * most[sizes.index(size)]:
            barriers[size].wait(PATIENCE_SECONDS)
        # Long enough that one too many would meet the others.
        sleep(0.01)
        with guard:
            now[size] -= 1
        return Outcome([{**rows[0], "state": HELD, "size_bytes": 1}], 1, None)

    slice_ = {"part": write_part(job, "tasks", table_of(LISTED, rows)), "start": 0, "count": len(rows), "bytes": 1}
    (done,) = each(work(job, act, batched(WAVE, iter([slice_]))))
    assert (done["error"], done["files"]) == (None, len(rows)) and [seen[size] for size in sizes] == most


def test_a_part_is_read_once_for_slices_that_follow_each_other(tmp_path: Path) -> None:
    counts = Counts()
    job = replace(job_on(LocalStore(tmp_path)), open=counting_open(counts))
    slices = planned(job, 3)
    elsewhere = replace(job, at_hand=AtHand())
    worked(elsewhere, slices, Event())
    assert counts.requests("read") == 1


def test_a_job_travels_without_the_store_that_it_has_opened(tmp_path: Path) -> None:
    job = Job(str(tmp_path), "run", {}, open=Guarded)
    assert isinstance(job.vault(), Guarded) and job.vault() is job.vault()
    begin(job.vault(), "run", SystemClock())
    sent = pickle.loads(pickle.dumps(job))
    assert sent == job and sent.vault() is not job.vault()


def test_a_job_that_travelled_refuses_a_vault_that_knows_nothing_of_its_run(tmp_path: Path) -> None:
    sent = pickle.loads(pickle.dumps(Job(str(tmp_path), "run", {})))
    with pytest.raises(Refused, match="does not see the vault") as refused:
        sent.vault()
    assert "--engine process" in refused.value.hint
    assert list(tmp_path.iterdir()) == [], "and leaves nothing there"
