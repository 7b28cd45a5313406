"""Whether a store keeps the promises that everything in a vault stands on."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from bergung.errors import BergungError, MissingObject, NotAllowed, ObjectExists, Refused
from bergung.stores.base import Store
from bergung.stores.open import is_far
from bergung.stores.probe_s3 import a_wrong_checksum_is_refused, a_wrong_secret_is_refused
from bergung.stores.probe_versions import a_lock_holds, hidden_bytes_stay
from bergung.stores.s3.store import S3Store

PROBE = "bergung-probe-"
"""How the names begin that a probe takes."""

_WRITERS = 8
_ROUNDS = 3
_LARGE_BYTES = 17 * 1024 * 1024
"""More than any store of ours sends in one request."""

_HINT = "choose a store that honours create-only writes (on S3: `If-None-Match: *`), or a local folder"


@dataclass(frozen=True)
class Promise:
    """One thing that a store must do, or had better do; `keeps` says what it saw, and raises Refused when it is not kept."""

    name: str
    is_needed: bool
    keeps: Callable[[Store, str], str]
    applies: Callable[[Store], bool] = lambda store: True
    takes_seconds: bool = False


@dataclass(frozen=True)
class Finding:
    """What came of one promise."""

    promise: Promise
    fact: str
    error: BergungError | None = None

    @property
    def is_kept(self) -> bool:
        """Also where it does not apply."""
        return self.error is None


def probe(store: Store) -> None:
    """Raises Refused unless the store keeps every promise that a vault needs; those that take seconds to see are left out.

    What it writes it takes away again, as far as the store allows.
    """
    for finding in examine(store, tuple(promise for promise in PROMISES if not promise.takes_seconds)):
        if finding.error is not None and finding.promise.is_needed:
            raise finding.error


def examine(store: Store, promises: Sequence[Promise] | None = None) -> Iterator[Finding]:
    """All of them, or those, one after the other; one that is broken hides no other."""
    name = f"{PROBE}{secrets.token_hex(8)}"
    with _taken_away(store, name):
        for number, promise in enumerate(PROMISES if promises is None else promises):
            if promise.applies(store):
                yield _finding(store, promise, f"{name}-{number}")


def _finding(store: Store, promise: Promise, name: str) -> Finding:
    try:
        return Finding(promise, promise.keeps(store, name))
    except Refused as error:
        return Finding(promise, error.message, error)


def _second_write_is_refused(store: Store, name: str) -> str:
    store.put_if_absent(name, [b"first"])
    if _takes(store, name, b"second"):
        raise Refused(f"{store.url} took a second write of one name", _HINT)
    _expect(store, store.read(name) == b"first", "does not give back what was written")
    return "a second write of one name is refused"


def _one_of_many_wins(store: Store, name: str) -> str:
    contents = [b"%d" % number for number in range(_WRITERS)]
    for number in range(_ROUNDS):
        key = f"{name}-{number}"
        with ThreadPoolExecutor(_WRITERS) as pool:
            taken = list(pool.map(lambda content, key=key: _takes(store, key, content), contents))
        winners = [content for content, won in zip(contents, taken, strict=True) if won]
        if len(winners) != 1:
            raise Refused(f"{store.url} let {len(winners)} of {_WRITERS} writers at once take one name", _HINT)
        _expect(store, store.read(key) == winners[0], "does not hold the bytes of the writer that won")
    return f"of {_WRITERS} writers at once one wins, {_ROUNDS} times"


def _large_write_is_refused(store: Store, name: str) -> str:
    def blocks() -> Iterator[bytes]:
        # A bucket takes what is large in parts, by other requests; a disk may have no room for it.
        yield b"x" * (_LARGE_BYTES if is_far(store.url) else 1)
        store.put_if_absent(name, [b"first"])

    with suppress(ObjectExists):
        store.put_if_absent(name, blocks())
        raise Refused(f"{store.url} took a large write of a name that was taken meanwhile", _HINT)
    _expect(store, store.read(name) == b"first", "does not give back what was written")
    return "a large write of a name that was taken meanwhile is refused"


def _ranges_are_right(store: Store, name: str) -> str:
    put = store.put_if_absent(name, [b"0123456789"])
    asked = [store.read(name, start=1, length=3), store.read(name, start=8, version=put.version), store.read(name, start=99)]
    _expect(store, asked == [b"123", b"89", b""], "does not read a range as asked")
    return "a range is read as asked"


def _list_is_right(store: Store, name: str) -> str:
    keys = sorted(f"{name}-{key}" for key in ("a b", "b+c", "ü=%2F", "z"))
    for key in keys:
        store.put_if_absent(key, [b"x"])
    _expect(store, [found.key for found in store.list(f"{name}-")] == keys, "does not list what was written")
    return "what was written is listed, in order"


def _takes(store: Store, key: str, content: bytes) -> bool:
    try:
        store.put_if_absent(key, [content])
    except ObjectExists:
        return False
    return True


def _expect(store: Store, kept: bool, broken: str) -> None:
    if not kept:
        raise Refused(f"{store.url} {broken}", "choose another store: a vault needs one that keeps its word")


@contextmanager
def _taken_away(store: Store, name: str) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(NotAllowed):
            _take_away(store, name)


def _take_away(store: Store, name: str) -> None:
    if store.keeps_versions:
        for version in list(store.list_versions(name)):
            with suppress(NotAllowed, MissingObject):
                store.delete(version.key, version=version.version)
    # A marker for what is locked.
    for found in list(store.list(name)):
        with suppress(MissingObject):
            store.delete(found.key)


def _has_a_secret(store: Store) -> bool:
    return isinstance(store, S3Store) and any(access.secret for access in store.accesses)


PROMISES = (
    Promise("create-only", True, _second_write_is_refused),
    Promise("at once", True, _one_of_many_wins),
    Promise("large files", True, _large_write_is_refused),
    Promise("ranges", True, _ranges_are_right),
    Promise("lists", True, _list_is_right),
    Promise("signatures", True, a_wrong_secret_is_refused, _has_a_secret),
    Promise("checksums", False, a_wrong_checksum_is_refused, lambda store: isinstance(store, S3Store)),
    Promise("versions", True, hidden_bytes_stay, lambda store: store.keeps_versions),
    Promise("locks", True, a_lock_holds, lambda store: store.can_lock, takes_seconds=True),
)
