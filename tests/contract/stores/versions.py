"""What a store that keeps versions must do besides, seen by us and by other clients of the same bucket."""

import pytest

from bergung.errors import MissingObject, ObjectExists
from bergung.stores.digest import digest_of, find_version, read_verified
from bergung.stores.memory import MemoryStore


class VersionsContract:
    """A subclass gives `store`, a fresh one for each test."""

    @pytest.fixture
    def store(self) -> MemoryStore:
        raise NotImplementedError

    def test_8_1_a_deletion_hides_and_keeps(self, store: MemoryStore) -> None:
        put = store.put_if_absent("key", [b"kept"])
        store.delete("key")
        with pytest.raises(MissingObject):
            store.read("key")
        assert list(store.list("")) == []
        kept, marker = store.list_versions("")
        assert (kept.version, kept.size_bytes, kept.is_latest, kept.is_marker) == (put.version, 4, False, False)
        assert (marker.key, marker.size_bytes, marker.is_latest, marker.is_marker) == ("key", 0, True, True)
        assert store.read("key", version=put.version) == b"kept"
        assert b"".join(store.blocks("key", version=put.version)) == b"kept"

    def test_8_2_a_create_only_write_over_a_marker_succeeds(self, store: MemoryStore) -> None:
        first = store.put_if_absent("key", [b"first"])
        store.put_marker("key")
        second = store.put_if_absent("key", [b"forged"])
        assert store.read("key") == b"forged"
        assert store.read("key", version=first.version) == b"first"
        found = list(store.list_versions("key"))
        assert [one.is_marker for one in found] == [False, True, False]
        assert [one.is_latest for one in found] == [False, False, True]
        assert (found[0].version, found[2].version) == (first.version, second.version)
        with pytest.raises(ObjectExists):
            store.put_if_absent("key", [b"third"])

    def test_8_3_taking_the_marker_away_brings_the_object_back(self, store: MemoryStore) -> None:
        put = store.put_if_absent("key", [b"back"])
        store.delete("key")
        marker = list(store.list_versions("key"))[-1]
        store.delete("key", version=marker.version)
        assert store.head("key") == put and store.read("key") == b"back"

    def test_8_4_a_marker_has_no_bytes(self, store: MemoryStore) -> None:
        store.put_marker("never")
        marker = next(store.list_versions("never"))
        with pytest.raises(MissingObject):
            store.read("never", version=marker.version)
        with pytest.raises(MissingObject):
            store.read("never", version="unknown")

    def test_8_5_versions_come_by_key_oldest_first(self, store: MemoryStore) -> None:
        for content in (b"1", b"2", b"3"):
            store.overwrite("b", content)
            store.overwrite("a/x", content)
        store.overwrite("a", b"1")
        found = [(one.key, store.read(one.key, version=one.version)) for one in store.list_versions("")]
        assert found == [("a", b"1")] + [(key, content) for key in ("a/x", "b") for content in (b"1", b"2", b"3")]
        assert [one.key for one in store.list_versions("a/")] == ["a/x"] * 3

    def test_8_6_bytes_are_found_again_below_overwrites_and_markers(self, store: MemoryStore) -> None:
        good = store.put_if_absent("record", [b"good"])
        store.put_if_absent("record-2", [b"good"])
        store.overwrite("record", b"evil")
        store.put_marker("record")
        store.overwrite("record", b"evil again")
        assert read_verified(store, "record", digest_of(b"good")) == b"good"
        assert find_version(store, "record", digest_of(b"good")) == good.version
        store.put_marker("record")
        assert read_verified(store, "record", digest_of(b"good")) == b"good"
        assert find_version(store, "record", digest_of(b"good"), size_bytes=4) == good.version
