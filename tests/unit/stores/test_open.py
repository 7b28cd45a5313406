"""From addresses to stores, and from paths as Iceberg writes them to keys."""

import pickle
from pathlib import Path

import pytest

from bergung.errors import UsageError
from bergung.stores.access import Access
from bergung.stores.base import Store
from bergung.stores.local import LocalStore
from bergung.stores.memory import MemoryStore
from bergung.stores.open import Stores, open_path, open_store
from bergung.stores.s3.store import S3Store


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("file:///a/b", "file:///a/b"),
        ("file:/a/b", "file:///a/b"),
        ("file:////a//b/", "file:///a/b"),
        ("/a/b/", "file:///a/b"),
        ("//a/b", "file:///a/b"),
        ("/a/./c/../b", "file:///a/b"),
        ("file:///", "file:///"),
        ("/", "file:///"),
        ("file:///a b/%20+,#x?y", "file:///a b/%20+,#x?y"),
        ("/ünïcode/日本", "file:///ünïcode/日本"),
    ],
)
def test_local_addresses(address: str, url: str) -> None:
    store = open_store(address)
    assert isinstance(store, LocalStore) and store.url == url
    assert open_store(store.url).url == url


@pytest.mark.parametrize("address", ["vault", "./vault", "x/../vault", "with:colon"])
def test_a_relative_folder_is_that_of_the_working_folder(address: str) -> None:
    name = address.rpartition("/")[2]
    assert open_store(address).url == f"file://{Path.cwd()}/{name}"


@pytest.mark.parametrize("address", ["s3://", "s3:///x", "gs://bucket", "hdfs://n:1/x", "memory://nobody made this", ""])
def test_an_address_of_no_store_says_what_can_be_written(address: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_store(address)
    assert "file:///" in caught.value.hint or "s3://bucket" in caught.value.hint


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("s3://bucket", "s3://bucket"),
        ("s3://bucket/", "s3://bucket"),
        ("S3A://bucket/a b/%20/", "s3://bucket/a b/%20"),
        ("s3n://bucket/a//b", "s3://bucket/a//b"),
    ],
)
def test_addresses_of_buckets(address: str, url: str) -> None:
    known = (Access("s3://bucket/", key_id="mine"),)
    store = Stores(known)(address, (Access("s3://lent/"),))
    assert isinstance(store, S3Store) and store.url == url
    carried = pickle.loads(pickle.dumps(store))
    assert (carried.url, carried.accesses) == (url, (*known, Access("s3://lent/")))


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("s3://bucket/a/b", "a/b"),
        ("s3a://bucket/a//b/%20c/..", "a//b/%20c/.."),
        ("s3n://bucket//a", "/a"),
    ],
)
def test_a_path_in_a_bucket_keeps_its_key_as_written(path: str, key: str) -> None:
    store, found = open_path(path)
    assert (store.url, found) == ("s3://bucket", key)


@pytest.mark.parametrize("address", ["file://host/share", "file://relative/path"])
def test_a_file_address_with_a_machine_is_refused(address: str) -> None:
    for opening in (open_store, open_path):
        with pytest.raises(UsageError) as caught:
            opening(address)
        assert f"file:///{address.removeprefix('file://')}" in caught.value.hint


def test_a_memory_store_is_found_by_its_url_and_the_newest_of_a_name_counts() -> None:
    first = MemoryStore("twice")
    assert open_store("memory://twice") is first
    second = MemoryStore("twice")
    assert open_store("memory://twice") is second


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("file:/a/b", "a/b"),
        ("file:///a/b", "a/b"),
        ("/a/b", "a/b"),
        ("//a///b", "a/b"),
        ("file:////a//b", "a/b"),
        ("file:/lake/x=%2F%20/a+b, c#d?e.parquet", "lake/x=%2F%20/a+b, c#d?e.parquet"),
        ("/ünïcode/日本.avro", "ünïcode/日本.avro"),
        ("/a/s3://b", "a/s3:/b"),
        ("/a/../b", "a/../b"),
    ],
)
def test_a_local_path_is_a_key_below_the_root_of_the_machine(path: str, key: str) -> None:
    store, found = open_path(path)
    assert (store.url, found) == ("file:///", key)


def test_a_path_is_read_where_it_lies(tmp_path: Path) -> None:
    odd = tmp_path / "a b%20" / "c#d?e+f,g.bin"
    odd.parent.mkdir()
    odd.write_bytes(b"bytes")
    for path in (f"file:{odd}", f"file://{odd}", str(odd), f"{odd.parent}//{odd.name}"):
        store, key = open_path(path)
        assert store.read(key) == b"bytes"


def test_a_path_in_memory_keeps_its_key_as_written() -> None:
    kept = MemoryStore("lake")
    store, key = open_path("memory://lake/a//b/%20c/")
    assert store is kept and key == "a//b/%20c/"


@pytest.mark.parametrize("path", ["a/b", "", "gs://bucket/key", "s3:///key", "./x"])
def test_a_path_of_no_store_is_refused(path: str) -> None:
    with pytest.raises(UsageError):
        open_path(path)


def test_a_path_is_opened_with_what_was_handed_down() -> None:
    asked: list[tuple[str, tuple[Access, ...]]] = []
    lent = (Access("s3://lent/"),)

    def opening(url: str, access: tuple[Access, ...] = ()) -> Store:
        asked.append((url, access))
        return open_store(url, access)

    open_path("file:/a/b", opening)
    MemoryStore("handed")
    open_path("memory://handed/a", opening, lent)
    assert asked == [("file:///", ()), ("memory://handed", lent)]


def test_what_the_user_wrote_counts_before_what_is_lent() -> None:
    own = Access("s3://lake/", key_id="mine")
    below, beside = Access("s3://lake/sales/orders/", key_id="lent"), Access("s3://other/", key_id="lent")
    every = Access("s3://", key_id="lent")
    stores = Stores((own,))
    assert stores.lent((below, beside, every)) == (own, beside, every)
    carried: Stores = pickle.loads(pickle.dumps(stores))
    assert carried.lent((beside,)) == (own, beside)
