"""The store of files where symbolic links lie."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bergung.errors import MissingObject, ObjectExists, Refused
from bergung.stores.local import LocalStore


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    store = LocalStore(tmp_path / "vault")
    store.put_if_absent("inside/key", [b"inside"])
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "key").write_bytes(b"outside")
    return store


def keys(store: LocalStore, prefix: str = "") -> list[str]:
    return [found.key for found in store.list(prefix)]


@pytest.mark.parametrize("deep", ["", "a/b/"])
def test_13_1_a_linked_folder_that_leads_out_is_refused(store: LocalStore, tmp_path: Path, deep: str) -> None:
    os.symlink(tmp_path / "outside", tmp_path / "vault" / "door")
    (tmp_path / "outside" / "a" / "b").mkdir(parents=True)
    calls: list[Callable[[], object]] = [
        lambda: store.put_if_absent(f"door/{deep}new", [b"x"]),
        lambda: store.read(f"door/{deep}key"),
        lambda: store.head(f"door/{deep}key"),
        lambda: store.delete(f"door/{deep}key"),
        lambda: store.make_durable([f"door/{deep}key"]),
        lambda: keys(store),
    ]
    for call in calls:
        with pytest.raises(Refused) as caught:
            call()
        assert "door" in caught.value.message
    assert sorted(os.listdir(tmp_path / "outside")) == ["a", "key"]
    assert keys(store, "inside/") == ["inside/key"]


def test_13_2_a_linked_file_that_leads_out_is_refused(store: LocalStore, tmp_path: Path) -> None:
    os.symlink(tmp_path / "outside" / "key", tmp_path / "vault" / "window")
    for call in (store.head, store.read, store.delete):
        with pytest.raises(Refused):
            call("window")
    with pytest.raises(Refused):
        keys(store, "window")
    with pytest.raises(ObjectExists):
        store.put_if_absent("window", [b"x"])
    assert (tmp_path / "outside" / "key").read_bytes() == b"outside"


def test_13_3_links_that_stay_inside_are_followed(store: LocalStore, tmp_path: Path) -> None:
    os.symlink("inside", tmp_path / "vault" / "same")
    os.symlink("inside/key", tmp_path / "vault" / "name")
    assert keys(store) == ["inside/key", "name", "same/key"]
    assert store.read("same/key") == store.read("name") == b"inside"
    store.put_if_absent("same/new", [b"x"])
    assert store.read("inside/new") == b"x"


def test_13_4_the_store_itself_may_be_a_link(store: LocalStore, tmp_path: Path) -> None:
    os.symlink(tmp_path / "vault", tmp_path / "alias")
    alias = LocalStore(tmp_path / "alias")
    alias.put_if_absent("by/alias", [b"x"])
    assert keys(alias) == keys(store) == ["by/alias", "inside/key"]
    assert alias.url.endswith("/alias")


def test_13_5_links_that_lead_nowhere_or_round_are_nothing(store: LocalStore, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    os.symlink("nowhere", vault / "dangling")
    os.symlink("self", vault / "self")
    os.symlink(".", vault / "here")
    os.symlink("..", vault / "inside" / "up")
    (vault / "other").mkdir()
    os.symlink("../inside", vault / "other" / "in")
    os.symlink("../other", vault / "inside" / "out")
    assert "inside/key" in keys(store) and "other/in/key" in keys(store)
    assert all(found.count("/") < 6 for found in keys(store))
    for key in ("dangling", "self"):
        with pytest.raises(MissingObject):
            store.head(key)
        with pytest.raises(ObjectExists):
            store.put_if_absent(key, (pytest.fail("a block was asked for") for _ in range(1)))


def test_13_6_the_root_of_the_machine_follows_every_link(store: LocalStore, tmp_path: Path) -> None:
    os.symlink(tmp_path / "outside", tmp_path / "vault" / "door")
    machine, base = LocalStore("/"), str(tmp_path).lstrip("/")
    assert machine.read(f"{base}/vault/door/key") == b"outside"
    assert keys(machine, f"{base}/vault/") == [f"{base}/vault/door/key", f"{base}/vault/inside/key"]


def test_13_7_a_link_that_is_new_is_seen_by_the_next_store(store: LocalStore, tmp_path: Path) -> None:
    os.rename(tmp_path / "vault" / "inside", tmp_path / "vault" / "was inside")
    os.symlink(tmp_path / "outside", tmp_path / "vault" / "inside")
    with pytest.raises(Refused):
        LocalStore(tmp_path / "vault").put_if_absent("inside/new", [b"x"])
