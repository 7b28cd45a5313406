"""A point is one instant, though tables are committed to while their pointers are read."""

from pathlib import Path

import pytest

from bergung.clock import to_text
from bergung.model.record import Cut
from tests.faults.lake import Lake, bytes_of, contents
from tests.stories.meddling import StoppedClock, backup_beside, minute
from tests.stories.tables_at_risk import delete_files, hide
from tests.synthetic import MINUTE_MS, START_MS, SyntheticTable

CUT = minute(2.5)
LATER_ON = minute(9)
LATER_MS = START_MS + 4 * MINUTE_MS


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Synthetic tables commit once a minute; the backup comes between the second and the third."""
    return Lake(tmp_path, clock=StoppedClock(CUT))


def _table(lake: Lake, name: str, commits: int = 1) -> SyntheticTable:
    table = lake.table(name)
    for _ in range(commits):
        _commit(lake, table)
    return table


def _commit(lake: Lake, table: SyntheticTable) -> str:
    table.append(1)
    return lake.publish(table)


def _time_passes(lake: Lake) -> None:
    lake.clock.moment = LATER_ON  # type: ignore[attr-defined]


def test_what_moved_is_taken_as_it_stood_at_the_cut_by_its_own_times(lake: Lake) -> None:
    """Three versions in play: before the first look, at the cut, at the second look; the one between is right."""
    orders, items = _table(lake, "orders"), _table(lake, "items", 2)
    at_the_cut: list[str] = []

    def commit_twice() -> None:
        at_the_cut.append(_commit(lake, orders))
        _commit(lake, orders)
        _time_passes(lake)

    record = backup_beside(lake, commit_twice).record
    assert record.backup_metadata.cut == Cut(to_text(CUT), exact=1, clock=1, later=0)
    assert record.backup_metadata.timestamp == to_text(CUT)
    moved, still = record.tables["lake.sales.orders"], record.tables["lake.sales.items"]
    assert (moved.cut, moved.metadata_location) == ("clock", at_the_cut[0])
    assert (still.cut, still.metadata_location) == ("exact", items.metadata_path)
    assert moved.answers == {"from": to_text(minute(1)), "to": to_text(CUT)}, "of the commit after the cut it knows nothing"
    assert still.answers == {"from": to_text(minute(1)), "to": to_text(LATER_ON)}
    assert (moved.status, moved.total_rows) == ("complete", 6)


def test_a_commit_before_the_cut_that_only_the_second_look_saw_belongs_to_it(lake: Lake) -> None:
    orders = _table(lake, "orders")
    entry = backup_beside(lake, lambda: _commit(lake, orders)).record.tables["lake.sales.orders"]
    assert (entry.cut, entry.metadata_location) == ("clock", orders.metadata_path)
    assert entry.answers["to"] == to_text(CUT)


def test_a_writer_whose_clock_runs_ahead_never_takes_the_cut_back_before_the_first_look(lake: Lake) -> None:
    """The version that the first look saw was there before the cut, whatever time stands in it."""
    orders = _table(lake, "orders", 2)
    orders._now += 60 * MINUTE_MS
    seen_first = _commit(lake, orders)
    entry = backup_beside(lake, lambda: _commit(lake, orders)).record.tables["lake.sales.orders"]
    assert (entry.cut, entry.metadata_location) == ("clock", seen_first)


def test_a_table_dropped_between_the_looks_is_taken_as_the_first_saw_it(lake: Lake) -> None:
    orders, items = _table(lake, "orders", 2), _table(lake, "items", 2)
    files = bytes_of(orders)

    def drop_without_purge() -> None:
        hide(lake, "orders")
        _time_passes(lake)

    record = backup_beside(lake, drop_without_purge).record
    entry = record.tables["lake.sales.orders"]
    assert (entry.cut, entry.metadata_location, entry.status) == ("clock", orders.metadata_path, "complete")
    assert entry.answers["to"] == to_text(CUT), "when it was seen last"
    assert record.tables["lake.sales.items"].metadata_location == items.metadata_path
    assert record.backup_metadata.cut == Cut(to_text(CUT), exact=1, clock=1, later=0)
    delete_files(lake, orders.reached)
    lake.restore(over=True)
    assert contents(lake.source, "orders/") == files


def test_a_table_dropped_with_its_files_between_the_looks_fails_alone(lake: Lake) -> None:
    _table(lake, "orders", 2)
    _table(lake, "items", 2)
    result = backup_beside(lake, lambda: lake.drop("orders"))
    assert list(result.record.tables) == ["lake.sales.items"]
    assert list(result.record.backup_metadata.failed) == ["lake.sales.orders"]
    assert result.record.backup_metadata.status == "partial"


def test_a_table_that_came_back_between_the_looks_is_taken_by_its_own_times(lake: Lake) -> None:
    """Somebody registered it anew; nobody saw it before the cut, so what was made after the cut is `later`."""
    old, young, new = _table(lake, "old", 2), _table(lake, "young", 3), _table(lake, "new")
    new.metadata_log, new._now = [], LATER_MS
    _commit(lake, new)
    new.metadata_log = []
    made_later = _commit(lake, new)
    pointers = {table: table.metadata_path or "" for table in (old, young, new)}

    def bring_back() -> None:
        for table, pointer in pointers.items():
            lake.point(table.folder.name, pointer)
        _time_passes(lake)

    record = backup_beside(lake, bring_back, before=lambda: hide(lake, "old", "young", "new")).record
    assert {name: (entry.cut, entry.metadata_location) for name, entry in record.tables.items()} == {
        "lake.sales.old": ("clock", old.metadata_path),
        "lake.sales.young": ("clock", young.metadata_log[-1]["metadata-file"]),
        "lake.sales.new": ("later", made_later),
    }
    assert record.backup_metadata.cut == Cut(to_text(CUT), exact=0, clock=2, later=1)
    assert record.tables["lake.sales.new"].answers["to"] == to_text(LATER_ON)


def test_a_version_of_the_cut_whose_metadata_file_is_gone_already_is_taken_later(lake: Lake) -> None:
    """`write.metadata.delete-after-commit.enabled` deletes old metadata files as tables move on."""
    orders = _table(lake, "orders", 2)
    before = orders.metadata_path or ""

    def move_on() -> None:
        _commit(lake, orders)
        delete_files(lake, [before])
        _time_passes(lake)

    record = backup_beside(lake, move_on).record
    entry = record.tables["lake.sales.orders"]
    assert (entry.cut, entry.metadata_location, entry.status) == ("later", orders.metadata_path, "complete")
    assert record.backup_metadata.status == "complete"
