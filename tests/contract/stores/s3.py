"""What stores on S3 do besides the contract, on any server. A subclass gives `server`."""

import pickle
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from threading import Barrier
from uuid import uuid4

import pytest

from bergung.clock import SystemClock
from bergung.errors import DamageFound, MissingObject, NotAllowed, ObjectExists, Refused, SourceChanged
from bergung.stores.access import Access
from bergung.stores.base import Store
from bergung.stores.digest import digest_of
from bergung.stores.memory import MemoryStore
from bergung.stores.open import Stores
from bergung.stores.probe import probe
from bergung.stores.s3.multipart import PART_BYTES
from bergung.stores.s3.reading import LARGE_BYTES
from bergung.stores.s3.store import S3Store
from bergung.stores.s3.writing import WHOLE_BYTES
from tests.contract.stores.contract import Cut, StoreContract
from tests.contract.stores.versions import VersionsContract
from tests.servers.s3 import OwnBucket, S3Server
from tests.servers.s3_front import ending_keys

MIB = 1024 * 1024


asked_of: Counter[str] = Counter()
"""How often each bucket's credentials were asked for."""


@dataclass(frozen=True)
class Lender:
    """Gives new credentials, as a catalog does; survives pickling."""

    good: Access

    def __call__(self) -> tuple[Access, ...]:
        asked_of[self.good.prefix.split("/")[2]] += 1
        return (self.good,)


