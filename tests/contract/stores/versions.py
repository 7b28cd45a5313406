"""What a store that keeps versions must do besides, seen by us and by other clients of the same bucket."""

from typing import Protocol

import pytest

from bergung.errors import MissingObject, ObjectExists, SourceChanged
from bergung.stores.base import Store
from bergung.stores.digest import digest_of, find_version, read_verified


class OtherClient(Protocol):
    """What anybody else may do in the same bucket."""

    def overwrite(self, key: str, content: bytes) -> object:
        """A PUT that asks nothing."""
        ...

    def put_marker(self, key: str) -> object:
        """A DELETE that asks nothing."""
        ...


class VersionsContract:
    """A subclass gives `store`, a fresh one for each test, and `other`, another client of the same bucket."""

    @pytest.fixture
    def store(self) -> Store:
        raise NotImplementedError

    @pytest.fixture
    def other(self, store: Store) -> OtherClient:
        raise NotImplementedError

    def test_8_1_a_deletion_hides_and_keeps(self, store: Store) -> None:
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

    def test_8_2_a_create_only_write_over_a_marker_succeeds(self, store: Store, other: OtherClient) -> None:
        first = store.put_if_absent("key", [b"first"])
        other.put_marker("key")
        second = store.put_if_absent("key", [b"forged"])
        assert store.read("key") == b"forged"
        assert store.read("key", version=first.version) == b"first"
        found = list(store.list_versions("key"))
        assert [one.is_marker for one in found] == [False, True, False]
        assert [one.is_latest for one in found] == [False, False, True]
        assert (found[0].version, found[2].version) == (first.version, second.version)
        with pytest.raises(ObjectExists):
            store.put_if_absent("key", [b"third"])

    def test_8_3_taking_the_marker_away_brings_the_object_back(self, store: Store) -> None:
        put = store.put_if_absent("key", [b"back"])
        store.delete("key")
        marker = list(store.list_versions("key"))[-1]
        store.delete("key", version=marker.version)
        assert store.head("key").version == put.version and store.read("key") == b"back"

    def test_8_4_a_marker_has_no_bytes(self, store: Store, other: OtherClient) -> None:
        put = store.put_if_absent("key", [b"x"])
        other.put_marker("key")
        marker = list(store.list_versions("key"))[-1]
        with pytest.raises(MissingObject):
            store.read("key", version=marker.version)
        with pytest.raises(SourceChanged):
            store.read("key", version="unknown")
        self.only_the_marker_is_left(store, put.version, marker.version)

    def only_the_marker_is_left(self, store: Store, version: str, marker: str) -> None:
        store.delete("key", version=version)
        for gone in (version, marker, "unknown"):
            with pytest.raises(MissingObject):
                store.read("key", version=gone)

    def test_8_5_versions_come_by_key_oldest_first(self, store: Store, other: OtherClient) -> None:
        for content in (b"1", b"2", b"3"):
            other.overwrite("b", content)
            other.overwrite("a/x", content)
        other.overwrite("a.x", b"1")
        found = [(one.key, store.read(one.key, version=one.version)) for one in store.list_versions("")]
        assert found == [("a.x", b"1")] + [(key, content) for key in ("a/x", "b") for content in (b"1", b"2", b"3")]
        assert [one.key for one in store.list_versions("a/")] == ["a/x"] * 3

    def test_8_6_bytes_are_found_again_below_overwrites_and_markers(self, store: Store, other: OtherClient) -> None:
        good = store.put_if_absent("record", [b"good"])
        store.put_if_absent("record-2", [b"good"])
        other.overwrite("record", b"evil")
        other.put_marker("record")
        other.overwrite("record", b"evil again")
        assert read_verified(store, "record", digest_of(b"good")) == b"good"
        assert find_version(store, "record", digest_of(b"good")) == good.version
        other.put_marker("record")
        assert read_verified(store, "record", digest_of(b"good")) == b"good"
        assert find_version(store, "record", digest_of(b"good"), size_bytes=4) == good.version
