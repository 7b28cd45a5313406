"""The chain of slots that says which points exist (format.md, "The log")."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import groupby, takewhile
from typing import Any, TypeVar

from bergung.errors import CorruptFile, DamageFound, ObjectExists, StoreError, VaultTooNew
from bergung.stores.base import Store, Version
from bergung.stores.digest import digest_of
from bergung.stores.together import AT_ONCE, at_once, together
from bergung.vault import checkpoints
from bergung.vault.documents import encode, read_mapping, versions_of
from bergung.vault.layout import CHECKPOINTS, LOG, slot_key, slot_of

T = TypeVar("T")

KINDS = frozenset(
    {
        "init", "seal", "pin", "verified", "locks-extended",
        "forget", "unforget", "unpin", "prune-begin", "prune-end",
    }
)  # fmt: skip
_TEXT = re.compile(r".+", re.DOTALL)
_SHAPES = {
    "seal": {"at": _TEXT, "point": re.compile(r"[A-Za-z0-9-]{1,80}"), "record": re.compile(r"sha256:[0-9a-f]{64}")},
    "pin": {"point": _TEXT},
}
"""What readers rely on: an entry without it does not parse."""


@dataclass(frozen=True)
class Entry:
    """A valid slot."""

    slot: int
    previous: str | None
    kind: str
    body: dict[str, Any]
    digest: str
    text: bytes = field(repr=False)


@dataclass(frozen=True)
class Chain:
    """The log as it was when it was read."""

    entries: tuple[Entry, ...]
    void: tuple[int, ...]
    next_slot: int

    @property
    def head(self) -> str | None:
        """The digest that the next entry must name."""
        return self.entries[-1].digest if self.entries else None


NOTHING = Chain((), (), 0)


def read_chain(store: Store, log: str, known: Chain = NOTHING) -> Chain:
    """Read every valid slot that comes after what is known, through checkpoints where they can be trusted."""
    chain, cut_off = _read(store, log, known)
    if cut_off is not None:
        # A list is not of one moment: it may have a slot and not the one that was there before it. The next list has both.
        chain, cut_off = _read(store, log, chain)
    if cut_off is not None:
        fact = f"{slot_key(log, chain.next_slot)} is gone, and slots up to {cut_off} come after it"
        raise DamageFound(
            f"{fact}: nobody can say which points there are",
            "bring that file back from a copy of the vault, or begin another vault; delete nothing here",
        )
    return chain


def _read(store: Store, log: str, known: Chain) -> tuple[Chain, int | None]:
    reading = _Reading(store, log, known)
    while reading.advance():
        pass
    return Chain(tuple(reading.entries), tuple(reading.void), reading.position), reading.cut_off()


def append(store: Store, log: str, kind: str, body: dict[str, Any], chain: Chain | None = None) -> Entry:
    """Claim the next free slot (format.md L2) and return the entry as it stands there; `chain` is the log, read just now."""
    chain = read_chain(store, log) if chain is None else chain
    while True:
        entry = _entry(chain, kind, body)
        if _claim(store, log, entry):
            checkpoints.write_due(store, log, [*chain.entries, entry])
            return entry
        chain = read_chain(store, log, chain)


def _entry(chain: Chain, kind: str, body: dict[str, Any]) -> Entry:
    document = {"slot": chain.next_slot, "previous": chain.head, "entry": kind, **body}
    text = encode(document)
    return Entry(chain.next_slot, chain.head, kind, body, digest_of(text), text)


def _claim(store: Store, log: str, entry: Entry) -> bool:
    """True when the slot is ours, even if the store's answer was lost on the way."""
    key = slot_key(log, entry.slot)
    try:
        written = store.put_if_absent(key, [entry.text])
    except ObjectExists:
        return _is_ours(store, key, entry)
    except StoreError:
        if not _is_ours(store, key, entry):
            raise
        written = None
    store.make_durable([key])
    # Where no versions are kept, nothing can lie below what was written create-only.
    return written is None or not store.keeps_versions or _oldest_of(store, key) == written.version


def _is_ours(store: Store, key: str, entry: Entry) -> bool:
    return _oldest(store, list(versions_of(store, key))) == entry.text


def _oldest_of(store: Store, key: str) -> str | None:
    return next((found.version for found in versions_of(store, key)), None)