class S3Contract(StoreContract):
    """A bucket that keeps no versions."""

    coarse = timedelta(seconds=2)
    asked_in_vain = WHOLE_BYTES + MIB

    @pytest.fixture
    def server(self) -> S3Server:
        raise NotImplementedError

    @pytest.fixture
    def bucket(self, server: S3Server) -> OwnBucket:
        return server.new_bucket()

    @pytest.fixture
    def store(self, bucket: OwnBucket) -> S3Store:
        return bucket.store()

    @pytest.fixture
    def change(self, bucket: OwnBucket) -> Callable[[str, bytes], None]:
        return bucket.overwrite

    def again(self, store: Store) -> Store:
        assert isinstance(store, S3Store)
        return Stores(store.accesses)(store.url)

    # 21 writes in parts

    @pytest.mark.parametrize("size_bytes", [WHOLE_BYTES, WHOLE_BYTES + 1, 3 * PART_BYTES + 7])
    def test_21_1_what_comes_in_parts_is_whole(self, store: S3Store, bucket: OwnBucket, size_bytes: int) -> None:
        content = secrets.token_bytes(size_bytes)
        put = store.put_if_absent("large", (content[start : start + 999_983] for start in range(0, size_bytes, 999_983)))
        self.same(store.head("large"), put)
        assert b"".join(store.blocks("large", version=put.version)) == content
        assert bucket.unfinished() == []

    def test_21_2_a_part_of_one_block_larger_than_any_part(self, store: S3Store) -> None:
        content = secrets.token_bytes(2 * PART_BYTES + 5)
        store.put_if_absent("large", [content])
        assert store.read("large") == content

    def test_21_3_a_key_taken_while_the_parts_come_leaves_nothing_unfinished(self, store: S3Store, bucket: OwnBucket) -> None:
        def blocks() -> Iterator[bytes]:
            yield b"x" * (WHOLE_BYTES + 1)
            store.put_if_absent("raced", [b"theirs"])
            yield b"x"

        with pytest.raises(ObjectExists):
            store.put_if_absent("raced", blocks())
        assert store.read("raced") == b"theirs" and bucket.unfinished() == []

    @pytest.mark.parametrize("error", [Cut("cut"), KeyboardInterrupt()])
    def test_21_4_when_the_blocks_break_off_nothing_unfinished_is_left(
        self, store: S3Store, bucket: OwnBucket, error: BaseException
    ) -> None:
        def blocks() -> Iterator[bytes]:
            yield b"x" * (WHOLE_BYTES + 1)
            raise error

        with pytest.raises(type(error)):
            store.put_if_absent("torn", blocks())
        assert list(store.list("")) == [] and bucket.unfinished() == []

    # 22 reads of large objects

    def test_22_1_a_large_object_comes_in_order_from_several_ranges(self, store: S3Store) -> None:
        content = secrets.token_bytes(LARGE_BYTES + 12_345)
        put = store.put_if_absent("large", [content])
        blocks = list(store.blocks("large"))
        assert max(map(len, blocks)) <= MIB and b"".join(blocks) == content
        assert b"".join(store.blocks("large", version=put.version, block_bytes=3_000_001)) == content

    def test_22_2_a_large_object_that_changes_on_the_way(self, store: S3Store, change: Callable[[str, bytes], None]) -> None:
        store.put_if_absent("large", [b"a" * (LARGE_BYTES + 1)])
        found = store.blocks("large")
        next(found)
        change("large", b"b" * (LARGE_BYTES + 1))
        try:
            assert set(b"".join(found)) == set(b"a")
        except SourceChanged:
            assert not store.keeps_versions

    # 23 copies by the server

    @pytest.mark.parametrize("size_bytes", [0, 5, MIB, 17 * MIB])
    def test_23_1_a_copy_from_another_bucket(self, server: S3Server, store: S3Store, size_bytes: int) -> None:
        content = secrets.token_bytes(size_bytes)
        source = server.new_bucket().store("lake")
        put = source.put_if_absent("a b/ü+%20,1", [content])
        assert store.copies_from(source)
        copied = store.copy_from(source, "a b/ü+%20,1", "deep/copy", version=put.version)
        self.same(store.head("deep/copy"), copied.stat)
        assert copied.digest in (None, digest_of(content)) and store.read("deep/copy") == content
        with pytest.raises(ObjectExists):
            store.copy_from(source, "a b/ü+%20,1", "deep/copy")

    def test_23_2_a_copy_over_what_came_meanwhile_is_refused(self, server: S3Server, store: S3Store, bucket: OwnBucket) -> None:
        """Also where CopyObject itself would not care."""
        source = server.new_bucket().store("lake")
        source.put_if_absent("key", [b"x" * MIB])
        store.put_if_absent("taken", [b"theirs"])
        with pytest.raises(ObjectExists):
            store.copy_from(source, "key", "taken")
        assert store.read("taken") == b"theirs" and bucket.unfinished() == []

    def test_23_3_a_source_that_changed_or_went_is_not_copied(self, server: S3Server, store: S3Store) -> None:
        own = server.new_bucket()
        source = own.store("lake")
        first = source.put_if_absent("key", [b"a" * MIB])
        own.overwrite("key", b"b" * MIB, "lake")
        with pytest.raises(SourceChanged):
            store.copy_from(source, "key", "copy", version=first.version)
        with pytest.raises(MissingObject):
            store.copy_from(source, "nothing", "copy")
        assert list(store.list("")) == []

    @pytest.mark.parametrize("size_bytes", [5, MIB, 17 * MIB])
    def test_23_5_bytes_of_another_digest_are_never_seen(
        self, server: S3Server, store: S3Store, bucket: OwnBucket, size_bytes: int
    ) -> None:
        content = secrets.token_bytes(size_bytes)
        source = server.new_bucket().store("lake")
        source.put_if_absent("key", [content])
        with pytest.raises(DamageFound):
            store.copy_from(source, "key", "copy", digest=digest_of(b"other"))
        assert list(store.list_versions("")) == [] and bucket.unfinished() == []
        copied = store.copy_from(source, "key", "copy", digest=digest_of(content))
        assert copied.digest == digest_of(content) and store.read("copy") == content

    @pytest.mark.parametrize("expects", [True, False])
    def test_23_6_a_copy_is_copied_again(self, server: S3Server, store: S3Store, expects: bool) -> None:
        """The first copy came in parts: its own checksum is none of its bytes."""
        content = secrets.token_bytes(2 * MIB)
        first, second = (server.new_bucket().store("lake") for _ in range(2))
        first.put_if_absent("key", [content])
        second.copy_from(first, "key", "key")
        copied = store.copy_from(second, "key", "key", digest=digest_of(content) if expects else None)
        assert copied.digest in (None, digest_of(content)) and store.read("key") == content

    def test_23_7_what_changed_since_it_was_looked_at_is_not_copied(self, server: S3Server, store: S3Store) -> None:
        own = server.new_bucket(versioned=store.keeps_versions)
        source = own.store("lake")
        source.put_if_absent("key", [b"a" * MIB])
        found = source.head("key")
        own.overwrite("key", b"b" * MIB, "lake")
        with pytest.raises(SourceChanged):
            store.copy_from(source, "key", "copy", version=found)
        assert list(store.list("")) == []
        copied = store.copy_from(source, "key", "copy", version=source.head("key"))
        assert copied.digest in (None, digest_of(b"b" * MIB)) and store.read("copy") == b"b" * MIB
        source.delete("key")
        with pytest.raises((SourceChanged, MissingObject)):
            store.copy_from(source, "key", "copy 2", version=found)

    def test_23_4_between_stores_of_other_kinds_the_bytes_pass_here(self, store: S3Store) -> None:
        memory = MemoryStore(uuid4().hex)
        put = memory.put_if_absent("key", [b"x" * MIB])
        assert not store.copies_from(memory) and not memory.copies_from(store)
        assert store.copy_from(memory, "key", "copy", version=put.version).digest == digest_of(b"x" * MIB)
        assert memory.copy_from(store, "copy", "back").digest == digest_of(b"x" * MIB)

    # 24 the ways in

    def test_24_1_one_bucket_has_several_ways_in(self, server: S3Server, bucket: OwnBucket) -> None:
        wrong = replace(server.access(f"s3://{bucket.name}/closed/"), key_id="nobody", secret="nothing")
        store = S3Store(f"s3://{bucket.name}", (server.access(), wrong))
        store.put_if_absent("open/key", [b"x"])
        with pytest.raises(NotAllowed):
            store.put_if_absent("closed/key", [b"x"])
        assert store.read("open/key") == b"x"

    def test_24_2_two_folders_of_a_bucket_are_two_stores(self, bucket: OwnBucket) -> None:
        one, other = bucket.store("a/vault"), bucket.store("a/vault2")
        one.put_if_absent("key", [b"1"])
        other.put_if_absent("key", [b"2"])
        assert [found.key for found in one.list("")] == ["key"] and one.read("key") == b"1"

    def test_24_3_more_keys_than_fit_on_a_page(self, bucket: OwnBucket, store: S3Store) -> None:
        keys = sorted(f"k/{number:04d} ü" for number in range(1003))
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda key: bucket.overwrite(key, b"x"), keys))
        assert [found.key for found in store.list("k/")] == keys
        assert [found.key for found in store.list_versions("k/")] == keys

    @pytest.mark.parametrize("key", ["a/../b", "a/./b", "../a", "a/..", "."])
    def test_24_6_nothing_is_changed_under_a_key_that_stores_read_differently(self, store: S3Store, key: str) -> None:
        put = store.put_if_absent("b", [b"stays"])
        calls: list[Callable[[], object]] = [
            lambda: store.put_if_absent(key, [b"x"]),
            lambda: store.copy("b", key),
            lambda: store.delete(key),
            lambda: store.delete(key, version=put.version),
        ]
        for call in calls:
            with pytest.raises(Refused):
                call()
        assert [found.key for found in store.list("")] == ["b"]

    def test_24_7_credentials_that_end_are_renewed_once(self, server: S3Server, bucket: OwnBucket) -> None:
        now = SystemClock().now()
        lender = Lender(replace(server.access(f"s3://{bucket.name}/"), expires_at=now + timedelta(hours=1)))
        ended = replace(lender.good, secret="ended", expires_at=now + timedelta(minutes=1), renew=lender)
        store: S3Store = pickle.loads(pickle.dumps(S3Store(f"s3://{bucket.name}/vault", (ended,))))
        store.put_if_absent("key", [b"x"])
        assert store.read("key") == b"x"
        S3Store(f"s3://{bucket.name}/vault", (ended,)).head("key")
        assert asked_of[bucket.name] == 1

    def test_24_8_threads_that_meet_the_end_of_credentials_together_ask_once(self, server: S3Server, bucket: OwnBucket) -> None:
        together = Barrier(4, timeout=30)
        with ending_keys(server.endpoint) as front, ThreadPoolExecutor(4) as pool:
            front.ended.add("ended")
            front.before = lambda asked: together.wait() if asked.key_id == "ended" and len(front.refused) < 4 else None
            good = replace(server.access(f"s3://{bucket.name}/"), endpoint=front.url)
            store = S3Store(f"s3://{bucket.name}/vault", (replace(good, key_id="ended", renew=Lender(good)),))
            stats = list(pool.map(lambda key: store.put_if_absent(key, [b"x"]), "abcd"))
        assert [stat.size_bytes for stat in stats] == [1] * 4
        assert (len(front.refused), asked_of[bucket.name]) == (4, 1)

    @pytest.mark.parametrize("key", ["", "n" * 1025, "ü" * 513, "lone \ud800 surrogate"])
    def test_24_4_what_no_bucket_takes_is_refused(self, store: S3Store, key: str) -> None:
        calls: list[Callable[[], object]] = [
            lambda: store.put_if_absent(key, [b"x"]),
            lambda: store.head(key),
            lambda: store.read(key),
            lambda: store.delete(key),
        ]
        for call in calls:
            with pytest.raises(Refused):
                call()

    def test_24_5_without_locks_none_are_set(self, store: S3Store) -> None:
        put = store.put_if_absent("key", [b"x"])
        assert store.can_lock is False and store.locked_until("key", put.version) is None
        with pytest.raises((Refused, NotAllowed)):
            store.lock("key", put.version, SystemClock().now() + timedelta(days=1))


