"""The store of buckets over versitygw, with and without versions."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from bergung.errors import MissingObject, Refused
from bergung.stores.base import Store
from bergung.stores.open import Stores
from bergung.stores.s3.multipart import PART_BYTES
from bergung.stores.s3.store import S3Store
from tests.contract.stores.contract import StoreContract
from tests.contract.stores.versions import OtherClient, VersionsContract
from tests.servers.s3 import OwnBucket, S3Server


class OverVersitygw(StoreContract):
    coarse = timedelta(seconds=2)

    @pytest.fixture
    def bucket(self, versitygw_server: S3Server) -> OwnBucket:
        return versitygw_server.new_bucket()

    @pytest.fixture
    def store(self, bucket: OwnBucket) -> S3Store:
        return bucket.store()

    @pytest.fixture
    def change(self, bucket: OwnBucket) -> Callable[[str, bytes], None]:
        return bucket.overwrite

    def again(self, store: Store) -> Store:
        assert isinstance(store, S3Store)
        return Stores(store.accesses)(store.url)


class TestVersitygw(OverVersitygw):
    pass


class TestVersitygwVersioned(OverVersitygw, VersionsContract):
    @pytest.fixture
    def bucket(self, versitygw_server: S3Server) -> OwnBucket:
        return versitygw_server.new_bucket(versioned=True)

    @pytest.fixture
    def other(self, bucket: OwnBucket) -> OwnBucket:
        return bucket

    def test_7_2_a_deleted_object_is_gone_and_its_name_is_free(self, store: Store) -> None:
        """Gone, but its name is not free: see 8_2."""
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

    @pytest.mark.parametrize("size_bytes", [5, PART_BYTES + 1])
    def test_8_2_a_create_only_write_over_a_marker_succeeds(self, store: Store, other: OtherClient, size_bytes: int) -> None:
        """Not here: versitygw takes a delete marker for an object when it is asked to create only. Nothing is harmed by it."""
        first = store.put_if_absent("key", [b"first"])
        other.put_marker("key")
        with pytest.raises(Refused, match="creates nothing over a delete marker") as caught:
            store.put_if_absent("key", [b"x" * size_bytes])
        assert "marker" in caught.value.hint
        found = list(store.list_versions("key"))
        assert [one.is_marker for one in found] == [False, True]
        assert store.read("key", version=first.version) == b"first"
