"""How far a wave has come, as its stored outcomes tell, and what asking costs."""

import uuid
from dataclasses import dataclass, field

import pytest

from bergung.carry.effects import Effects, NobodyWatches, here
from bergung.carry.job import Job, write_named_part
from bergung.carry.rows import LISTED
from bergung.carry.slices import done_part
from bergung.carry.waves import PAGE, Totals, _Progress
from bergung.iceberg.columns import table_of
from bergung.plan.waves import Slice
from bergung.stores.memory import MemoryStore
from tests.faults.counting_store import Counts, counting_open


@dataclass
class Told(NobodyWatches):
    told: list[tuple[int, int]] = field(default_factory=list)

    def progress(self, files: int, bytes_: int, total: tuple[int, int]) -> None:
        self.told.append((files, bytes_))


@pytest.mark.parametrize(("later", "lists"), [(0, 1), (PAGE, 2)])
def test_outcomes_are_counted_as_they_come(later: int, lists: int) -> None:
    """All outcomes of a run in one list, as long as they fit on its page."""
    counts, watch = Counts(), Told()
    job = Job(MemoryStore(uuid.uuid4().hex).url, "run", {}, open=counting_open(counts))
    wave = [Slice(f"tasks/{part}.parquet", start, 2, 10) for part in "ab" for start in (0, 2)]
    progress = _Progress([*wave, *wave[:1] * later], wave, Totals(files=5, bytes=50))
    effects = Effects(engine=here, watch=watch)
    asked = []
    for done in ([], wave[:1], wave[1:2], wave[2:]):
        for each in done:
            write_named_part(job, done_part(each.part, each.start), table_of(LISTED, []))
        counts.clear()
        progress.look(effects, job)
        asked.append(counts.requests("list"))
    progress.look(effects, job)
    assert watch.told == [(5, 50), (7, 60), (9, 70), (13, 90), (13, 90)]
    assert asked == [lists, lists, lists, 1] and counts.requests("list") == 1, "what is done is not asked for again"
