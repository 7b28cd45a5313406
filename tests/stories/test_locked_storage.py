"""On locked storage whoever can write but not delete versions can neither change nor hide a sealed point."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bergung.backup.request import BackupRequest
from bergung.backup.run import run_backup
from bergung.catalogs.select import select_tables
from bergung.errors import BergungError, NotAllowed
from bergung.stores.probe import PROBE
from bergung.upkeep.tampering import HIDDEN, OVERWRITTEN
from bergung.upkeep.verify import VerifyRequest, run_verify
from bergung.vault.layout import CHECKPOINTS, LOG, point_key, run_key, slot_key
from bergung.vault.vault import read_state
from tests.faults.lake import CATALOG, Lake, bytes_of, contents
from tests.stories import intruder
from tests.stories.intruder import BLOBS, MANIFESTS, RECEIPTS, RECORDS, SLOTS, VAULT, Attack
from tests.synthetic import Shape, SyntheticTable

ATTACKS: dict[str, Attack] = {
    "records overwritten": intruder.overwrite(RECORDS),
    "records exchanged": intruder.overwrite(RECORDS, b"{}"),
    "receipts overwritten": intruder.overwrite(RECEIPTS),
    "receipts flipped": intruder.flip(RECEIPTS),
    "blobs overwritten": intruder.overwrite(BLOBS),
    "blobs flipped": intruder.flip(BLOBS),
    "manifests emptied": intruder.overwrite(MANIFESTS, b""),
    "vault.json overwritten": intruder.overwrite(VAULT, b'{"format": 99, "vault_id": "x", "grace_seconds": 0}'),
    "slots overwritten": intruder.overwrite(SLOTS),
    "records hidden": intruder.hide(RECORDS),
    "receipts hidden": intruder.hide(RECEIPTS),
    "blobs hidden": intruder.hide(BLOBS),
    "slots hidden": intruder.hide(SLOTS),
    "vault.json hidden": intruder.hide(VAULT),
    "everything hidden": intruder.hide(""),
    "slots forged": intruder.forge_slots(after_marker=False),
    "slots forged after a marker": intruder.forge_slots(after_marker=True),
    "slots beside the log's": intruder.slots_beside,
    "slots below slots": intruder.slots_below,
}
"""These leave nothing in the vault that looks like a further point."""
ADDITIONS: dict[str, Attack] = {
    "a point of nobody": intruder.add_slot,
    "a seal that says nothing": lambda lake: intruder.add_slot(lake, "forged", record=None, at=5, first_seen=7),
    "a digest of another kind": lambda lake: intruder.add_slot(lake, "forged", record="md5:00"),
    "a point outside the vault": lambda lake: intruder.add_slot(lake, "../../etc/passwd"),
    "names that begin like others": lambda lake: intruder.add_slot(lake, f"{lake.points()[0]}-x"),
    "seals for names that are taken": intruder.seal_again,
}


@dataclass
class Story:
    """Two points of two tables on locked storage, and a change that is not backed up yet."""

    lake: Lake
    orders: SyntheticTable
    items: SyntheticTable
    wanted: dict[str, dict[str, bytes]] = field(default_factory=dict)

    def backup(self) -> str:
        run = self.lake.backup().run
        self.wanted[run] = bytes_of(self.orders) | bytes_of(self.items)
        return run

    def change(self) -> None:
        self.orders.delete(self.orders.live_paths()[:1])
        self.orders.append(2)
        self.lake.publish(self.orders)

    def attacked(self, attack: Attack) -> list[tuple[str, bool]]:
        """What somebody else left there: key, and whether it is a marker."""
        before = self.versions()
        attack(self.lake)
        left = self.versions() - before
        return sorted((key, is_marker) for key, _, is_marker in left if not key.startswith(PROBE))

    def versions(self) -> set[tuple[str, str, bool]]:
        """Without their times: some servers change that of a version when another comes over it."""
        return {(each.key, each.version, each.is_marker) for each in self.lake.store.list_versions("")}

    def check(self, *points: str) -> None:
        """Those points, or all, verify and come back byte for byte; the source is as before then."""
        kept_source, kept_entries = contents(self.lake.source), self.lake.database.read_bytes()
        assert set(self.wanted) <= set(self.lake.points())
        for point in points or self.wanted:
            seen = self.lake.verify(point)
            assert (seen.damages, seen.damaged_count, seen.points) == ((), 0, 1)
            self.lake.drop("orders", "items")
            self.lake.empty_source()
            restored = self.lake.restore(point).restored
            assert restored is not None and len(restored.done) == 2
            assert contents(self.lake.source) == self.wanted[point]
        self.lake.source = self.lake.parts.set_back("source", kept_source)
        self.lake.database.write_bytes(kept_entries)

    def goes_on(self) -> None:
        """A backup after it is as good as any, and the points before it stay."""
        self.check(self.backup())
        for point in self.wanted:
            assert self.lake.verify(point).damages == ()


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return two_points(Lake(tmp_path, versioned=True, lock_for=timedelta(days=30)))


def two_points(lake: Lake) -> Story:
    story = Story(lake, lake.table("orders"), lake.table("items", Shape(format_version=1)))
    story.orders.append(3, manifests=2)
    story.items.append(2)
    lake.publish(story.items)
    story.items.add_statistics()
    lake.publish(story.items)
    story.change()
    story.backup()
    story.change()
    story.backup()
    story.change()
    return story


@pytest.mark.parametrize("name", ATTACKS)
def test_sealed_points_stay(story: Story, name: str) -> None:
    tried = story.attacked(ATTACKS[name])
    assert story.lake.points() == list(story.wanted)
    # By their lengths only, and by their bytes.
    seen = run_verify(story.lake.effects(), story.lake.vault(), VerifyRequest(share=0.0))
    assert (seen.damages, seen.points) == ((), 2)
    assert sorted((each.file, each.what == HIDDEN) for each in seen.tampered) == tried != []
    story.check()
    story.goes_on()
    assert story.lake.points() == list(story.wanted)
    assert story.lake.verify().tampered == seen.tampered


@pytest.mark.parametrize("name", ADDITIONS)
def test_what_is_added_harms_nothing_else(story: Story, name: str) -> None:
    ADDITIONS[name](story.lake)
    story.check()
    story.goes_on()
    harmed = {damage.points for damage in story.lake.verify().damages}
    assert all(not set(points) & set(story.wanted) for points in harmed)


def test_without_an_intruder_nothing_is_named(story: Story) -> None:
    story.goes_on()
    assert story.lake.verify().tampered == ()


def test_only_what_a_point_needs_is_named_with_it(story: Story) -> None:
    first, second = story.wanted
    story.lake.store.overwrite(point_key(first), b"{}")
    story.lake.store.put_marker(slot_key(LOG, 0))
    assert [each.file for each in story.lake.verify(second).tampered] == [slot_key(LOG, 0)]
    assert [each.file for each in story.lake.verify(first).tampered] == [slot_key(LOG, 0), point_key(first)]


def test_our_own_bytes_over_a_marker_are_not_named(story: Story) -> None:
    """Where the bytes that a marker hides are stored once more; other bytes of the same length are somebody else's."""
    key = next(stat.key for stat in story.lake.store.list("tables/") if "/data/" in stat.key)
    content = story.lake.store.read(key)
    story.lake.store.put_marker(key)
    story.lake.store.put_if_absent(key, [content])
    assert [each.what for each in story.lake.verify().tampered] == [HIDDEN]
    story.lake.store.put_marker(key)
    story.lake.store.put_if_absent(key, [content[::-1]])
    assert [each.what for each in story.lake.verify().tampered] == [HIDDEN, HIDDEN, OVERWRITTEN]


