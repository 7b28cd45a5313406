"""What is durable is there after a power cut: the image of a mounted disk is copied as it is, and the copy mounted."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bergung.errors import MissingObject
from bergung.stores.digest import digest_of
from bergung.stores.local import LocalStore

KEYS = [f"wave-{number % 5}/{number:02d}" for number in range(60)]


@contextmanager
def mounted(image: Path, folder: Path) -> Iterator[Path]:
    folder.mkdir()
    # Without a sync nothing is sent to this disk for minutes.
    run("mount", "-o", "loop,commit=300", image, folder)
    try:
        yield folder
    finally:
        run("umount", folder)


def run(*words: str | Path) -> None:
    subprocess.run(words, check=True, capture_output=True)


def survivors(tmp_path: Path, *, durable: bool) -> int:
    """How many of the objects are whole after the cut."""
    image, cut = tmp_path / "disk.img", tmp_path / "cut.img"
    with image.open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", image)
    with mounted(image, tmp_path / "before") as folder:
        os.sync()
        store = LocalStore(folder / "new" / "vault")
        digests = {}
        for key in KEYS:
            content = os.urandom(50_000)
            store.put_if_absent(key, [content])
            digests[key] = digest_of(content)
        if durable:
            store.make_durable(KEYS)
        shutil.copyfile(image, cut)
    with mounted(cut, tmp_path / "after") as folder:
        return sum(holds(LocalStore(folder / "new" / "vault"), key, digests[key]) for key in KEYS)


def holds(store: LocalStore, key: str, digest: str) -> bool:
    try:
        return digest_of(store.read(key)) == digest
    except MissingObject:
        return False


@pytest.mark.nightly
def test_15_1_what_was_made_durable_outlives_a_power_cut(tmp_path: Path) -> None:
    """Needs root, for the mounts."""
    assert survivors(tmp_path, durable=True) == len(KEYS)


@pytest.mark.nightly
def test_15_2_what_was_not_may_be_lost_so_the_test_above_can_fail(tmp_path: Path) -> None:
    """Needs root, for the mounts."""
    assert survivors(tmp_path, durable=False) < len(KEYS)
