"""Since when a table's log tells the whole story."""

from collections.abc import Mapping, Sequence

import pytest

from bergung.iceberg.snapshots import Snapshot, SnapshotLogEntry, unbroken

LINEAR = {"A": None, "B": "A", "C": "B", "D": "C"}


def snapshots(parents: Mapping[str, str | None], without: str = "", numbers: Sequence[int] = (1, 2, 3, 4)) -> list[Snapshot]:
    """Named by letters, made at the time of their letter; sequence numbers in the order of the names given."""
    numbered = dict(zip(parents, numbers, strict=False))
    return [
        Snapshot(ord(name), parent and ord(parent), numbered[name], ord(name), "append", {}, 0, "list")
        for name, parent in parents.items()
        if name not in without
    ]


def told(log: str, held: list[Snapshot], last: int = 4) -> str:
    """The entries that are believed; the first of a snapshot bears its time, one by hand its place."""
    entries = [SnapshotLogEntry(ord(name) if log.index(name) == place else place, ord(name)) for place, name in enumerate(log)]
    found = unbroken(entries, held, last)
    assert found == entries[len(entries) - len(found) :]
    return "".join(chr(entry.snapshot_id) for entry in found)


@pytest.mark.parametrize(
    ("log", "without", "believed", "why"),
    [
        ("ABCD", "", "ABCD", "nothing expired"),
        ("BCD", "A", "BCD", "Iceberg cleared the log before the first that is held"),
        ("ABCD", "B", "CD", "an entry of an expired snapshot ends it"),
        ("ACD", "B", "CD", "PyIceberg took out one entry: A seems to have lasted until C"),
        ("ABC", "C", "", "the newest itself is gone"),
        ("", "", "", "no log"),
        ("ABCDB", "", "ABCDB", "a rollback, nothing expired"),
        ("ABCB", "D", "B", "a rollback from C, or from D, which is gone"),
        ("ABDB", "C", "B", "a rollback from D, but something is gone: B stood before D, or C did"),
        ("ABBD", "C", "BD", "twice the same in a row: something between them was taken out"),
        ("AD", "", "AD", "two commits at once: all between are there"),
        ("BCBC", "A", "C", "B again, and C again: A may have been current between"),
        ("BCBC", "", "BCBC", "the same where nothing is gone"),
    ],
)
def test_unbroken(log: str, without: str, believed: str, why: str) -> None:
    parents = LINEAR if log != "ABBD" else {**LINEAR, "D": "B"}
    assert told(log, snapshots(parents, without)) == believed, why


def test_without_sequence_numbers_a_rollback_is_where_certainty_ends() -> None:
    held = snapshots(LINEAR, numbers=(0, 0, 0, 0))
    assert told("ABCD", held, last=0) == "ABCD"
    assert told("ABCB", held, last=0) == "B"


def test_a_commit_on_an_expired_snapshot_shows_that_its_entry_is_gone() -> None:
    """A, B, C, a rollback to A, D on top of it; then PyIceberg took out both entries of A."""
    assert told("BCD", snapshots({"A": None, "B": "A", "C": "B", "D": "A"}, "A")) == "D"


def test_a_branch_that_main_was_moved_to_says_nothing_of_what_stood_before() -> None:
    """Main may have been elsewhere: C was not committed to it at that time."""
    held = snapshots(LINEAR, "A")
    moved = [SnapshotLogEntry(ord("B"), ord("B")), SnapshotLogEntry(900, ord("C"))]
    assert unbroken(moved, held, 4) == moved[1:]
    assert unbroken(moved, snapshots(LINEAR), 4) == moved


def test_a_parent_that_pyiceberg_cut_off_is_no_parent() -> None:
    assert told("ACD", snapshots({"A": None, "B": "A", "C": None, "D": "C"}, "B")) == "CD"


def test_parents_in_a_circle_come_to_an_end() -> None:
    held = snapshots({"A": "B", "B": "A", "C": None})
    assert told("CA", held, last=3) == "CA"