def test_everything_at_once(story: Story) -> None:
    for attack in (*ATTACKS.values(), *ADDITIONS.values(), intruder.junk_slot, intruder.hide("")):
        attack(story.lake)
    story.check()
    story.goes_on()


def test_nothing_of_it_can_be_deleted(story: Story) -> None:
    """What the other tests rest on."""
    for version in [each for each in story.lake.store.list_versions("") if not each.is_marker]:
        with pytest.raises(NotAllowed):
            story.lake.store.delete(version.key, version=version.version)


def test_junk_in_the_next_slots_is_passed_over_and_named(story: Story) -> None:
    intruder.junk_slot(story.lake)
    intruder.junk_slot(story.lake)
    slot = read_state(story.lake.vault()).chain.next_slot
    story.goes_on()
    seen = story.lake.verify()
    assert (seen.void_slots, seen.damages) == ((slot - 2, slot - 1), ())


@pytest.mark.parametrize("first", ["junk", "marker", "junk, marker"])
def test_a_slot_that_was_passed_over_is_never_filled(story: Story, first: str) -> None:
    """Else it would take the place in the chain of every seal after it."""
    chain = read_state(story.lake.vault()).chain
    key = slot_key(LOG, chain.next_slot)
    if "junk" in first:
        story.lake.store.overwrite(key, intruder.JUNK)
    if "marker" in first:
        story.lake.store.put_marker(key)
    story.backup()
    story.lake.store.overwrite(key, intruder.seal_text(chain.next_slot, chain.head, "forged"))
    assert story.lake.points() == list(story.wanted)
    story.check()


