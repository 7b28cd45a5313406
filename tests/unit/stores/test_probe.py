"""The probe of a new vault, on stores that do not keep their word."""

import time
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from bergung.errors import MissingObject, NotAllowed, ObjectExists, Refused
from bergung.stores.base import Stat
from bergung.stores.local import LocalStore
from bergung.stores.memory import MemoryStore
from bergung.stores.probe import probe


class Overwriting(MemoryStore):
    """A server that knows no If-None-Match: it says yes and overwrites."""

    def put_if_absent(self, key: str, blocks: Iterable[bytes]) -> Stat:
        return self.overwrite(key, b"".join(blocks))


class LookingFirst(MemoryStore):
    """A gateway that looks whether the name is free, and then writes."""

    def put_if_absent(self, key: str, blocks: Iterable[bytes]) -> Stat:
        try:
            self.head(key)
        except MissingObject:
            time.sleep(0.01)
            return self.overwrite(key, b"".join(blocks))
        raise ObjectExists(f"exists already: {key}")


class Refusing(MemoryStore):
    """Says no to the second writer, and takes its bytes all the same."""

    def put_if_absent(self, key: str, blocks: Iterable[bytes]) -> Stat:
        try:
            return super().put_if_absent(key, blocks)
        except ObjectExists:
            self.overwrite(key, b"".join(blocks))
            raise


class IgnoringRanges(MemoryStore):
    """Gives the whole object whatever range was asked for."""

    def read(self, key: str, *, start: int = 0, length: int | None = None, version: str | None = None) -> bytes:
        return super().read(key, version=version)


class Forgetful(MemoryStore):
    """Lists what was written a moment ago not yet."""

    def list(self, prefix: str) -> Iterator[Stat]:
        return iter([*super().list(prefix)][1:])


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Overwriting, "took a second write"),
        (LookingFirst, "writers at once"),
        (Refusing, "does not give back"),
        (IgnoringRanges, "range"),
        (Forgetful, "does not list"),
    ],
)
def test_a_store_that_breaks_a_promise_is_refused(kind: type[MemoryStore], words: str) -> None:
    store = kind(uuid.uuid4().hex)
    with pytest.raises(Refused, match=words) as caught:
        probe(store)
    assert store.url in caught.value.message and caught.value.hint


def test_nothing_is_left_behind_after_a_refusal() -> None:
    store = Overwriting(uuid.uuid4().hex)
    with pytest.raises(Refused):
        probe(store)
    assert list(store.list("")) == []


def test_a_folder_is_left_as_it_was(tmp_path: Path) -> None:
    LocalStore(tmp_path).put_if_absent("key", [b"x"])
    probe(LocalStore(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


class NothingIsDeleted(MemoryStore):
    """A write-once bucket whose writer has no right to delete."""

    def delete(self, key: str, *, version: str | None = None) -> None:
        raise NotAllowed("no deletions here")


def test_a_store_that_lets_nothing_be_deleted_passes() -> None:
    probe(NothingIsDeleted(uuid.uuid4().hex))
