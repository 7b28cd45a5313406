"""What others tried in a vault whose store keeps versions: nothing of ours is ever written twice or taken away there."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from bergung.stores.base import Store, Version
from bergung.stores.digest import digest_of_blocks
from bergung.vault.layout import ADMIN_LOG, CHECKPOINTS, LOG, POINTS, RUNS, TABLES, VAULT_DOCUMENT, point_key, slot_of
from bergung.vault.vault import Point, Vault

OVERWRITTEN, HIDDEN, FORGED, STRAY = "overwritten", "hidden by a marker", "forged slot", "no slot of this log"


@dataclass(frozen=True)
class Tampered:
    """One try: the points are read past it (format.md R8, L3)."""

    file: str
    what: str
    at: datetime


def tampered(vault: Vault) -> Iterator[Tampered]:
    """Every version and marker that is not ours, what points need first; nothing where versions are not kept."""
    return _below(vault.store, [VAULT_DOCUMENT, LOG, ADMIN_LOG, CHECKPOINTS, POINTS, TABLES, RUNS])


def tampered_of(vault: Vault, point: Point, folders: Iterable[str]) -> Iterator[Tampered]:
    """The same of what one point needs: the log, its record, its tables' folders."""
    return _below(vault.store, [VAULT_DOCUMENT, LOG, ADMIN_LOG, CHECKPOINTS, point_key(point.id), *sorted(folders)])


def _below(store: Store, prefixes: Iterable[str]) -> Iterator[Tampered]:
    if not store.keeps_versions:
        return
    for prefix in prefixes:
        last = ""
        for key, versions in groupby(store.list_versions(prefix), key=lambda version: version.key):
            if _is_stray(last, key):
                yield from (Tampered(key, STRAY, version.modified_at) for version in versions)
            else:
                yield from _of_key(store, list(versions))
                last = key


def _of_key(store: Store, versions: list[Version]) -> Iterator[Tampered]:
    key = versions[0].key
    written = [version for version in versions if not version.is_marker]
    for number, version in enumerate(versions):
        if version.is_marker:
            yield Tampered(key, HIDDEN, version.modified_at)
        elif version is not written[0] and not _is_again(store, written[0], versions[number - 1], version):
            yield Tampered(key, OVERWRITTEN if _log_of(key) is None else FORGED, version.modified_at)


def _log_of(key: str) -> str | None:
    return next((log for log in (LOG, ADMIN_LOG, CHECKPOINTS) if key.startswith(log)), None)


def _is_stray(last: str, key: str) -> bool:
    """In no slot's place, or ahead of the log, where its readers do not come."""
    log = _log_of(key)
    if log is None:
        return False
    slot, before = slot_of(log, key), slot_of(log, last)
    return slot is None or (log != CHECKPOINTS and slot > (-1 if before is None else before) + 1)


def _is_again(store: Store, first: Version, before: Version, version: Version) -> bool:
    """Ours once more: over a marker a create-only write succeeds, and then it brings the same bytes."""
    if not before.is_marker or version.size_bytes != first.size_bytes:
        return False
    one, other = (digest_of_blocks(store.blocks(each.key, version=each.version)) for each in (first, version))
    return one == other
