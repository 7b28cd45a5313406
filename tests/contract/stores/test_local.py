"""The store of files: the contract, then what only files can do."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bergung.errors import MissingObject, ObjectExists, Refused, SourceChanged
from bergung.stores.base import Store
from bergung.stores.local import LocalStore
from tests.contract.stores.contract import StoreContract


def overwrite_in_place(path: Path, content: bytes) -> None:
    before = path.stat().st_mtime_ns
    path.write_bytes(content)
    # A clock of coarse ticks could give both contents one time.
    os.utime(path, ns=(before + 1000, before + 1000))


class TestLocal(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> LocalStore:
        return LocalStore(tmp_path / "not there yet" / "store")

    @pytest.fixture
    def change(self, store: LocalStore) -> Callable[[str, bytes], None]:
        return lambda key, content: overwrite_in_place(Path(store.root) / key, content)

    def test_11_1_a_file_replaced_by_another_of_the_same_time_and_size_is_a_change(self, store: LocalStore) -> None:
        put = store.put_if_absent("key", [b"aaaa"])
        path = Path(store.root) / "key"
        times = path.stat().st_mtime_ns
        (path.parent / "new").write_bytes(b"bbbb")
        os.replace(path.parent / "new", path)
        os.utime(path, ns=(times, times))
        with pytest.raises(SourceChanged):
            store.read("key", version=put.version)

    def test_11_2_a_change_on_the_way_is_noticed_after_the_last_block(self, store: LocalStore) -> None:
        store.put_if_absent("key", [b"a" * 3000])
        taken = []
        with pytest.raises(SourceChanged):
            for block in store.blocks("key", block_bytes=1000):
                taken.append(block)
                if len(taken) == 2:
                    overwrite_in_place(Path(store.root) / "key", b"b" * 3000)
        with pytest.raises(SourceChanged):
            store.put_if_absent("copy", self.changing(store, "key"))
        assert [found.key for found in store.list("")] == ["key"]

    @staticmethod
    def changing(store: LocalStore, key: str):  # type: ignore[no-untyped-def]
        for block in store.blocks(key, block_bytes=1000):
            overwrite_in_place(Path(store.root) / key, b"c" * 3000)
            yield block

    @pytest.mark.parametrize("key", ["", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "../a", "a/..", "a\0b"])
    def test_11_3_keys_that_could_leave_the_folder_are_refused(self, store: LocalStore, key: str) -> None:
        calls: list[Callable[[], object]] = [
            lambda: store.put_if_absent(key, [b"x"]),
            lambda: store.head(key),
            lambda: store.read(key),
            lambda: list(store.blocks(key)),
            lambda: store.delete(key),
            lambda: store.make_durable([key]),
        ]
        for call in calls:
            with pytest.raises(Refused):
                call()
        assert not Path(store.root).exists()

    @pytest.mark.parametrize("prefix", ["/", "../", "a/../", "a//", "./", "\0"])
    def test_11_4_prefixes_that_could_leave_the_folder_are_refused(self, store: LocalStore, prefix: str) -> None:
        with pytest.raises(Refused):
            list(store.list(prefix))

    @pytest.mark.parametrize("key", ["n" * 256, "a/" * 2100 + "b", "lone \ud800 surrogate"])
    def test_11_5_names_that_no_file_can_have_are_refused(self, store: LocalStore, key: str) -> None:
        with pytest.raises(Refused):
            store.put_if_absent(key, [b"x"])
        with pytest.raises(Refused):
            store.head(key)

    def test_11_6_a_key_and_a_folder_of_keys_cannot_share_a_name(self, store: LocalStore) -> None:
        store.put_if_absent("x", [b"file"])
        store.put_if_absent("y/z", [b"file"])
        for key in ("x/y", "x/y/z", "y"):
            with pytest.raises(Refused):
                store.put_if_absent(key, [b"file"])
        with pytest.raises(MissingObject):
            store.head("x/y")
        assert list(store.list("x/")) == []
        assert [found.key for found in store.list("")] == ["x", "y/z"]

    def test_11_7_names_that_are_not_utf_8_are_listed_and_read(self, store: LocalStore) -> None:
        store.put_if_absent("plain", [b"x"])
        with open(os.path.join(os.fsencode(store.root), b"b\xff"), "wb") as file:
            file.write(b"odd")
        odd = next(store.list("b"))
        assert store.read(odd.key) == b"odd"

    def test_11_8_unfinished_writes_are_hidden_and_their_names_are_kept_free(self, store: LocalStore) -> None:
        store.put_if_absent("a/key", [b"x"])
        (Path(store.root) / "a" / ".bergung-0123456789abcdef.part").write_bytes(b"torn")
        assert [found.key for found in store.list("")] == ["a/key"]
        with pytest.raises(Refused):
            store.put_if_absent("a/.bergung-0123456789abcdef.part", [b"x"])

    def test_11_9_more_than_5_gb_is_not_read_whole(self, store: LocalStore) -> None:
        size = 6 * 1024**3
        Path(store.root).mkdir(parents=True)
        with (Path(store.root) / "large").open("wb") as file:
            file.write(b"head")
            file.truncate(size - 4)
            file.seek(size - 4)
            file.write(b"tail")
        found = store.head("large")
        assert found.size_bytes == size
        assert store.read("large", start=size - 4, version=found.version) == b"tail"
        assert store.read("large", start=size - 4, length=1 << 40) == b"tail"
        assert store.read("large", start=5 * 1024**3, length=3) == b"\0\0\0"
        assert next(store.blocks("large", version=found.version))[:5] == b"head\0"

    def test_11_10_the_root_of_the_machine_reads_absolute_paths(self, tmp_path: Path) -> None:
        store: Store = LocalStore("/")
        key = str(tmp_path / "a, b%20" / "c").lstrip("/")
        assert store.url == "file:///"
        store.put_if_absent(key, [b"x"])
        assert (tmp_path / "a, b%20" / "c").read_bytes() == b"x"
        assert [found.key for found in store.list(str(tmp_path).lstrip("/") + "/")] == [key]
        store.make_durable([key])
        with pytest.raises(ObjectExists):
            store.put_if_absent(key, [b"y"])

    def test_11_11_what_is_no_plain_file_is_no_object(self, store: LocalStore) -> None:
        store.put_if_absent("key", [b"x"])
        os.mkfifo(Path(store.root) / "pipe")
        for call in (store.head, store.read, store.delete):
            with pytest.raises(MissingObject):
                call("pipe")
        with pytest.raises(MissingObject):
            store.make_durable(["pipe"])
        with pytest.raises(ObjectExists):
            store.put_if_absent("pipe", [b"x"])
        assert [found.key for found in store.list("")] == ["key"]