class S3VersionsContract(S3Contract, VersionsContract):
    """A bucket that keeps versions."""

    @pytest.fixture
    def bucket(self, server: S3Server) -> OwnBucket:
        return server.new_bucket(versioned=True)

    @pytest.fixture
    def other(self, bucket: OwnBucket) -> OwnBucket:
        return bucket

    def test_23_3_a_source_that_changed_or_went_is_not_copied(self, server: S3Server, store: S3Store) -> None:
        """Here the older version is still there, and it is what is copied."""
        own = server.new_bucket(versioned=True)
        source = own.store("lake")
        first = source.put_if_absent("key", [b"a" * MIB])
        own.overwrite("key", b"b" * MIB, "lake")
        copied = store.copy_from(source, "key", "copy", version=first.version)
        assert store.read("copy") == b"a" * MIB and copied.digest in (None, digest_of(b"a" * MIB))
        with pytest.raises(SourceChanged):
            store.copy_from(source, "key", "copy 2", version="unknown")
        with pytest.raises(MissingObject):
            store.copy_from(source, "nothing", "copy 2")

    def test_25_1_what_was_written_before_versions_were_kept_has_its_etag(self, server: S3Server) -> None:
        bucket = server.new_bucket()
        early = bucket.store()
        put = early.put_if_absent("key", [b"early"])
        server.client.put_bucket_versioning(Bucket=bucket.name, VersioningConfiguration={"Status": "Enabled"})
        bucket.overwrite("key", b"late")
        store = OwnBucket(S3Server(server.name, server.endpoint + "/"), bucket.name).store()
        assert store.keeps_versions and put.version.startswith('"')
        assert [found.version for found in store.list_versions("key")][0] == put.version
        assert store.read("key", version=put.version) == b"early"
        store.delete("key", version=put.version)
        assert len(list(store.list_versions("key"))) == 1

    def test_25_2_more_versions_than_fit_on_a_page(self, bucket: OwnBucket, store: S3Store) -> None:
        for number in range(1005):
            bucket.overwrite("key", b"%d" % number)
        bucket.put_marker("key")
        found = list(store.list_versions("key"))
        assert len(found) == 1006 == len({one.version for one in found})
        assert store.read("key", version=found[0].version) == b"0"
        assert store.read("key", version=found[1004].version) == b"1004"
        assert found[1005].is_marker and found[1005].is_latest


