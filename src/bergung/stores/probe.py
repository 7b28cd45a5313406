"""Whether a store keeps the promises that everything in a vault stands on."""

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

from bergung.errors import MissingObject, NotAllowed, ObjectExists, Refused
from bergung.stores.base import Store

PROBE = "bergung-probe-"
"""How the names begin that a probe takes."""

_WRITERS = 8
_ROUNDS = 3
_HINT = "choose a store that honours create-only writes (on S3: `If-None-Match: *`), or a local folder"


def probe(store: Store) -> None:
    """Raises Refused unless a name can be taken only once, and is read back and listed as written.

    What it writes it takes away again, as far as the store allows.
    """
    name = f"{PROBE}{secrets.token_hex(8)}"
    with _taken_away(store, name):
        _second_write_is_refused(store, f"{name}-once")
        _range_is_right(store, f"{name}-once")
        for number in range(_ROUNDS):
            _one_of_many_wins(store, f"{name}-race-{number}")
        _list_is_right(store, name)


def _second_write_is_refused(store: Store, key: str) -> None:
    store.put_if_absent(key, [b"first"])
    if _takes(store, key, b"second"):
        raise Refused(f"{store.url} took a second write of one name", _HINT)
    _expect(store, store.read(key) == b"first", "does not give back what was written")


def _range_is_right(store: Store, key: str) -> None:
    _expect(store, store.read(key, start=1, length=3) == b"irs", "does not read a range as asked")


def _one_of_many_wins(store: Store, key: str) -> None:
    contents = [b"%d" % number for number in range(_WRITERS)]
    with ThreadPoolExecutor(_WRITERS) as pool:
        taken = list(pool.map(lambda content: _takes(store, key, content), contents))
    winners = [content for content, won in zip(contents, taken, strict=True) if won]
    if len(winners) != 1:
        raise Refused(f"{store.url} let {len(winners)} of {_WRITERS} writers at once take one name", _HINT)
    _expect(store, store.read(key) == winners[0], "does not hold the bytes of the writer that won")


def _list_is_right(store: Store, name: str) -> None:
    expected = [f"{name}-once"] + [f"{name}-race-{number}" for number in range(_ROUNDS)]
    _expect(store, [found.key for found in store.list(name)] == expected, "does not list what was written")


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
            for found in list(store.list(name)):
                with suppress(MissingObject):
                    store.delete(found.key)
