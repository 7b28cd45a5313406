"""Locks on a vault's objects: until when nobody deletes what a point needs, whoever holds which keys."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta

from bergung.errors import DamageFound, Refused
from bergung.stores.base import Store, Version
from bergung.vault.documents import versions_of
from bergung.vault.layout import ADMIN_LOG, LOG, VAULT_DOCUMENT, point_key, slot_of

SLACK = 0.25
"""Locks are set for so much longer than asked: what later points share need not be locked again every day."""
THREADS = 16


@dataclass(frozen=True)
class Span:
    """Until when a point must be locked, and until when what is locked for it is."""

    asked: datetime
    until: datetime


def span(now: datetime, days: int) -> Span:
    """From this moment on."""
    asked = now + timedelta(days=days)
    return Span(asked, asked + timedelta(days=days * SLACK))


def refuse_without_locks(store: Store) -> None:
    """Before anything is carried for a point that could not be locked."""
    if not store.can_lock:
        fact = f"{store.url} cannot lock what it holds"
        raise Refused(fact, "use a bucket that was made with Object Lock; or leave out --lock")


def lock_object(store: Store, key: str, until: datetime, size_bytes: int | None = None) -> None:
    """Every version that may be the one that counts: junk that lies over it is locked too, which harms nobody."""
    versions = [each for each in versions_of(store, key) if size_bytes in (None, each.size_bytes)]
    if not versions:
        raise DamageFound(f"{key} is gone and cannot be locked", "see what it harms: bergung verify")
    for version in versions:
        _lock(store, version, until)


def lock_documents(store: Store, point: str, first_slot: int, until: datetime) -> None:
    """The record, vault.json, and every slot from that one on, void ones too: a gap would end the log for its readers."""
    prefixes = VAULT_DOCUMENT, point_key(point), LOG, ADMIN_LOG
    found = (each for prefix in prefixes for each in store.list_versions(prefix) if not each.is_marker)
    versions = [each for each in found if (slot_of(LOG, each.key) or first_slot) >= first_slot]
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in pool.map(lambda version: _lock(store, version, until), versions):
            pass


def _lock(store: Store, version: Version, until: datetime) -> None:
    held = store.locked_until(version.key, version.version)
    if held is None or held < until:
        store.lock(version.key, version.version, until)
