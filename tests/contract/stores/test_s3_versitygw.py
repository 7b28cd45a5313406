"""Stores on versitygw, and what it cannot do."""

import pytest

from bergung.errors import MissingObject, ObjectExists, Refused
from bergung.stores.base import Store
from bergung.stores.digest import digest_of
from bergung.stores.s3.store import S3Store
from bergung.stores.s3.writing import WHOLE_BYTES
from tests.contract.stores.s3 import MIB, S3Contract, S3LocksContract, S3VersionsContract
from tests.contract.stores.versions import OtherClient
from tests.servers.s3 import OwnBucket, S3Server


class TestVersitygw(S3Contract):
    @pytest.fixture
    def server(self, versitygw_server: S3Server) -> S3Server:
        return versitygw_server


class OverMarkers(S3VersionsContract):
    """versitygw takes a delete marker for an object when it is asked to create only. Nothing is harmed by it."""

    @pytest.fixture
    def server(self, versitygw_server: S3Server) -> S3Server:
        return versitygw_server

    def test_7_2_a_deleted_object_is_gone_and_its_name_is_free(self, store: Store) -> None:
        """Gone, but its name is not free."""
        store.put_if_absent("here/now", [b"first"])
        store.put_if_absent("here/too", [b"stays"])
        store.delete("here/now")
        with pytest.raises(MissingObject):
            store.head("here/now")
        with pytest.raises(MissingObject):
            store.delete("here/now")
        assert [found.key for found in store.list("")] == ["here/too"]
        with pytest.raises(Refused):
            store.put_if_absent("here/now", [b"once more"])

    @pytest.mark.parametrize("size_bytes", [5, WHOLE_BYTES + 1])
    def test_8_2_a_create_only_write_over_a_marker_succeeds(self, store: Store, other: OtherClient, size_bytes: int) -> None:
        """It does not."""
        first = store.put_if_absent("key", [b"first"])
        other.put_marker("key")
        with pytest.raises(Refused, match="creates nothing over a delete marker") as caught:
            store.put_if_absent("key", [b"x" * size_bytes])
        assert "marker" in caught.value.hint
        found = list(store.list_versions("key"))
        assert [one.is_marker for one in found] == [False, True]
        assert store.read("key", version=first.version) == b"first"


class TestVersitygwVersioned(OverMarkers):
    pass


class TestVersitygwLocked(OverMarkers, S3LocksContract):
    pass


@pytest.fixture
def bucket(versitygw_server: S3Server) -> OwnBucket:
    return versitygw_server.new_bucket()


@pytest.fixture
def store(bucket: OwnBucket) -> S3Store:
    return bucket.store()


def test_31_1_a_key_and_a_folder_of_keys_cannot_share_a_name(store: S3Store) -> None:
    """It keeps keys as files and folders."""
    store.put_if_absent("x", [b"file"])
    store.put_if_absent("y/z", [b"file"])
    for key, size_bytes in [("x/y", 5), ("x/y", WHOLE_BYTES + 1), ("x/y/z", 5), ("y", 5)]:
        with pytest.raises(Refused) as caught:
            store.put_if_absent(key, [b"x" * size_bytes])
        assert "folder" in caught.value.message and "beginning of another" in caught.value.hint
    assert [found.key for found in store.list("")] == ["x", "y/z"]
    assert store.read("x") == b"file" and store.read("y/z") == b"file"


def test_31_2_a_key_that_ends_in_a_slash_is_a_folder_and_holds_nothing(store: S3Store) -> None:
    with pytest.raises(Refused):
        store.put_if_absent("a/", [b"x"])
    assert list(store.list("")) == []


@pytest.mark.parametrize(("key", "listed"), [("a//b", "a/b"), ("/a", "a")])
def test_31_4_empty_segments_are_folded(store: S3Store, key: str, listed: str) -> None:
    """So `a//b` and `a/b` are one object here; which of them came first stays."""
    store.put_if_absent(key, [b"x"])
    assert store.read(key) == b"x" and [found.key for found in store.list("")] == [listed]
    with pytest.raises(ObjectExists):
        store.put_if_absent(listed, [b"y"])


def test_31_3_a_copy_by_the_server_brings_its_digest(versitygw_server: S3Server, store: S3Store) -> None:
    source = versitygw_server.new_bucket().store("lake")
    source.put_if_absent("key", [b"x" * MIB])
    assert store.copy_from(source, "key", "copy").digest == digest_of(b"x" * MIB)
