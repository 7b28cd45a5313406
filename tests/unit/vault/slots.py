"""Slots as anybody could write them."""

import json
import uuid
from typing import Any

from bergung.stores.memory import MemoryStore
from bergung.vault.layout import LOG, slot_key
from bergung.vault.log import Chain, Entry, append, parse


def store(*, versioned: bool = False) -> MemoryStore:
    return MemoryStore(uuid.uuid4().hex, versioned=versioned)


def text(slot: int, previous: str | None, kind: str = "seal", **more: Any) -> bytes:
    body = {"at": "2026-01-01T00:00:00.000000Z", "point": f"p{slot}", "record": "sha256:" + "0" * 64, "first_seen": []}
    return json.dumps({"slot": slot, "previous": previous, "entry": kind, **body, **more}).encode()


def put(store: MemoryStore, slot: int, content: bytes, log: str = LOG) -> None:
    """Whatever lies there: another client asks nothing."""
    store.overwrite(slot_key(log, slot), content)


def seal(store: MemoryStore, point: str, chain: Chain | None = None) -> Entry:
    body = {"at": "2026-01-01T00:00:00.000000Z", "point": point, "record": "sha256:" + "1" * 64, "first_seen": []}
    return append(store, LOG, "seal", body, chain)


def filled(count: int, *, versioned: bool = False) -> tuple[MemoryStore, list[Entry]]:
    """A log with an init and that many seals less one, without the cost of reading it at each."""
    made, entries, previous = store(versioned=versioned), [], None
    for slot in range(count):
        kind = "seal" if slot else "init"
        put(made, slot, text(slot, previous, kind, vault="sha256:" + "2" * 64))
        entries.append(_entry(made, slot))
        previous = entries[-1].digest
    return made, entries


def _entry(store: MemoryStore, slot: int) -> Entry:
    found = parse(store.read(slot_key(LOG, slot)), slot)
    assert found is not None
    return found
