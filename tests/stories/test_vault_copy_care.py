"""What a copy takes and leaves: forgotten points, void slots, attacks, rights that only read, and no more requests than needed."""

import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bergung.carry.effects import NobodyWatches
from bergung.errors import Interrupted, NotAllowed, Refused
from bergung.stores.access import Access
from bergung.stores.base import Stat, Store
from bergung.stores.memory import MemoryStore
from bergung.stores.open import open_store
from bergung.upkeep.copying import CopyRequest, CopyResult, plan_copy, run_copy
from bergung.upkeep.verify import VerifyRequest, VerifyResult, run_verify
from bergung.vault.journal import runs
from bergung.vault.layout import ADMIN_LOG, CHECKPOINTS, LOG, slot_key
from bergung.vault.log import append
from bergung.vault.vault import open_vault, read_state
from tests.faults.counting_store import Counts, counting_open
from tests.faults.lake import Lake, contents, filled
from tests.stories import intruder
from tests.stories.test_locked_storage import ATTACKS, Story
from tests.stories.test_locked_storage import story as story
from tests.synthetic import SyntheticTable

AT = "2026-01-01T00:00:00.000000Z"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


@pytest.fixture
def orders(lake: Lake) -> SyntheticTable:
    """Backed up once."""
    table = lake.table("orders")
    table.append(3, manifests=2)
    lake.publish(table)
    lake.backup()
    return table


def second(lake: Lake) -> MemoryStore:
    return filled(f"{lake.name}-second", {})


def copy(lake: Lake, to: MemoryStore, open_: Any = open_store, **more: Any) -> CopyResult:
    return run_copy(lake.effects(open_), lake.vault(open_), CopyRequest(to.url, **more))


def plain(store: MemoryStore) -> dict[str, bytes]:
    return {key: content for key, content in contents(store).items() if not key.startswith("runs/")}


def points(store: MemoryStore) -> list[str]:
    return [point.id for point in read_state(open_vault(store.url, open_store)).points]


def verify(lake: Lake, store: MemoryStore) -> VerifyResult:
    return run_verify(lake.effects(), open_vault(store.url, open_store), VerifyRequest())


def move_on(lake: Lake, table: SyntheticTable) -> None:
    table.append(1)
    lake.publish(table)
    lake.backup()


