"""The store of buckets over MinIO, with and without versions."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from bergung.stores.base import Store
from bergung.stores.open import Stores
from bergung.stores.s3.store import S3Store
from tests.contract.stores.contract import StoreContract
from tests.contract.stores.versions import VersionsContract
from tests.servers.s3 import OwnBucket, S3Server

pytestmark = pytest.mark.nightly


class OverMinio(StoreContract):
    coarse = timedelta(seconds=2)

    @pytest.fixture
    def bucket(self, minio_server: S3Server) -> OwnBucket:
        return minio_server.new_bucket()

    @pytest.fixture
    def store(self, bucket: OwnBucket) -> S3Store:
        return bucket.store()

    @pytest.fixture
    def change(self, bucket: OwnBucket) -> Callable[[str, bytes], None]:
        return bucket.overwrite

    def again(self, store: Store) -> Store:
        assert isinstance(store, S3Store)
        return Stores(store.accesses)(store.url)


class TestMinio(OverMinio):
    pass


class TestMinioVersioned(OverMinio, VersionsContract):
    @pytest.fixture
    def bucket(self, minio_server: S3Server) -> OwnBucket:
        return minio_server.new_bucket(versioned=True)

    @pytest.fixture
    def other(self, bucket: OwnBucket) -> OwnBucket:
        return bucket
