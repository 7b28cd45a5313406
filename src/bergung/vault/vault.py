"""A vault: made, opened, and the state that its log gives it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from uuid import UUID

from bergung.clock import Clock, to_text
from bergung.errors import CorruptFile, DamageFound, MissingObject, NoVault, ObjectExists, UsageError, VaultTooNew
from bergung.model.record import Record
from bergung.stores.base import OpenStore, Store
from bergung.stores.digest import digest_of
from bergung.stores.probe import PROBE, probe
from bergung.stores.together import at_once, both, together
from bergung.vault.documents import put_document, read_document, read_mapping, versions_of
from bergung.vault.layout import ADMIN_LOG, LOG, VAULT_DOCUMENT, point_key
from bergung.vault.log import Chain, Entry, append, read_chain

FORMAT = 1
GRACE_SECONDS = 7 * 24 * 3600
"""How long a prune leaves alone what a running backup may be about to use."""


@dataclass(frozen=True)
class Vault:
    """An open vault: where it is, and what vault.json says."""

    url: str
    store: Store
    id: str
    grace_seconds: int


@dataclass(frozen=True)
class Point:
    """A sealed point, as the log knows it."""

    id: str
    record: str
    slot: int
    at: str
    pinned: bool = False


@dataclass(frozen=True)
class State:
    """What the log says now: the points that are kept, oldest first, and who was ever seen."""

    points: tuple[Point, ...]
    seen: frozenset[str]
    head: str
    chain: Chain = field(repr=False)
    admin: Chain = field(repr=False)

    def find(self, point: str) -> Point:
        """A kept point by its id, or by a beginning of it that fits one only; `latest` is the newest."""
        if point == "latest" and self.points:
            return self.points[-1]
        exact = [known for known in self.points if known.id == point]
        found = exact or [known for known in self.points if known.id.startswith(point)]
        if len(found) != 1:
            fact = f"{len(found)} points begin with {point!r}" if found else f"no point {point!r} in this vault"
            raise UsageError(fact, "run bergung points for those there are")
        return found[0]


def init_vault(url: str, open_store: OpenStore, clock: Clock, vault_id: UUID) -> Vault:
    """Make a vault where the store can really refuse a second writer; an existing vault is left as it is."""
    store = open_store(url)
    if _is_half_made(store):
        _begin_log(store, clock)
        return open_vault(url, open_store)
    _refuse_existing(store)
    probe(store)
    document = {
        "format": FORMAT,
        "vault_id": str(vault_id),
        "created_at": to_text(clock.now()),
        "grace_seconds": GRACE_SECONDS,
    }
    try:
        put_document(store, VAULT_DOCUMENT, document)
    except ObjectExists as error:
        raise UsageError(f"{url} is a vault already", f"use it: --vault {url}") from error
    _begin_log(store, clock)
    return open_vault(url, open_store)


def _is_half_made(store: Store) -> bool:
    """Somebody was stopped between the vault's document and the first slot of its log."""
    return any(versions_of(store, VAULT_DOCUMENT)) and not any(store.list_versions(LOG))


def _begin_log(store: Store, clock: Clock) -> None:
    oldest = next(versions_of(store, VAULT_DOCUMENT))
    store.make_durable([VAULT_DOCUMENT])
    digest = digest_of(store.read(VAULT_DOCUMENT, version=oldest.version))
    append(store, LOG, "init", {"at": to_text(clock.now()), "vault": digest})


def _refuse_existing(store: Store) -> None:
    try:
        store.head(VAULT_DOCUMENT)
    except MissingObject:
        pass
    else:
        raise UsageError(f"{store.url} is a vault already", f"use it: --vault {store.url}")
    first = next((found for found in store.list("") if not found.key.startswith(PROBE)), None)
    if first is not None:
        raise UsageError(f"{store.url} is not empty: {first.key}", "name a folder that is empty or not there yet")


