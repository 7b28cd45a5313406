"""Checkpoints: a faster way to read the log, and never another log (format.md L5)."""

import json

import pytest

from bergung.stores.digest import digest_of
from bergung.stores.memory import MemoryStore
from bergung.vault.checkpoints import SLOTS
from bergung.vault.layout import CHECKPOINTS, LOG, slot_key
from bergung.vault.log import append, read_chain
from tests.faults.counting_store import CountingStore, Counts
from tests.faults.faulty_store import FaultPlan, FaultyStore
from tests.unit.vault.slots import filled, put, seal, text

FIRST = slot_key(CHECKPOINTS, SLOTS - 1)


def counted(log: MemoryStore) -> tuple[list[str], int]:
    """The points, and how many slots were read one by one for them."""
    counts = Counts()
    chain = read_chain(CountingStore(log, counts), LOG)
    return [entry.body["point"] for entry in chain.entries], counts.requests("read", LOG)


def test_the_first_slot_after_them_sums_up_256() -> None:
    log, _ = filled(SLOTS)
    assert counted(log)[1] == SLOTS
    assert list(log.list(CHECKPOINTS)) == []
    slow = [*counted(log)[0], "next"]
    seal(log, "next")
    assert [stat.key for stat in log.list(CHECKPOINTS)] == [FIRST]
    assert counted(log) == (slow, 1)


def test_it_holds_the_slots_verbatim_and_void_ones_as_null() -> None:
    log, entries = filled(SLOTS - 1)
    put(log, SLOTS - 1, b"junk")
    seal(log, "next")
    seal(log, "and-one")
    document = json.loads(log.read(FIRST))
    assert (document["first"], document["last"]) == (0, SLOTS - 1)
    assert document["slots"] == [*(entry.text.decode() for entry in entries), None]
    assert read_chain(log, LOG).void == (SLOTS - 1,)


def test_two_of_them() -> None:
    log, _ = filled(SLOTS)
    seal(log, "next")
    for slot in range(SLOTS + 1, 2 * SLOTS):
        put(log, slot, text(slot, digest_of(log.read(slot_key(LOG, slot - 1)))))
    seal(log, "last")
    points, reads = counted(log)
    assert (len(points), points[-1], reads) == (2 * SLOTS + 1, "last", 2)


def test_one_without_a_slot_after_it_is_not_used() -> None:
    log, _ = filled(SLOTS)
    seal(log, "next")
    sliced = MemoryStore("sliced")
    for stat in log.list(""):
        if stat.key != slot_key(LOG, SLOTS):
            sliced.put_if_absent(stat.key, [log.read(stat.key)])
    assert counted(sliced)[1] == SLOTS


def _forged(log: MemoryStore, slots: list[str | None], first: int = 0) -> None:
    log.overwrite(FIRST, json.dumps({"first": first, "last": first + len(slots) - 1, "slots": slots}).encode())


def _chain(count: int, point: str, kind: str = "seal") -> list[str | None]:
    texts: list[str | None] = []
    previous = None
    for slot in range(count):
        content = text(slot, previous, kind, point=point)
        texts.append(content.decode())
        previous = digest_of(content)
    return texts


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"junk",
        b"{}",
        b"[]",
        b'{"first": 0, "last": 255, "slots": 5}',
        b'{"first": 0, "last": 255, "slots": [5]}',
        b'{"first": 0, "last": 255, "slots": []}',
    ],
)
def test_junk_in_its_place_is_ignored(document: bytes) -> None:
    log, _ = filled(SLOTS)
    seal(log, "next")
    points, _ = counted(log)
    log.overwrite(FIRST, document)
    assert counted(log)[0] == points


def test_a_forged_chain_is_ignored() -> None:
    log, _ = filled(SLOTS)
    seal(log, "next")
    points, _ = counted(log)
    _forged(log, _chain(SLOTS, "forged"))
    assert counted(log) == (points, SLOTS + 1)
    _forged(log, [None] * SLOTS)
    assert counted(log)[0] == points
    true: list[str | None] = [log.read(slot_key(LOG, slot)).decode() for slot in range(SLOTS)]
    _forged(log, [*true[:-1], None])
    assert counted(log)[0] == points
    _forged(log, [None, *true[1:]])
    assert counted(log)[0] == points


def test_a_forged_one_of_unknown_kinds_stops_nobody() -> None:
    log, _ = filled(SLOTS)
    seal(log, "next")
    points, _ = counted(log)
    _forged(log, _chain(SLOTS, "forged", "thing"))
    assert counted(log)[0] == points


def test_junk_before_we_come_to_write_it_is_only_slow() -> None:
    log, _ = filled(SLOTS)
    log.overwrite(FIRST, b"junk")
    seal(log, "next")
    assert counted(log)[1] == SLOTS + 1


def test_where_versions_are_kept_claiming_ahead_does_not_make_another_log() -> None:
    """Two forged slots, claimed before the writers come there, and a checkpoint that fits them."""
    log, entries = filled(SLOTS - 1, versioned=True)
    chain = _chain(SLOTS, "forged")
    put(log, SLOTS - 1, str(chain[-1]).encode())
    put(log, SLOTS, text(SLOTS, digest_of(str(chain[-1]).encode()), point="forged"))
    _forged(log, chain)
    seal(log, "next")
    found = read_chain(log, LOG)
    assert [entry.slot for entry in found.entries] == [*range(SLOTS - 1), SLOTS + 1]
    assert found.void == (SLOTS - 1, SLOTS)
    assert found.entries[:-1] == tuple(entries)


def test_one_that_cannot_be_written_is_no_error_of_the_entry_before_it() -> None:
    log, _ = filled(SLOTS)
    plan = FaultPlan()
    plan.before("put_if_absent", prefix=CHECKPOINTS)
    assert append(FaultyStore(log, plan), LOG, "pin", {"point": "p"}).slot == SLOTS
    plan.assert_all_fired()
    assert counted(log)[1] == SLOTS + 1