class _Reading:
    """Goes along the chain; at each step one slot, or one checkpoint's worth of them. What comes next is fetched with it."""

    def __init__(self, store: Store, log: str, known: Chain) -> None:
        self.store = store
        self.log = log
        self.entries = list(known.entries)
        self.void = list(known.void)
        self.position = known.next_slot
        self._slots = _by_slot(log, store.list_versions(log))
        self._texts: dict[int, bytes] = {}
        self._summed: dict[int, list[bytes | None]] = {}

    def advance(self) -> bool:
        if self.position not in self._slots:
            return False
        if not self._take_checkpoint():
            self._take_slot()
        return True

    def cut_off(self) -> int | None:
        """The last entry beyond a slot that is gone (format.md L7).

        Where versions are kept nothing written is ever gone, and who writes ahead of us must not stop the readers.
        """
        ahead = sorted((slot for slot in self._slots if slot > self.position), reverse=True)
        if not ahead or self.store.keeps_versions:
            return None
        return next((slot for slot in ahead if parse(_oldest(self.store, self._slots[slot]), slot)), None)

    @cached_property
    def _checkpoints(self) -> dict[int, str]:
        # Where versions are kept a slot is its oldest version, and a checkpoint cannot show what that is: who claims slots
        # ahead of us could make one that fits them.
        return {} if self.store.keeps_versions else checkpoints.find(self.store, CHECKPOINTS)

    def _has_checkpoint(self, first: int) -> bool:
        """One that the slot after it can be asked about."""
        fits = self.log == LOG and first % checkpoints.SLOTS == 0 and first + checkpoints.SLOTS in self._slots
        return fits and first in self._checkpoints

    def _head(self) -> str | None:
        return self.entries[-1].digest if self.entries else None

    def _take_slot(self) -> None:
        entry = _valid(self._text(self.position), self.position, self._head())
        if entry is None:
            self.void.append(self.position)
        else:
            self.entries.append(known(entry))
        self.position += 1

    def _take_checkpoint(self) -> bool:
        if not self._has_checkpoint(self.position):
            return False
        texts = self._summed_up(self.position)
        entries, void = _replay(texts, self.position, self._head())
        after = self.position + len(texts)
        if not entries or self._named_by(after) != entries[-1].digest:
            return False
        self.entries += map(known, entries)
        self.void += void
        self.position = after
        return True

    def _named_by(self, slot: int) -> str | None:
        """What the first readable slot from there on says came before it (format.md L5)."""
        while slot in self._slots:
            entry = parse(self._text(slot), slot)
            if entry is not None:
                return entry.previous
            slot += 1
        return None

    def _text(self, slot: int) -> bytes:
        if slot not in self._texts:
            wanted = [each for each in self._firsts(slot) or self._stretch(slot) if each in self._slots]
            self._texts |= zip(wanted, self._fetched(lambda each: _oldest(self.store, self._slots[each]), wanted), strict=True)
        return self._texts[slot]

    def _summed_up(self, first: int) -> list[bytes | None]:
        if first not in self._summed:
            wanted = self._firsts(first)
            read = partial(checkpoints.read, self.store)
            texts = self._fetched(lambda each: read(self._checkpoints[each], each), wanted)
            self._summed |= zip(wanted, texts, strict=True)
        return self._summed[first]

    def _fetched(self, read: Callable[[int], T], wanted: list[int]) -> Iterator[T]:
        return together(at_once(self.store.url), read, wanted)

    def _firsts(self, slot: int) -> list[int]:
        """Where a checkpoint begins, that slot and the same of the next checkpoints."""
        ahead = range(slot, slot + AT_ONCE * checkpoints.SLOTS, checkpoints.SLOTS)
        return list(takewhile(self._has_checkpoint, ahead))

    def _stretch(self, slot: int) -> range:
        """From there on, up to where a checkpoint may begin."""
        return range(slot, (slot // checkpoints.SLOTS + 1) * checkpoints.SLOTS)


def _by_slot(log: str, versions: Iterator[Version]) -> dict[int, list[Version]]:
    found: dict[int, list[Version]] = {}
    for key, group in groupby(versions, key=lambda version: version.key):
        slot = slot_of(log, key)
        # A key with nothing but markers is free: to pass it over would let it be filled when slots after it are taken.
        written = [version for version in group if not version.is_marker]
        if slot is not None and written:
            found[slot] = written
    return found


def _valid(text: bytes, slot: int, previous: str | None) -> Entry | None:
    """The slot when it continues the chain (format.md L3)."""
    entry = parse(text, slot)
    return entry if entry is not None and entry.previous == previous else None


def _oldest(store: Store, versions: list[Version]) -> bytes:
    """The oldest version decides for ever: were a later one to count, it could make a void slot valid and those after it void."""
    return store.read(versions[0].key, version=versions[0].version) if versions else b""


def _replay(texts: list[bytes | None], first: int, previous: str | None) -> tuple[list[Entry], list[int]]:
    entries: list[Entry] = []
    void: list[int] = []
    for slot, text in enumerate(texts, first):
        entry = None if text is None else parse(text, slot)
        if entry is None:
            void.append(slot)
        elif entry.previous == previous:
            entries.append(entry)
            previous = entry.digest
        else:
            return [], []
    return entries, void


def parse(text: bytes, slot: int) -> Entry | None:
    """A slot's bytes as an entry, or None when they are not one with that number."""
    try:
        document = dict(read_mapping(text, "slot"))
    except CorruptFile:
        return None
    number, previous, kind = (document.pop(name, None) for name in ("slot", "previous", "entry"))
    if number != slot or not isinstance(kind, str) or not (previous is None or isinstance(previous, str)):
        return None
    if not _fits(kind, document):
        return None
    return Entry(slot, previous, kind, document, digest_of(text), text)


def _fits(kind: str, body: Mapping[str, Any]) -> bool:
    shapes = _SHAPES.get(kind, {}).items()
    texts = all(isinstance(body.get(name), str) and shape.fullmatch(body[name]) for name, shape in shapes)
    lists = all(isinstance(body.get(name, []), list) for name in ("first_seen", "points"))
    return texts and lists


def known(entry: Entry) -> Entry:
    """Refuse a kind that this version does not know, unless it says that it is optional (format.md R10)."""
    if entry.kind not in KINDS and not entry.body.get("optional"):
        raise VaultTooNew(f"log slot {entry.slot} holds an unknown entry {entry.kind!r}", "use a newer bergung")
    return entry
