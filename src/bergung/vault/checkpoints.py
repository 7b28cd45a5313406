"""Many slots in one document, so that readers need not fetch each (format.md L5)."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

import msgspec

from bergung.errors import BergungError, CorruptFile, StoreError
from bergung.stores.base import Store
from bergung.vault.documents import decode, encode
from bergung.vault.layout import CHECKPOINTS, LOG, slot_key, slot_of

SLOTS = 256
"""How many slots one checkpoint holds."""


class Slot(Protocol):
    """What a checkpoint needs to know of an entry."""

    @property
    def slot(self) -> int: ...
    @property
    def text(self) -> bytes: ...


class _Document(msgspec.Struct):
    first: int
    last: int
    slots: list[str | None]


def find(store: Store, prefix: str) -> dict[int, str]:
    """First slot of each checkpoint, and its key."""
    lasts = ((slot_of(prefix, stat.key), stat.key) for stat in store.list(prefix))
    return {last - SLOTS + 1: key for last, key in lasts if last is not None and last % SLOTS == SLOTS - 1}


def read(store: Store, key: str, first: int) -> list[bytes | None]:
    """The slots' bytes as the checkpoint has them; none when it is no checkpoint from that slot on."""
    try:
        document = decode(store.read(key), _Document, key)
    except (CorruptFile, StoreError):
        return []
    if document.first != first or len(document.slots) != SLOTS:
        return []
    return [None if text is None else text.encode() for text in document.slots]


def write_due(store: Store, log: str, entries: Sequence[Slot]) -> None:
    """After the first slot beyond a full checkpoint's worth: sum those up."""
    slot = entries[-1].slot
    if log != LOG or slot == 0 or slot % SLOTS:
        return
    first = slot - SLOTS
    texts = {entry.slot: entry.text.decode() for entry in entries if entry.slot >= first}
    document = _Document(first, slot - 1, [texts.get(number) for number in range(first, slot)])
    # The entry stands; without this the next reader is slower, no more.
    with suppress(BergungError):
        store.put_if_absent(slot_key(CHECKPOINTS, slot - 1), [encode(document)])