def open_vault(url: str, open_store: OpenStore) -> Vault:
    """Open a vault of a format that we know."""
    store = open_store(url)
    document = _vault_document(store)
    number = document.get("format")
    if not isinstance(number, int):
        raise NoVault(f"no vault at {url}: vault.json names no format", f"make one: bergung init --vault {url}")
    if number > FORMAT:
        raise VaultTooNew(f"the vault at {url} has format {number}, this bergung knows {FORMAT}", "use a newer bergung")
    vault_id, grace_seconds = document.get("vault_id"), document.get("grace_seconds")
    if not isinstance(vault_id, str) or not isinstance(grace_seconds, int):
        raise NoVault(f"no vault at {url}: vault.json is not whole", "bring vault.json back from a copy of the vault")
    return Vault(url, store, vault_id, grace_seconds)


def _vault_document(store: Store) -> Mapping[str, object]:
    try:
        data = _oldest_document(store)
    except MissingObject as error:
        raise NoVault(f"no vault at {store.url}", f"make one: bergung init --vault {store.url}") from error
    try:
        return read_mapping(data, VAULT_DOCUMENT)
    except CorruptFile as error:
        raise CorruptFile(f"{error.message}: {store.url}", "bring vault.json back from a copy of the vault") from error


def _oldest_document(store: Store) -> bytes:
    """On a locked store the oldest version is the one that was there first (format.md R8)."""
    if not store.keeps_versions:
        return store.read(VAULT_DOCUMENT)
    oldest = next(versions_of(store, VAULT_DOCUMENT), None)
    if oldest is None:
        raise MissingObject(f"not there: {VAULT_DOCUMENT} of {store.url}")
    return store.read(VAULT_DOCUMENT, version=oldest.version)


def read_state(vault: Vault) -> State:
    """Read the log and what an operator wrote beside it."""
    chain, admin = both(at_once(vault.url), lambda: read_chain(vault.store, LOG), lambda: read_chain(vault.store, ADMIN_LOG))
    if chain.head is None:
        raise NoVault(f"no vault at {vault.url}: its log is empty", f"make one: bergung init --vault {vault.url}")
    forgotten = _last_word(admin.entries)
    pinned = {str(entry.body["point"]) for entry in chain.entries if entry.kind == "pin"}
    seals = [entry for entry in chain.entries if entry.kind == "seal"]
    # A point's first seal is its own: a later one of the same name cannot take its place.
    first = {str(entry.body["point"]): entry for entry in reversed(seals)}
    points = [
        _point(entry, pinned) for entry in seals if entry is first[entry.body["point"]] and entry.body["point"] not in forgotten
    ]
    seen = frozenset(str(identity) for entry in seals for identity in entry.body.get("first_seen", ()))
    return State(tuple(points), seen, chain.head, chain, admin)


def _last_word(entries: tuple[Entry, ...]) -> set[str]:
    forgotten: set[str] = set()
    for entry in entries:
        points = {str(point) for point in entry.body.get("points", ())}
        if entry.kind == "forget":
            forgotten |= points
        elif entry.kind == "unforget":
            forgotten -= points
    return forgotten


def _point(entry: Entry, pinned: set[str]) -> Point:
    point = str(entry.body["point"])
    return Point(point, str(entry.body["record"]), entry.slot, str(entry.body["at"]), point in pinned)


def read_record(vault: Vault, point: Point) -> Record:
    """The record of a sealed point, by the digest in its seal."""
    return read_document(vault.store, point_key(point.id), point.record, Record)


def records(vault: Vault, points: Iterable[Point]) -> Iterator[tuple[Point, Record | DamageFound]]:
    """The records of those points, or how it is said that they are lost."""
    return together(at_once(vault.url), lambda point: (point, _record_or_loss(vault, point)), points)


def _record_or_loss(vault: Vault, point: Point) -> Record | DamageFound:
    try:
        return read_record(vault, point)
    except DamageFound as error:
        return error


def seen_mark(identity: str) -> str:
    """How a seal notes an identity that no earlier seal had."""
    return sha256(identity.encode()).hexdigest()[:16]