class S3LocksContract(S3VersionsContract):
    """A bucket with Object Lock."""

    @pytest.fixture
    def bucket(self, server: S3Server) -> OwnBucket:
        return server.new_bucket(locked=True)

    def test_24_5_without_locks_none_are_set(self, store: S3Store) -> None:
        """Here they are."""
        put = store.put_if_absent("key", [b"x"])
        until = (SystemClock().now() + timedelta(days=30)).replace(microsecond=0)
        assert store.can_lock and store.locked_until("key", put.version) is None
        store.lock("key", put.version, until)
        assert store.locked_until("key", put.version) == until
        with pytest.raises(NotAllowed):
            store.lock("key", put.version, until - timedelta(days=1))
        store.lock("key", put.version, until + timedelta(days=1))
        assert store.locked_until("key", put.version) == until + timedelta(days=1)

    @pytest.mark.parametrize("mode", ["COMPLIANCE", "GOVERNANCE"])
    def test_26_1_a_locked_version_outlives_whatever_is_tried(self, bucket: OwnBucket, store: S3Store, mode: str) -> None:
        put = store.put_if_absent("key", [b"kept"])
        bucket.lock(put, datetime(2100, 1, 1, tzinfo=UTC), mode)
        bucket.overwrite("key", b"evil")
        store.delete("key")
        with pytest.raises(NotAllowed, match="locked") as caught:
            store.delete("key", version=put.version)
        assert caught.value.message.startswith("locked") and put.key in caught.value.message
        assert store.read("key", version=put.version) == b"kept"
        assert store.locked_until("key", put.version) == datetime(2100, 1, 1, tzinfo=UTC)

    def test_26_2_the_probe_passes(self, store: S3Store) -> None:
        probe(store)
        assert list(store.list("")) == []