def test_a_checkpoint_of_another_log_is_not_believed(story: Story) -> None:
    """Also where the slot that should bear it out is the intruder's own."""
    intruder.fill_log(story.lake, 256)
    intruder.forge_checkpoint(story.lake)
    assert set(story.wanted) <= set(story.lake.points())
    story.check()
    story.goes_on()


GUESSED = "20300101T000000Z-0000000000"


class GuessedIds:
    """An intruder's dream: names that are known before."""

    def new(self, moment: datetime) -> str:
        return GUESSED


def _backup_named(story: Story) -> None:
    effects = replace(story.lake.effects(), ids=GuessedIds())
    selected = select_tables([CATALOG], [], lambda name: story.lake.catalog())
    run_backup(effects, story.lake.vault(), BackupRequest((CATALOG,)), selected)


def _planted(story: Story, keys: Iterable[str]) -> None:
    intruder.plant(story.lake, keys)
    story.backup()
    story.check()


def test_junk_under_the_keys_of_the_next_blobs(story: Story) -> None:
    keys = [key for key in intruder.next_keys(story.lake) if "/files/" in key]
    assert len(keys) > 4
    _planted(story, keys)
    assert sum("/beside/" in stat.key for stat in story.lake.store.list("tables/")) >= len(keys)


def test_junk_also_where_blobs_go_whose_key_is_taken(story: Story) -> None:
    keys = [key for key in intruder.next_keys(story.lake) if "/files/" in key]
    beside = intruder.beside_keys(story.lake, keys)
    assert len(beside) == len(keys)
    _planted(story, [*keys, *beside])
    assert sum(stat.key.removesuffix("-1") in beside for stat in story.lake.store.list("tables/")) == 2 * len(keys)


def test_junk_under_the_keys_of_the_next_receipts(story: Story) -> None:
    keys = [key for key in intruder.next_keys(story.lake) if "/receipts/" in key]
    assert len(keys) > 2
    _planted(story, keys)


def test_junk_under_everything_that_comes_next(story: Story) -> None:
    _planted(story, [*intruder.next_keys(story.lake), slot_key(CHECKPOINTS, 255)])


@pytest.mark.parametrize("key", [point_key(GUESSED), run_key(GUESSED, "start.json"), run_key(GUESSED, "located.json")])
def test_junk_under_the_keys_of_a_run_stops_that_run_only(story: Story, key: str) -> None:
    intruder.plant(story.lake, [key])
    with pytest.raises(BergungError):
        _backup_named(story)
    assert story.lake.points() == list(story.wanted)
    story.goes_on()
    assert story.lake.verify().damages == ()


def test_junk_under_the_lists_that_a_run_makes_of_manifests_stops_that_run_only(story: Story) -> None:
    names = [key.rpartition("/")[2] for key in intruder.next_keys(story.lake, "runs/") if "/manifests/" in key]
    assert names
    intruder.plant(story.lake, [run_key(GUESSED, f"manifests/{name}") for name in names])
    with pytest.raises(BergungError):
        _backup_named(story)
    assert story.lake.points() == list(story.wanted)
    story.goes_on()
    assert story.lake.verify().damages == ()
