"""What every store must do, whatever it is made of. The numbers are those of the cases in the failure reports."""

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, timedelta

import pytest

from bergung.clock import SystemClock
from bergung.errors import MissingObject, ObjectExists, SourceChanged
from bergung.stores.base import BLOCK_BYTES, Stat, Store
from bergung.stores.open import open_store
from bergung.stores.probe import probe

ODD_KEYS = [
    "a b/c d.parquet",
    "day=2024-01-01/a,b;c.parquet",
    "name=%2F%20/100%.parquet",
    "a+b/c&d=e#f?g.parquet",
    "ünïcode/Straße/日本語/🧂.parquet",
    "quote'\"`$(x)\\n.parquet",
    "-begins with a dash",
    "...three dots/.hidden/..also",
    "line\nbreak/tab\there",
    "n" * 255,
    "/".join(["d" * 99] * 8 + ["e" * 100]),
]


class Cut(Exception):
    """What the source of the blocks fails with."""


class StoreContract:
    """A subclass gives `store`, a fresh one for each test, and `change`, another client that overwrites."""

    coarse = timedelta(0)
    """How far the moment that a write gives may be from the one that is seen later."""

    asked_in_vain = 0
    """How many bytes of a source may be asked for when the key is taken from the start."""

    @pytest.fixture
    def store(self) -> Store:
        raise NotImplementedError

    @pytest.fixture
    def change(self, store: Store) -> Callable[[str, bytes], None]:
        raise NotImplementedError

    def again(self, store: Store) -> Store:
        return open_store(store.url)

    def same(self, seen: Stat, written: Stat) -> None:
        assert replace(seen, modified_at=written.modified_at) == written
        assert abs(seen.modified_at - written.modified_at) <= self.coarse

    # 1 what is written is there

    def test_1_1_what_is_put_is_read_back(self, store: Store) -> None:
        before = SystemClock().now() - timedelta(seconds=2)
        put = store.put_if_absent("a/b/c.bin", [b"one ", b"", b"two"])
        assert (put.key, put.size_bytes) == ("a/b/c.bin", 7)
        assert before < put.modified_at < SystemClock().now() + timedelta(seconds=2)
        self.same(store.head("a/b/c.bin"), put)
        assert store.read("a/b/c.bin") == b"one two"
        assert b"".join(store.blocks("a/b/c.bin")) == b"one two"

    def test_1_2_zero_bytes_are_an_object(self, store: Store) -> None:
        put = store.put_if_absent("empty", [])
        self.same(store.head("empty"), put)
        assert put.size_bytes == 0
        assert store.read("empty") == b"" and list(store.blocks("empty")) == []

    @pytest.mark.parametrize("key", ODD_KEYS)
    def test_1_3_odd_keys_are_kept_as_they_are(self, store: Store, key: str) -> None:
        store.put_if_absent(key, [key.encode()])
        assert store.read(key) == key.encode()
        assert [found.key for found in store.list("")] == [key]
        assert [found.key for found in store.list(key)] == [key]

    def test_1_4_any_block_size_and_kind_of_iterable_gives_the_same_bytes(self, store: Store) -> None:
        content = bytes(range(256)) * 40_000
        store.put_if_absent("many", (content[i : i + 7919] for i in range(0, len(content), 7919)))
        assert store.read("many") == content
        blocks = list(store.blocks("many"))
        assert b"".join(blocks) == content and max(map(len, blocks)) <= BLOCK_BYTES
        small = list(store.blocks("many", block_bytes=1000))
        assert b"".join(small) == content and max(map(len, small)) <= 1000

    def test_1_5_ranges_end_where_the_object_ends(self, store: Store) -> None:
        store.put_if_absent("digits", [b"0123456789"])
        assert store.read("digits", start=3) == b"3456789"
        assert store.read("digits", start=3, length=4) == b"3456"
        assert store.read("digits", start=8, length=100) == b"89"
        assert store.read("digits", start=10, length=1) == b""
        assert store.read("digits", start=99) == b""
        assert store.read("digits", length=0) == b""

    # 2 nothing is there

    def test_2_1_every_call_on_a_missing_key_says_so(self, store: Store) -> None:
        calls: list[Callable[[], object]] = [
            lambda: store.head("not/there"),
            lambda: store.read("not/there"),
            lambda: store.read("not/there", version="1"),
            lambda: list(store.blocks("not/there")),
            lambda: store.open("not/there"),
            lambda: store.copy("not/there", "copy"),
            lambda: store.delete("not/there"),
            lambda: store.delete("not/there", version="1"),
        ]
        for call in calls:
            with pytest.raises(MissingObject):
                call()
        assert list(store.list("")) == [] and list(store.list_versions("")) == []

    def test_2_2_a_folder_of_keys_is_no_object(self, store: Store) -> None:
        store.put_if_absent("folder/key", [b"x"])
        with pytest.raises(MissingObject):
            store.head("folder")
        with pytest.raises(MissingObject):
            store.read("folder")
        with pytest.raises(MissingObject):
            store.delete("folder")
        assert store.read("folder/key") == b"x"

    # 3 create only

    def test_3_1_a_taken_key_is_refused_before_many_blocks_are_asked_for(self, store: Store) -> None:
        store.put_if_absent("once", [b"first"])
        block, asked = bytes(1024 * 1024), []

        def large() -> Iterator[bytes]:
            for _ in range(64):
                asked.append(len(block))
                yield block

        with pytest.raises(ObjectExists):
            store.put_if_absent("once", large())
        assert sum(asked) <= self.asked_in_vain
        assert store.read("once") == b"first"

    def test_3_2_a_key_taken_while_the_blocks_come_is_refused_at_the_end(self, store: Store) -> None:
        def blocks() -> Iterator[bytes]:
            yield b"mine"
            store.put_if_absent("raced", [b"theirs"])
            yield b"mine"

        with pytest.raises(ObjectExists):
            store.put_if_absent("raced", blocks())
        assert store.read("raced") == b"theirs"
        assert [found.key for found in store.list("")] == ["raced"]

    def test_3_3_of_many_writers_at_once_one_wins(self, store: Store) -> None:
        def write(number: int) -> bool:
            try:
                store.put_if_absent("race", [b"%02d" % number] * 1000)
            except ObjectExists:
                return False
            return True

        with ThreadPoolExecutor(16) as pool:
            won = [number for number, wins in enumerate(pool.map(write, range(64))) if wins]
        assert len(won) == 1
        assert store.read("race") == b"%02d" % won[0] * 1000

    def test_3_4_the_probe_of_a_new_vault_passes(self, store: Store) -> None:
        probe(store)
        assert list(store.list("")) == []

    # 4 all or nothing

    def test_4_1_nobody_sees_an_object_before_its_last_block(self, store: Store) -> None:
        def blocks() -> Iterator[bytes]:
            for _ in range(3):
                yield b"x" * 100_000
                with pytest.raises(MissingObject):
                    store.head("slow")
                with pytest.raises(MissingObject):
                    store.read("slow")
                assert list(store.list("")) == [] and list(store.list_versions("")) == []

        store.put_if_absent("slow", blocks())
        assert store.head("slow").size_bytes == 300_000

    @pytest.mark.parametrize("error", [Cut("cut"), KeyboardInterrupt(), OSError(2, "of the source")])
    def test_4_2_when_the_blocks_break_off_nothing_is_there_and_the_error_is_theirs(
        self, store: Store, error: BaseException
    ) -> None:
        def blocks() -> Iterator[bytes]:
            yield b"x" * 5_000_000
            raise error

        with pytest.raises(type(error)) as caught:
            store.put_if_absent("torn", blocks())
        assert caught.value is error
        assert list(store.list("")) == []
        store.put_if_absent("torn", [b"whole"])
        assert store.read("torn") == b"whole"

    # 5 lists

    def test_5_1_keys_come_in_the_order_of_their_characters(self, store: Store) -> None:
        keys = ["a/b", "a-b", "a.txt", "a0", "a/b.txt/c", "a/b-c", "B", "z", "Z/z", "ä/x", "a/ b", "ab/c"]
        for key in keys:
            store.put_if_absent(key, [key.encode()])
        found = list(store.list(""))
        assert [one.key for one in found] == sorted(keys)
        assert found == [store.head(key) for key in sorted(keys)]

    def test_5_2_a_prefix_is_any_beginning_not_a_folder(self, store: Store) -> None:
        for key in ["log/1", "log/12", "log/2", "log-admin/1", "logs", "x/log/1"]:
            store.put_if_absent(key, [b"x"])

        def keys(prefix: str) -> list[str]:
            return [found.key for found in store.list(prefix)]

        assert keys("log/") == ["log/1", "log/12", "log/2"]
        assert keys("log/1") == ["log/1", "log/12"]
        assert keys("log") == ["log-admin/1", "log/1", "log/12", "log/2", "logs"]
        assert keys("x") == ["x/log/1"]
        assert keys("log/1/") == keys("nothing/") == keys("nothing/at/all") == []

    def test_5_3_an_object_that_goes_while_the_list_is_read_does_no_harm(self, store: Store) -> None:
        for number in range(50):
            store.put_if_absent(f"d{number % 5}/{number:02d}", [b"x"])
        found = store.list("")
        first = next(found).key
        gone = {"d0/45", "d4/49"}
        for key in gone:
            store.delete(key)
        seen = [first, *(one.key for one in found)]
        assert [key for key in seen if key not in gone] == [one.key for one in store.list("")]

    def test_5_4_every_listed_object_has_a_newest_version(self, store: Store) -> None:
        for key in ["b", "a/x", "a-x"]:
            store.put_if_absent(key, [key.encode()])
        listed = [(one.key, one.size_bytes, one.version, one.modified_at) for one in store.list("")]
        versions = list(store.list_versions(""))
        assert [(one.key, one.size_bytes, one.version, one.modified_at) for one in versions] == listed
        assert all(one.is_latest and not one.is_marker for one in versions)

    # 6 one version, from the first byte to the last

    def test_5_5_folders_are_the_names_just_below(self, store: Store) -> None:
        for key in ("a/x", "a/b c/1", "a/b c/d/2", "a/b-/3", "a/b/6", "a/z%2F/4", "ab/5", "top"):
            store.put_if_absent(key, [b"x"])
        assert list(store.folders("a/")) == ["b c", "b-", "b", "z%2F"]
        assert list(store.folders("")) == ["a", "ab"]
        assert list(store.folders("a/b c/d/")) == list(store.folders("nothing/")) == []

    def test_6_1_a_version_that_is_there_can_be_asked_for(self, store: Store) -> None:
        put = store.put_if_absent("pinned", [b"as it was"])
        assert store.read("pinned", version=put.version) == b"as it was"
        assert store.read("pinned", start=3, length=2, version=put.version) == b"it"
        assert b"".join(store.blocks("pinned", version=put.version)) == b"as it was"

    def test_6_2_a_change_gives_another_version(self, store: Store, change: Callable[[str, bytes], None]) -> None:
        first = store.put_if_absent("changing", [b"aaaa"])
        change("changing", b"bbbb")
        second = store.head("changing")
        assert second.version != first.version
        assert store.read("changing", version=second.version) == b"bbbb"

    def test_6_3_an_unknown_version_is_a_change(self, store: Store) -> None:
        store.put_if_absent("key", [b"x"])
        with pytest.raises(SourceChanged):
            store.read("key", version="never there")
        with pytest.raises(SourceChanged):
            list(store.blocks("key", version="never there"))
        with pytest.raises(SourceChanged):
            store.delete("key", version="never there")
        assert store.read("key") == b"x"

    def test_6_4_no_block_is_of_another_version_than_the_first(self, store: Store, change: Callable[[str, bytes], None]) -> None:
        store.put_if_absent("growing", [b"a" * 3000])
        taken = []
        try:
            for block in store.blocks("growing", block_bytes=1000):
                taken.append(block)
                if len(taken) == 1:
                    change("growing", b"b" * 4000)
        except SourceChanged:
            return
        assert b"".join(taken) == b"a" * 3000

    def test_6_5_what_is_opened_is_of_the_version_that_it_says(self, store: Store, change: Callable[[str, bytes], None]) -> None:
        put = store.put_if_absent("key", [b"a" * 3000])
        opened = store.open("key")
        self.same(opened.stat, put)
        assert b"".join(opened.blocks) == b"a" * 3000
        opened = store.open("key")
        change("key", b"b" * 4000)
        try:
            assert b"".join(opened.blocks) == b"a" * 3000
        except SourceChanged:
            pass
        again = store.open("key")
        assert again.stat == store.head("key") and b"".join(again.blocks) == b"b" * 4000

    # 7 copies, deletions, durability, names

    def test_7_1_a_copy_is_an_object_of_its_own(self, store: Store, change: Callable[[str, bytes], None]) -> None:
        store.put_if_absent("source", [b"bytes"])
        copied = store.copy("source", "deep/er/copy")
        self.same(store.head("deep/er/copy"), copied)
        assert copied.size_bytes == 5
        change("source", b"other")
        assert store.read("deep/er/copy") == b"bytes"
        with pytest.raises(ObjectExists):
            store.copy("source", "deep/er/copy")
        assert store.read("deep/er/copy") == b"bytes"

    def test_7_2_a_deleted_object_is_gone_and_its_name_is_free(self, store: Store) -> None:
        first = store.put_if_absent("here/now", [b"first"])
        store.put_if_absent("here/too", [b"stays"])
        store.delete("here/now")
        with pytest.raises(MissingObject):
            store.head("here/now")
        with pytest.raises(MissingObject):
            store.delete("here/now")
        assert [found.key for found in store.list("")] == ["here/too"]
        again = store.put_if_absent("here/now", [b"once more"])
        assert store.read("here/now") == b"once more" and again.version != first.version

    def test_7_3_a_deletion_by_version_takes_that_version(self, store: Store) -> None:
        put = store.put_if_absent("key", [b"x"])
        store.delete("key", version=put.version)
        assert list(store.list("")) == [] and list(store.list_versions("")) == []

    def test_7_4_everything_can_be_made_durable(self, store: Store) -> None:
        keys = [f"wave/{number % 7}/{number}" for number in range(40)]
        for key in keys:
            store.put_if_absent(key, [key.encode()])
        store.make_durable([])
        store.make_durable(iter(keys))
        assert [store.read(key).decode() for key in keys] == keys

    def test_7_5_the_url_opens_the_same_store(self, store: Store) -> None:
        store.put_if_absent("key", [b"x"])
        again = self.again(store)
        assert again.url == store.url and again.read("key") == b"x"
        carried: Store = pickle.loads(pickle.dumps(store))
        assert carried.url == store.url and carried.head("key") == store.head("key")

    def test_7_6_facts_are_plain_values(self, store: Store) -> None:
        found: Stat = store.put_if_absent("key", [b"x"])
        assert pickle.loads(pickle.dumps(found)) == found
        assert found.modified_at.tzinfo is UTC
