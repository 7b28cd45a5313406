"""Stores on MinIO, and what it cannot do."""

import pytest

from bergung.errors import Refused
from bergung.stores.s3.store import S3Store
from tests.contract.stores.s3 import MIB, S3Contract, S3LocksContract, S3VersionsContract
from tests.servers.s3 import S3Server

pytestmark = pytest.mark.nightly


class OnMinio(S3Contract):
    @pytest.fixture
    def server(self, minio_server: S3Server) -> S3Server:
        return minio_server


class TestMinio(OnMinio):
    pass


class TestMinioVersioned(OnMinio, S3VersionsContract):
    pass


class TestMinioLocked(OnMinio, S3LocksContract):
    pass


@pytest.fixture
def store(minio_server: S3Server) -> S3Store:
    return minio_server.new_bucket().store()


@pytest.mark.parametrize("key", ["a//b", "/a"])
def test_32_1_keys_that_it_refuses(store: S3Store, key: str) -> None:
    store.put_if_absent("b", [b"stays"])
    with pytest.raises(Refused) as caught:
        store.put_if_absent(key, [b"x"])
    assert key in caught.value.message
    assert [found.key for found in store.list("")] == ["b"]


def test_32_2_a_copy_by_the_server_has_no_digest(minio_server: S3Server, store: S3Store) -> None:
    source = minio_server.new_bucket().store("lake")
    source.put_if_absent("key", [b"x" * MIB])
    assert store.copy_from(source, "key", "copy").digest is None
