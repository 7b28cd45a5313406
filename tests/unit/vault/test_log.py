"""The log: one chain whoever writes, and nothing that others write can change or hide what stands in it."""

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bergung.errors import DamageFound, ObjectExists, StoreError, VaultTooNew
from bergung.stores.base import Version
from bergung.stores.local import LocalStore
from bergung.stores.memory import MemoryStore
from bergung.vault.layout import LOG, slot_key
from bergung.vault.log import append, read_chain
from tests.faults.faulty_store import FaultPlan, FaultyStore
from tests.unit.vault.slots import filled, put, seal, store, text


def test_l1_each_slot_names_the_digest_of_the_one_before() -> None:
    log = store()
    entries = [seal(log, str(number)) for number in range(3)]
    assert [entry.previous for entry in entries] == [None, entries[0].digest, entries[1].digest]
    chain = read_chain(log, LOG)
    assert chain.entries == tuple(entries)
    assert (chain.head, chain.next_slot, chain.void) == (entries[2].digest, 3, ())


def test_l2_writers_at_once_get_slots_of_their_own(tmp_path: Path) -> None:
    log = LocalStore(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        entries = list(pool.map(lambda number: append(log, LOG, "pin", {"point": str(number), "why": ""}), range(40)))
    assert sorted(entry.slot for entry in entries) == list(range(40))
    chain = read_chain(log, LOG)
    assert sorted(entry.body["point"] for entry in chain.entries) == sorted(str(number) for number in range(40))
    assert chain.void == ()


def test_l2_who_loses_the_race_goes_on_after_the_winner() -> None:
    log = store()
    seal(log, "first")
    plan = FaultPlan()
    plan.before("put_if_absent", error=_winner(log))
    ours = seal(FaultyStore(log, plan), "ours")
    plan.assert_all_fired()
    assert ours.slot == 2
    assert [entry.body["point"] for entry in read_chain(log, LOG).entries] == ["first", "winner", "ours"]


def _winner(log: MemoryStore) -> Callable[[], ObjectExists]:
    """Somebody else takes the slot just before us."""

    def won() -> ObjectExists:
        seal(log, "winner")
        return ObjectExists("exists already")

    return won


@pytest.mark.parametrize("gone", [0, 1, 3])
def test_l7_a_slot_that_is_gone_before_others_stops_readers_and_writers(gone: int) -> None:
    log, _ = filled(5)
    log.delete(slot_key(LOG, gone))
    with pytest.raises(DamageFound, match=f"log/0*{gone}.json is gone, and slots up to 4 come after it") as caught:
        read_chain(log, LOG)
    assert "copy of the vault" in caught.value.hint
    with pytest.raises(DamageFound):
        seal(log, "in the gap")
    assert [stat.key for stat in log.list(LOG)] == [slot_key(LOG, slot) for slot in range(5) if slot != gone]


def test_l7_junk_ahead_is_no_entry_and_where_versions_are_kept_nobody_is_stopped() -> None:
    log, _ = filled(3)
    put(log, 7, b"junk")
    assert read_chain(log, LOG).next_slot == 3
    locked, entries = filled(3, versioned=True)
    put(locked, 7, text(7, entries[-1].digest))
    assert read_chain(locked, LOG).next_slot == 3


class Between(MemoryStore):
    """Its first list was begun before slot 3 was written, and ended after slot 4 was."""

    lists = 0

    def list_versions(self, prefix: str) -> Iterator[Version]:
        self.lists += 1
        late = slot_key(LOG, 3) if self.lists == 1 else ""
        return (version for version in super().list_versions(prefix) if version.key != late)


def test_l7_a_list_that_is_not_of_one_moment_is_no_damage() -> None:
    log, between = filled(5)[0], Between(uuid.uuid4().hex)
    for stat in log.list(LOG):
        between.put_if_absent(stat.key, [log.read(stat.key)])
    assert read_chain(between, LOG).next_slot == 5 and between.lists == 2


def test_a_slot_is_ours_when_only_the_answer_was_lost() -> None:
    log = store()
    seal(log, "first")
    plan = FaultPlan()
    plan.after("put_if_absent")
    assert seal(FaultyStore(log, plan), "ours").slot == 1
    plan.assert_all_fired()
    assert [entry.body["point"] for entry in read_chain(log, LOG).entries] == ["first", "ours"]


def test_a_slot_that_could_not_be_written_is_told() -> None:
    log = store()
    plan = FaultPlan()
    plan.before("put_if_absent")
    with pytest.raises(StoreError):
        seal(FaultyStore(log, plan), "ours")
    assert read_chain(log, LOG).entries == ()


JUNK = [
    b"",
    b"no json",
    b"[1]",
    b'"text"',
    b"\xff\xfe",
    b'{"slot": 2, "deep": ' + b"[" * 100_000,
    text(7, "PREVIOUS"),
    text(2, None),
    text(2, "sha256:" + "a" * 64),
    b'{"slot": 2, "previous": "PREVIOUS"}',
    b'{"slot": 2, "previous": "PREVIOUS", "entry": 5}',
    b'{"slot": 2, "previous": 5, "entry": "seal"}',
    b'{"slot": "2", "previous": "PREVIOUS", "entry": "pin", "point": "p"}',
    b'{"slot": 2, "previous": "PREVIOUS", "entry": "seal"}',
    text(2, "PREVIOUS", point=5),
    text(2, "PREVIOUS", record=None),
    text(2, "PREVIOUS", first_seen=3),
    b'{"slot": 2, "previous": "PREVIOUS", "entry": "pin"}',
]


@pytest.mark.parametrize("junk", JUNK)
def test_l3_what_is_no_slot_is_passed_over_and_named(junk: bytes) -> None:
    log = store()
    one, two = seal(log, "one"), seal(log, "two")
    put(log, 2, junk.replace(b"PREVIOUS", two.digest.encode()))
    chain = read_chain(log, LOG)
    assert (chain.entries, chain.void, chain.next_slot) == ((one, two), (2,), 3)
    three = seal(log, "three")
    assert (three.slot, three.previous) == (3, two.digest)
    assert read_chain(log, LOG).entries == (one, two, three)


def test_l3_the_oldest_version_counts() -> None:
    log = store(versioned=True)
    one, two, three = (seal(log, name) for name in ("one", "two", "three"))
    put(log, 1, text(1, one.digest, point="forged"))
    log.put_marker(slot_key(LOG, 2))
    put(log, 2, text(2, two.digest, point="forged"))
    log.put_marker(slot_key(LOG, 0))
    chain = read_chain(log, LOG)
    assert (chain.entries, chain.void) == ((one, two, three), ())
    assert seal(log, "four").slot == 3


def test_l3_a_void_slot_stays_void() -> None:
    """Else a fitting entry, written into it later, would take the place of every slot that came after it."""
    log = store(versioned=True)
    one = seal(log, "one")
    put(log, 1, b"junk")
    two = seal(log, "two")
    put(log, 1, text(1, one.digest, point="forged"))
    chain = read_chain(log, LOG)
    assert (chain.entries, chain.void) == ((one, two), (1,))


def test_a_claim_over_a_marker_that_hides_junk_is_not_ours() -> None:
    log = store(versioned=True)
    one = seal(log, "one")
    plan = FaultPlan()
    plan.after("list_versions", error=lambda: _hide_junk(log))
    with pytest.raises(StoreError):
        seal(FaultyStore(log, plan), "lost")
    two = seal(log, "two")
    assert (two.slot, two.previous) == (2, one.digest)


def test_a_claim_over_junk_that_was_hidden_since_the_log_was_read_is_not_ours() -> None:
    log = store(versioned=True)
    one, chain = seal(log, "one"), read_chain(log, LOG)
    _hide_junk(log)
    two = seal(log, "two", chain)
    assert (two.slot, two.previous) == (2, one.digest)
    assert read_chain(log, LOG).entries == (one, two)


def _hide_junk(log: MemoryStore) -> StoreError:
    put(log, 1, b"junk")
    log.put_marker(slot_key(LOG, 1))
    return StoreError("the store failed")


def test_l3_a_key_with_markers_only_is_free() -> None:
    """Were it passed over, it could be filled later, and those after it would no longer fit."""
    log = store(versioned=True)
    one = seal(log, "one")
    log.put_marker(slot_key(LOG, 1))
    assert read_chain(log, LOG).next_slot == 1
    two = seal(log, "two")
    assert (two.slot, read_chain(log, LOG).entries, read_chain(log, LOG).void) == (1, (one, two), ())


@pytest.mark.parametrize(
    "key", [f"{LOG}a/{1:020d}.json", f"{LOG}{1:020d}.json/{1:020d}.json", f"{LOG}{1:020d}.json.json", f"{LOG}1.json", f"{LOG}x"]
)
def test_only_its_own_key_is_a_slot(key: str) -> None:
    log = store()
    one, two = seal(log, "one"), seal(log, "two")
    log.overwrite(key, text(1, one.digest, point="forged"))
    assert read_chain(log, LOG).entries == (one, two)
    assert seal(log, "three").slot == 2


def test_a_slot_far_ahead_says_nothing_until_the_log_comes_there() -> None:
    log = store(versioned=True)
    one = seal(log, "one")
    put(log, 2, text(2, one.digest))
    two = seal(log, "two")
    three = seal(log, "three")
    assert [entry.slot for entry in read_chain(log, LOG).entries] == [0, 1, 3]
    assert (two.slot, three.slot) == (1, 3)


def test_r10_an_unknown_kind_stops_a_reader_unless_it_is_optional() -> None:
    log = store()
    one = seal(log, "one")
    put(log, 1, text(1, one.digest, "thing", optional=True))
    seal(log, "two")
    assert len(read_chain(log, LOG).entries) == 3
    put(log, 3, text(3, read_chain(log, LOG).head, "thing"))
    with pytest.raises(VaultTooNew) as told:
        read_chain(log, LOG)
    assert (told.value.exit_code, "thing" in told.value.message) == (13, True)


def test_what_is_known_is_not_read_again() -> None:
    log, entries = filled(5)
    known = read_chain(log, LOG)
    seal(log, "more")
    plan = FaultPlan()
    chain = read_chain(FaultyStore(log, plan), LOG, known)
    assert len(chain.entries) == 6
    assert [call.key for call in plan.calls if call.operation == "read"] == [slot_key(LOG, 5)]
