"""Digests, and reading by them."""

import hashlib
import uuid
from pathlib import Path

import pytest

from bergung.errors import DamageFound, Refused
from bergung.stores.base import Store
from bergung.stores.digest import Hashing, digest_of, digest_of_blocks, find_version, read_verified
from bergung.stores.local import LocalStore
from bergung.stores.memory import MemoryStore
from tests.faults.counting_store import CountingStore, Counts

EMPTY = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.fixture
def memory() -> MemoryStore:
    return MemoryStore(uuid.uuid4().hex, versioned=True)


def test_a_digest_names_its_kind() -> None:
    assert digest_of(b"") == digest_of_blocks([]) == EMPTY
    assert digest_of(b"abc") == "sha256:" + hashlib.sha256(b"abc").hexdigest()
    assert digest_of_blocks([b"a", b"", b"bc"]) == digest_of(b"abc")


def test_blocks_pass_as_they_are_and_are_counted_and_hashed(memory: MemoryStore) -> None:
    passing = Hashing(iter([b"one ", b"two"]))
    assert (passing.size_bytes, passing.digest) == (0, EMPTY)
    memory.put_if_absent("key", passing)
    assert memory.read("key") == b"one two"
    assert (passing.size_bytes, passing.digest) == (7, digest_of(b"one two"))


def test_a_right_object_costs_one_request(memory: MemoryStore) -> None:
    memory.put_if_absent("key", [b"right"])
    counts = Counts()
    assert read_verified(CountingStore(memory, counts), "key", digest_of(b"right")) == b"right"
    assert counts.requests() == counts.requests("read") == 1


def test_a_right_blob_is_found_without_asking_for_versions(memory: MemoryStore) -> None:
    put = memory.put_if_absent("key", [b"right"])
    counts = Counts()
    assert find_version(CountingStore(memory, counts), "key", digest_of(b"right")) == put.version
    assert counts.requests("list_versions") == 0 and counts.bytes("blocks") == 5


def test_other_sizes_are_not_read(memory: MemoryStore) -> None:
    good = memory.put_if_absent("key", [b"right"])
    memory.overwrite("key", b"much longer")
    counts = Counts()
    store = CountingStore(memory, counts)
    assert find_version(store, "key", digest_of(b"right"), size_bytes=5) == good.version
    assert counts.bytes("blocks") == 5
    assert find_version(store, "key", digest_of(b"right")) == good.version
    assert find_version(store, "key", digest_of(b"right"), size_bytes=6) is None


def test_the_newest_of_several_right_versions_is_found_and_nothing_is_read_twice(memory: MemoryStore) -> None:
    memory.put_if_absent("key", [b"right"])
    newer = memory.overwrite("key", b"right")
    memory.overwrite("key", b"wrong!")
    counts = Counts()
    assert find_version(CountingStore(memory, counts), "key", digest_of(b"right")) == newer.version
    assert counts.bytes("blocks") == len(b"wrong!" + b"right")


def test_damage_names_the_key_what_it_should_be_and_what_it_is(memory: MemoryStore) -> None:
    memory.put_if_absent("record", [b"evil"])
    with pytest.raises(DamageFound) as caught:
        read_verified(memory, "record", digest_of(b"good"))
    for told in ("record", digest_of(b"good"), digest_of(b"evil")):
        assert told in caught.value.message
    assert find_version(memory, "record", digest_of(b"good")) is None


def test_what_is_gone_is_damage(memory: MemoryStore, tmp_path: Path) -> None:
    memory.put_if_absent("records", [b"of another key that begins the same"])
    stores: list[Store] = [memory, LocalStore(tmp_path)]
    for store in stores:
        with pytest.raises(DamageFound, match="nothing there"):
            read_verified(store, "record", EMPTY)
        assert find_version(store, "record", EMPTY) is None


def test_a_local_file_is_found_by_its_digest(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    put = store.put_if_absent("a/blob", [b"x" * 9_000_000])
    assert find_version(store, "a/blob", digest_of(b"x" * 9_000_000)) == put.version
    assert read_verified(store, "a/blob", digest_of(b"x" * 9_000_000)) == b"x" * 9_000_000


@pytest.mark.parametrize("digest", ["", "sha256:", "sha256:abc", "crc64nvme:AAAA", EMPTY.upper(), EMPTY + "\n"])
def test_a_digest_that_cannot_be_checked_is_refused(memory: MemoryStore, digest: str) -> None:
    memory.put_if_absent("key", [b""])
    for call in (read_verified, find_version):
        with pytest.raises(Refused):
            call(memory, "key", digest)