class ReadOnly:
    """A real store with credentials that can only read."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name in ("put_if_absent", "copy", "copy_from", "delete", "make_durable", "lock"):
            raise NotAllowed(f"{name} is not allowed")
        return getattr(self.inner, name)


def test_rights_that_only_read_are_enough(lake: Lake, orders: SyntheticTable) -> None:
    def opened(url: str, access: tuple[Access, ...] = ()) -> Store:
        store = open_store(url, access)
        return ReadOnly(store) if url == lake.store.url else store  # type: ignore[return-value]

    with pytest.raises(NotAllowed):
        lake.backup(open_=opened)
    to, before = second(lake), contents(lake.store)
    plan = plan_copy(lake.effects(opened), lake.vault(opened), CopyRequest(to.url))
    assert copy(lake, to, opened, share=1.0).plan == plan
    assert contents(lake.store) == before
    assert plain(to) == plain(lake.store)


def test_a_small_commit_costs_what_changed(lake: Lake, orders: SyntheticTable) -> None:
    to, costs = second(lake), []
    copy(lake, to)
    for commits in (1, 30):
        for _ in range(commits):
            orders.append(1)
            lake.publish(orders)
        lake.backup()
        copy(lake, to)
        move_on(lake, orders)
        counts = Counts()
        done = copy(lake, to, counting_open(counts))
        assert done.plan.bring.files == 4
        blobs = {key for operation in ("blocks", "head", "put_if_absent") for key in counts.keys(operation, "tables/")}
        assert len([key for key in blobs if "/files/" in key]) == 4
        slots = len([key for key in counts.keys("read") if key.startswith(LOG)])
        costs.append(counts.requests() - 2 * slots)
    print(f"\nrequests to both vaults for one commit, without the slots of the log: {costs}")
    assert costs[1] <= costs[0] + 3 and costs[0] < 90


def test_merged_manifests_carry_no_file_again(lake: Lake) -> None:
    table, to = lake.table("orders"), second(lake)
    for _ in range(4):
        table.append(5)
        lake.publish(table)
    lake.backup()
    copy(lake, to)
    table.append(2)
    table.merge(4)
    lake.publish(table)
    lake.backup()
    counts = Counts()
    done = copy(lake, to, counting_open(counts))
    data = {key for operation in ("blocks", "head", "put_if_absent") for key in counts.keys(operation) if "/data/" in key}
    assert len(data) == 2, "the two new files, none of the twenty that only changed their manifest"
    assert done.verified.damages == () and plain(to) == plain(lake.store)


def test_forgotten_points_are_left_out_and_come_when_they_are_kept_again(lake: Lake, orders: SyntheticTable) -> None:
    orders.delete(orders.live_paths()[:1])
    orders.append(1)
    lake.publish(orders)
    lake.backup()
    move_on(lake, orders)
    first, middle, last = lake.points()
    append(lake.store, ADMIN_LOG, "forget", {"at": AT, "points": [first, middle]})
    to = second(lake)
    copied = copy(lake, to)
    assert points(to) == list(copied.plan.points) == [last]
    assert verify(lake, to).damages == ()
    assert len(plain(to)) < len(plain(lake.store)), "what only they reach is not there"
    append(lake.store, ADMIN_LOG, "unforget", {"at": AT, "points": [first]})
    move_on(lake, orders)
    assert list(copy(lake, to).plan.points) == [first, lake.points()[-1]]
    assert points(to) == lake.points()
    assert verify(lake, to).damages == ()
    append(lake.store, ADMIN_LOG, "unforget", {"at": AT, "points": [middle]})
    copy(lake, to)
    assert plain(to) == plain(lake.store)


def test_a_word_of_an_operator_in_the_copy_is_a_fork(lake: Lake, orders: SyntheticTable) -> None:
    to = second(lake)
    copy(lake, to)
    append(to, ADMIN_LOG, "forget", {"at": AT, "points": lake.points()})
    with pytest.raises(Refused, match="has what .* has not: an entry 'forget'"):
        copy(lake, to)


@pytest.mark.parametrize("name", ATTACKS)
def test_a_vault_that_was_attacked_is_copied_clean(story: Story, name: str) -> None:
    lake = story.lake
    clean = filled(f"{lake.name}-clean", {})
    copy(lake, clean)
    intruder.junk_slot(lake)
    ATTACKS[name](lake)
    to = second(lake)
    copied = copy(lake, to, share=1.0)
    assert copied.verified.damages == () and list(copied.plan.points) == list(story.wanted)
    void = slot_key(LOG, read_state(open_vault(clean.url, open_store)).chain.next_slot)
    assert {key: content for key, content in plain(to).items() if key != void} == plain(clean)
    assert void in plain(to) and verify(lake, to).damages == ()
    story.goes_on()
    copy(lake, to)
    assert points(to) == lake.points() and verify(lake, to).void_slots == lake.verify().void_slots != ()


def test_the_frozen_vault_with_void_slots_and_words_of_an_operator(tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "fixtures" / "vault-1"
    shutil.copytree(source, tmp_path / "a")
    lake = Lake(tmp_path)
    vault = open_vault(str(tmp_path / "a"), open_store)
    copied = run_copy(lake.effects(), vault, CopyRequest(str(tmp_path / "b"), share=1.0))
    assert copied.verified.damages == () and len(copied.plan.points) == 2
    found = {folder: _files(tmp_path / folder) for folder in ("a", "b")}
    kept = {key for key in found["a"] if key not in found["b"]}
    assert {key: found["b"][key] for key in found["b"]}.items() <= found["a"].items()
    assert all(key.startswith(("tables/", "points/")) for key in kept), "what no kept point reaches"


def _files(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    named = {str(path.relative_to(folder)): path.read_bytes() for path in files}
    return {key: content for key, content in named.items() if not key.startswith("runs/")}


def test_a_long_log_has_its_checkpoints_there_too(lake: Lake, orders: SyntheticTable) -> None:
    intruder.fill_log(lake, 300)
    append(lake.store, ADMIN_LOG, "forget", {"at": AT, "points": [point for point in lake.points() if "filler" in point]})
    to = second(lake)
    copy(lake, to)
    assert [stat.key for stat in to.list(CHECKPOINTS)] == [slot_key(CHECKPOINTS, 255)]
    counts = Counts()
    state = read_state(open_vault(to.url, counting_open(counts)))
    assert state.head == read_state(lake.vault()).head and counts.requests("read", LOG) < 50


class Enough(NobodyWatches):
    """Somebody wants no further wave."""

    def stopped(self) -> bool:
        return True


def test_a_copy_that_is_stopped_tells_it_and_goes_on(lake: Lake, orders: SyntheticTable) -> None:
    to = second(lake)
    with pytest.raises(Interrupted):
        run_copy(replace(lake.effects(), watch=Enough()), lake.vault(), CopyRequest(to.url))
    assert points(to) == [] and verify(lake, to).damages == ()
    assert [run.status for run in runs(to) if run.verb == "vault copy"] == ["interrupted"]
    copy(lake, to)
    assert plain(to) == plain(lake.store)


class Elsewhere(MemoryStore):
    """Somebody backs up into the copy while it is made."""

    def __init__(self, name: str, lake: Lake) -> None:
        super().__init__(name)
        self.lake = lake
        self.is_done = False

    def put_if_absent(self, key: str, blocks: Iterable[bytes]) -> Stat:
        if key.startswith("points/") and not self.is_done:
            self.is_done = True
            append(self, LOG, "pin", {"at": AT, "point": "x"})
        return super().put_if_absent(key, blocks)


def test_who_writes_into_the_copy_meanwhile_is_noticed(lake: Lake, orders: SyntheticTable) -> None:
    to = Elsewhere(f"{lake.name}-second", lake)
    with pytest.raises(Refused, match="is not that of the vault that is copied"):
        copy(lake, to)
    assert to.is_done and points(to) == []
