"""Somebody who can write into a vault's store and hide what is there, but can delete no version of anything."""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from bergung.stores.access import Access
from bergung.stores.base import Store
from bergung.stores.digest import digest_of
from bergung.vault.layout import CHECKPOINTS, LOG, beside_key, slot_key
from bergung.vault.vault import read_state
from tests.faults.lake import Lake, contents, filled

Attack = Callable[[Lake], None]
RECORDS, BLOBS, RECEIPTS = r"^points/", r"/(files|beside|elsewhere)/", r"/receipts/"
MANIFESTS, SLOTS, VAULT = r"/files/metadata/.*avro$", r"^log/", r"^vault\.json$"
JUNK = b"not what it was"


def overwrite(part: str, content: bytes = JUNK) -> Attack:
    def attack(lake: Lake) -> None:
        for key in _keys(lake, part):
            lake.store.overwrite(key, content)

    return attack


def flip(part: str) -> Attack:
    """Other bytes of the same length."""

    def attack(lake: Lake) -> None:
        for key in _keys(lake, part):
            oldest = next(each for each in lake.store.list_versions(key) if not each.is_marker)
            content = lake.store.read(key, version=oldest.version)
            lake.store.overwrite(key, bytes([content[0] ^ 1]) + content[1:])

    return attack


def hide(part: str) -> Attack:
    def attack(lake: Lake) -> None:
        for key in _keys(lake, part):
            lake.store.put_marker(key)

    return attack


def forge_slots(*, after_marker: bool) -> Attack:
    """In the place of each seal another one with the same number, that continues the chain."""

    def attack(lake: Lake) -> None:
        for entry in read_state(lake.vault()).chain.entries:
            if after_marker:
                lake.store.put_marker(slot_key(LOG, entry.slot))
            lake.store.overwrite(slot_key(LOG, entry.slot), seal_text(entry.slot, entry.previous, f"forged-{entry.slot}"))

    return attack


def seal_again(lake: Lake) -> None:
    """Later slots that claim the names of points that are there, for another record."""
    for point in read_state(lake.vault()).points:
        add_slot(lake, point.id)


def add_slot(lake: Lake, point: str = "forged", **more: Any) -> None:
    chain = read_state(lake.vault()).chain
    lake.store.overwrite(slot_key(LOG, chain.next_slot), seal_text(chain.next_slot, chain.head, point, **more))


def junk_slot(lake: Lake) -> None:
    """In the slot that comes next."""
    lake.store.overwrite(slot_key(LOG, read_state(lake.vault()).chain.next_slot), JUNK)


def slots_beside(lake: Lake) -> None:
    """Where a careless reader would find slots."""
    entries = read_state(lake.vault()).chain.entries
    for entry in entries:
        for key in (f"{LOG}z/{entry.slot:020d}.json", f"{LOG}{entry.slot:020d}.json.json"):
            lake.store.overwrite(key, seal_text(entry.slot, entry.previous, "forged"))
    ahead = entries[-1].slot + 5
    lake.store.overwrite(slot_key(LOG, ahead), seal_text(ahead, entries[-1].digest, "forged"))


def slots_below(lake: Lake) -> None:
    """Slots as folders of slots."""
    for entry in read_state(lake.vault()).chain.entries:
        lake.store.overwrite(f"{slot_key(LOG, entry.slot)}/x", seal_text(entry.slot, entry.previous, "forged"))


def fill_log(lake: Lake, slots: int) -> None:
    """With seals that fit, up to so many slots."""
    chain = read_state(lake.vault()).chain
    previous = chain.head
    for slot in range(chain.next_slot, slots):
        text = seal_text(slot, previous, f"filler-{slot}")
        lake.store.overwrite(slot_key(LOG, slot), text)
        previous = digest_of(text)


def forge_checkpoint(lake: Lake) -> None:
    """One that holds other points, and a next slot that bears it out."""
    texts, previous = [], None
    for slot in range(256):
        text = seal_text(slot, previous, f"forged-{slot}")
        texts.append(text.decode())
        previous = digest_of(text)
    document = {"first": 0, "last": 255, "slots": texts}
    lake.store.overwrite(slot_key(CHECKPOINTS, 255), json.dumps(document).encode())
    lake.store.overwrite(slot_key(LOG, 256), seal_text(256, previous, "forged"))


def seal_text(slot: int, previous: str | None, point: str, **more: Any) -> bytes:
    body = {"at": "2026-01-01T00:00:00.000000Z", "run": point, "point": point, "record": "sha256:" + "0" * 64}
    document = {"slot": slot, "previous": previous, "entry": "seal", **body, "tables": 1, "first_seen": [], **more}
    return json.dumps(document).encode()


def next_keys(lake: Lake, part: str = "tables/") -> list[str]:
    """What the next backup will write there, by default below the tables' folders: it is tried on a copy of the vault."""
    copy = filled(f"{lake.name}-copy", contents(lake.store))
    before = set(contents(copy))

    def open_copy(url: str, access: tuple[Access, ...] = ()) -> Store:
        return lake.open_store(copy.url if url == lake.store.url else url, access)

    lake.backup(open_=open_copy)
    return [key for key in contents(copy) if key not in before and key.startswith(part)]


def plant(lake: Lake, keys: Iterable[str]) -> None:
    for key in keys:
        assert not any(lake.store.list_versions(key)), "not a key that will be new"
        lake.store.overwrite(key, JUNK)


def beside_keys(lake: Lake, keys: Iterable[str]) -> list[str]:
    """Where blobs go whose own key is taken."""
    found = []
    for key in keys:
        folder, _, rest = key.partition("/files/")
        if rest:
            name = folder.removeprefix("tables/").rsplit("-", 1)[0].rsplit(".", 1)[-1]
            path = f"{lake.source.url}/{name}/{rest}"
            found.append(f"{folder}/{beside_key(path, digest_of(lake.source.read(f'{name}/{rest}')))}")
    return found


def _keys(lake: Lake, part: str) -> list[str]:
    """Of everything that was ever written, also where it is hidden now."""
    found = sorted({version.key for version in lake.store.list_versions("") if re.search(part, version.key)})
    assert found, f"nothing to attack: {part}"
    return found
