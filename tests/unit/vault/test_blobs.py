"""Blobs: under their own path where that can be, beside it where not, never over others, never twice."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from bergung.errors import DamageFound, StoreError
from bergung.stores.base import Store
from bergung.stores.digest import digest_of
from bergung.stores.local import LocalStore
from bergung.stores.memory import MemoryStore
from bergung.vault.blobs import Kept, blocks_of, keep, version_with
from bergung.vault.layout import beside_key
from tests.faults.faulty_store import FaultPlan, FaultyStore

LOCATION, FOLDER = "s3://lake/t", "tables/t-12345678/"
PATH = f"{LOCATION}/data/a.parquet"
CONTENT = b"what the table has"
BESIDE = beside_key(PATH, digest_of(CONTENT))


@pytest.fixture(params=["files", "memory"])
def vault(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return LocalStore(tmp_path) if request.param == "files" else MemoryStore(uuid.uuid4().hex)


def kept(vault: Store, content: bytes = CONTENT, path: str = PATH) -> Kept:
    return keep(vault, FOLDER, (LOCATION, path), lambda: iter([content[:5], content[5:]]))


def test_it_lies_under_its_own_path(vault: Store) -> None:
    assert kept(vault) == Kept("files/data/a.parquet", digest_of(CONTENT), len(CONTENT), True)
    assert vault.read(FOLDER + "files/data/a.parquet") == CONTENT


def test_the_same_bytes_again_are_found_there(vault: Store) -> None:
    kept(vault)
    assert kept(vault) == Kept("files/data/a.parquet", digest_of(CONTENT), len(CONTENT), False)
    assert len(list(vault.list(""))) == 1


def test_other_bytes_under_one_path_go_beside(vault: Store) -> None:
    kept(vault, b"older")
    found = kept(vault)
    assert found == Kept(BESIDE, digest_of(CONTENT), len(CONTENT), True)
    assert vault.read(FOLDER + "files/data/a.parquet") == b"older"
    assert vault.read(FOLDER + BESIDE) == CONTENT
    assert kept(vault) == Kept(BESIDE, digest_of(CONTENT), len(CONTENT), False)
    assert kept(vault, b"older").blob_key == "files/data/a.parquet"


def test_junk_that_somebody_put_there_before_us_stops_nobody(vault: Store) -> None:
    for number, key in enumerate(["files/data/a.parquet", BESIDE, f"{BESIDE}-1", f"{BESIDE}-2"]):
        vault.put_if_absent(FOLDER + key, [b"junk %d" % number])
    assert kept(vault) == Kept(f"{BESIDE}-3", digest_of(CONTENT), len(CONTENT), True)
    assert kept(vault) == Kept(f"{BESIDE}-3", digest_of(CONTENT), len(CONTENT), False)
    assert vault.read(FOLDER + BESIDE) == b"junk 1"


def test_a_file_beside_a_folder_of_its_name(tmp_path: Path) -> None:
    vault = LocalStore(tmp_path)
    kept(vault, b"below", f"{LOCATION}/x/y")
    found = kept(vault, CONTENT, f"{LOCATION}/x")
    assert found.blob_key == beside_key(f"{LOCATION}/x", digest_of(CONTENT))
    kept(vault, b"z", f"{LOCATION}/z")
    assert kept(vault, CONTENT, f"{LOCATION}/z/1").blob_key == beside_key(f"{LOCATION}/z/1", digest_of(CONTENT))
    assert [vault.read(FOLDER + name) for name in ("files/x/y", "files/z")] == [b"below", b"z"]


@pytest.mark.parametrize(
    ("path", "key"),
    [
        (f"{LOCATION}/data/p=a%2Fb/c d,+.parquet", "files/data/p=a%2Fb/c d,+.parquet"),
        ("s3a://lake/t/data/a", "files/data/a"),
        ("s3://lake/tt/a", "elsewhere/s3/lake/tt/a"),
        ("file:/data/a", "elsewhere/file/-/data/a"),
        (f"{LOCATION}/data//a", None),
        (f"{LOCATION}/data/../a", None),
        (f"{LOCATION}/./a", None),
        (f"{LOCATION}/a\tb", None),
        (f"{LOCATION}/a\x7fb", None),
        (f"{LOCATION}/{'ü' * 128}", None),
        (f"{LOCATION}/{'ü' * 127}", f"files/{'ü' * 127}"),
        (f"{LOCATION}/.bergung-a", None),
        (f"{LOCATION}/a/.bergung-a/b", None),
        (f"{LOCATION}/{'d/' * 397}", None),
        (f"{LOCATION}/{'d/' * 396}ab", f"files/{'d/' * 396}ab"),
        (f"{LOCATION}/{'d/' * 396}abc", None),
    ],
)
def test_keys(vault: Store, path: str, key: str | None) -> None:
    """As the page says ("Keys"): letter for letter, or beside."""
    found = kept(vault, path=path)
    assert found.blob_key == (key or beside_key(path))
    assert b"".join(blocks_of(vault, FOLDER + found.blob_key, found.digest)) == CONTENT


def test_a_source_that_fails_leaves_nothing(vault: Store) -> None:
    def broken() -> Iterator[bytes]:
        yield b"half"
        raise StoreError("the source failed")

    with pytest.raises(StoreError, match="the source failed"):
        keep(vault, FOLDER, (LOCATION, PATH), broken)
    assert list(vault.list("")) == []


def test_an_answer_that_was_lost_is_no_second_copy(vault: Store) -> None:
    plan = FaultPlan()
    plan.after("put_if_absent")
    with pytest.raises(StoreError):
        kept(FaultyStore(vault, plan))
    assert kept(vault).is_new is False
    assert len(list(vault.list(""))) == 1


def test_other_bytes_are_told_after_the_last_block(vault: Store) -> None:
    found = kept(vault)
    with pytest.raises(DamageFound):
        list(blocks_of(vault, FOLDER + found.blob_key, digest_of(b"other")))


def test_r8_an_older_version_has_the_bytes() -> None:
    vault = MemoryStore(uuid.uuid4().hex, versioned=True)
    found = kept(vault)
    key = FOLDER + found.blob_key
    vault.overwrite(key, b"junk")
    vault.put_marker(key)
    vault.overwrite(f"{key}-and-more", CONTENT)
    assert vault.read(key, version=version_with(vault, key, found.digest)) == CONTENT
    with pytest.raises(DamageFound):
        version_with(vault, key, digest_of(b"other"))
    assert kept(vault).is_new is True, "a hidden blob is stored again, over the marker"
    vault.overwrite(key, b"junk")
    assert kept(vault).is_new is False, "one that junk lies over is found below it"
