"""The store of files on a machine that says no: full disks, missing rights, file systems that lack a call."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from bergung.errors import NotAllowed, ObjectExists, Refused, StoreFull
from bergung.stores.local import LocalStore
from bergung.stores.probe import probe
from tests.contract.stores.child import (
    as_nobody,
    in_child,
    make_read_only,
    no_file_above,
    open_folder,
    small_disk,
    without,
)

MIB = 1024 * 1024


def what_is_left(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def put(folder: Path, key: str, size_bytes: int) -> None:
    LocalStore(folder).put_if_absent(key, (b"x" * MIB for _ in range(size_bytes // MIB)))


def test_12_1_a_full_disk_takes_all_or_nothing(tmp_path: Path) -> None:
    def fill() -> tuple[str, list[str], bytes]:
        put(tmp_path, "small", MIB)
        with pytest.raises(StoreFull) as caught:
            put(tmp_path, "a/large", 8 * MIB)
        left = what_is_left(tmp_path)
        put(tmp_path, "fits", 2 * MIB)
        return caught.value.hint, left, LocalStore(tmp_path).read("small", length=3)

    hint, left, read = in_child(partial(small_disk, tmp_path, 4 * MIB), fill)
    assert left == ["small"] and read == b"xxx"
    assert f"df -h {tmp_path / 'a'}" in hint


def test_12_2_a_limit_on_the_size_of_files_is_a_full_store(tmp_path: Path) -> None:
    # Not a whole number of blocks: the system takes a part of the last one, and says so only by a number.
    with pytest.raises(StoreFull):
        in_child(partial(no_file_above, 3 * MIB + 5), partial(put, tmp_path, "a/large", 4 * MIB))
    assert what_is_left(tmp_path) == []


def test_12_3_a_read_only_file_system_allows_reading_only(tmp_path: Path) -> None:
    def look() -> None:
        store = LocalStore(tmp_path)
        assert store.head("key").size_bytes == MIB
        store.make_durable(["key"])
        with pytest.raises(ObjectExists):
            store.put_if_absent("key", [])
        for refused in (lambda: put(tmp_path, "new/key", 0), lambda: put(tmp_path, "new", 0), lambda: store.delete("key")):
            with pytest.raises(NotAllowed) as caught:
                refused()
            assert str(tmp_path) in caught.value.message and "namei -l" in caught.value.hint

    mount = partial(small_disk, tmp_path, 4 * MIB)
    in_child(mount, partial(put, tmp_path, "key", MIB), partial(make_read_only, tmp_path), look)


def test_12_4_missing_rights_are_named_with_their_path() -> None:
    with open_folder() as folder:
        LocalStore(folder).put_if_absent("secret/key", [b"x"])
        LocalStore(folder).put_if_absent("open/file", [b"x"])
        (folder / "open" / "file").chmod(0o000)
        (folder / "secret").chmod(0o000)
        store = LocalStore(folder)

        def look() -> None:
            for path, call in [
                ("secret/key", partial(store.head, "secret/key")),
                ("secret/key", partial(store.read, "secret/key")),
                ("secret", lambda: list(store.list(""))),
                ("secret/key", lambda: list(store.list_versions("secret/")) or store.head("secret/key")),
                ("open/file", partial(store.read, "open/file")),
                ("open/new", partial(store.put_if_absent, "open/new", [b"x"])),
                ("new", partial(store.put_if_absent, "new/key", [b"x"])),
                ("open/file", partial(store.delete, "open/file")),
                ("open/file", partial(store.make_durable, ["open/file"])),
            ]:
                with pytest.raises(NotAllowed) as caught:
                    call()
                assert str(folder / path)[: -len(path)] in caught.value.message, path

        (folder / "open").chmod(0o555)
        try:
            in_child(as_nobody, look)
        finally:
            (folder / "secret").chmod(0o755)


def test_12_5_durable_where_only_the_lowest_folder_is_ours() -> None:
    with open_folder() as folder:
        (folder / "closed" / "ours").mkdir(parents=True)
        (folder / "closed" / "ours").chmod(0o777)
        (folder / "closed").chmod(0o711)

        def write() -> None:
            store = LocalStore(folder / "closed" / "ours")
            store.put_if_absent("a/key", [b"x"])
            store.make_durable(["a/key"])

        in_child(as_nobody, write)
        (folder / "closed" / "ours" / "a").chmod(0o333)
        with pytest.raises(NotAllowed):
            in_child(as_nobody, lambda: LocalStore(folder / "closed" / "ours").make_durable(["a/key"]))


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


def test_12_6_without_hard_links_a_rename_that_replaces_nothing_does_the_same(store: LocalStore) -> None:
    def write() -> None:
        store.put_if_absent("a/key", [b"first"])
        probe(store)

        def raced() -> Iterator[bytes]:
            Path(store.root, "b").write_bytes(b"theirs")
            yield b"mine"

        with pytest.raises(ObjectExists):
            store.put_if_absent("b", raced())

    in_child(partial(without, "linkat"), write)
    assert store.read("a/key") == b"first" and store.read("b") == b"theirs"
    assert what_is_left(Path(store.root)) == ["a/key", "b"]


def test_12_7_without_either_nothing_is_written(store: LocalStore) -> None:
    with pytest.raises(Refused, match="only where none is") as caught:
        in_child(partial(without, "linkat", "renameat2"), lambda: store.put_if_absent("a/key", [b"x"]))
    assert "hard links" in caught.value.hint
    assert what_is_left(Path(store.root)) == []


def test_12_8_a_killed_write_leaves_only_what_can_be_swept(store: LocalStore) -> None:
    script = (
        "import os, signal\n"
        "from bergung.stores.local import LocalStore\n"
        "def blocks():\n"
        "    yield b'x' * 5_000_000\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        f"LocalStore({store.root!r}).put_if_absent('a/torn', blocks())\n"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -9
    assert list(store.list("")) == []
    (left,) = what_is_left(Path(store.root))
    assert left.startswith("a/.bergung-") and left.endswith(".part")
    store.put_if_absent("a/torn", [b"whole"])
    written_at = LocalStore("/").head(f"{store.root}/{left}".lstrip("/")).modified_at
    assert store.sweep_partials(written_at) == ()
    assert store.sweep_partials(written_at + timedelta(microseconds=1)) == (left,)
    assert what_is_left(Path(store.root)) == ["a/torn"]


def test_12_9_a_vault_that_was_moved_opens_where_it_is_now(store: LocalStore, tmp_path: Path) -> None:
    store.put_if_absent("a/key", [b"x"])
    shutil.move(store.root, f"{tmp_path}-moved")
    assert LocalStore(f"{tmp_path}-moved").read("a/key") == b"x"
    os.rename(f"{tmp_path}-moved", tmp_path)
