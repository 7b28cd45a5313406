"""One file of a table into the vault: all of one version, whatever happens to it meanwhile; failures told apart."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bergung.carry.job import Job, TableJob
from bergung.carry.keeping import TRIES, keep_file
from bergung.carry.rows import LISTED, Row, error_of
from bergung.errors import NotAllowed, SourceChanged, StoreFull
from bergung.stores.access import Access
from bergung.stores.base import Store
from bergung.stores.digest import digest_of
from bergung.stores.local import LocalStore
from bergung.vault.receipts import HELD, MISSING
from tests.faults.counting_store import CountingStore, Counts
from tests.faults.faulty_store import FaultPlan, FaultyStore

FILE_BYTES = 600_000
"""More than one block of a disk."""

FOLDER, KEY = "tables/t/", "tables/t/files/data/a.parquet"


class Meddled(LocalStore):
    """A disk on which somebody changes a file after its first block was read, or after its last."""

    def __init__(self, root: Path | str, meddle: Callable[[bool], None]) -> None:
        super().__init__(root)
        self.meddle = meddle

    def blocks(self, key: str, **how: Any) -> Iterator[bytes]:
        found = super().blocks(key, **how)
        yield next(found)
        self.meddle(False)
        yield from found
        self.meddle(True)


@dataclass
class Ground:
    folder: Path
    changes: int = 0
    """So often more the file is written anew when it is read."""
    at_the_end: bool = False

    def __post_init__(self) -> None:
        self.vault = LocalStore(self.folder / "vault")
        self.file = self.folder / "t" / "data" / "a.parquet"
        self.file.parent.mkdir(parents=True)
        self.write(b"a")
        self.number = 0

    def write(self, letter: bytes) -> None:
        # Another length each time: within one tick of the clock nothing else tells.
        self.file.write_bytes(letter * (FILE_BYTES + ord(letter)))

    def meddle(self, is_end: bool) -> None:
        if self.changes and is_end == self.at_the_end:
            self.changes -= 1
            self.number += 1
            self.write(bytes([ord("a") + self.number]))

    def open(self, url: str, access: tuple[Access, ...] = ()) -> Store:
        return self.vault if url == self.vault.url else Meddled("/", self.meddle)

    def kept(self, **row: object) -> Row:
        job = Job(self.vault.url, "run", {0: TableJob("t", FOLDER, f"file://{self.folder}/t")}, open=self.open)
        named = {"table": 0, "path": f"file://{self.file}", "kind": "data", **row}
        return keep_file(job, [{**dict.fromkeys(LISTED.names), **named}]).rows[0]


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


def is_of_one_version(ground: Ground, row: Row) -> None:
    content = ground.file.read_bytes()
    source = LocalStore("/").head(str(ground.file).lstrip("/"))
    assert (row["state"], row["digest"], row["size_bytes"]) == (HELD, digest_of(content), len(content))
    assert row["source_version"] == source.version
    assert ground.vault.read(FOLDER + row["blob_key"]) == content


@pytest.mark.parametrize("changes", range(TRIES))
def test_what_changes_while_it_is_read_is_read_again(ground: Ground, changes: int) -> None:
    ground.changes = changes
    is_of_one_version(ground, ground.kept())
    assert [stat.key for stat in ground.vault.list("")] == [KEY]


def test_what_never_keeps_still_is_an_error_of_its_table_and_leaves_nothing(ground: Ground) -> None:
    ground.changes = 1000
    row = ground.kept()
    assert isinstance(error_of(row["error"]), SourceChanged) and row["state"] is None
    assert list(ground.vault.list("")) == []


@pytest.mark.parametrize("at_the_end", [False, True])
@pytest.mark.parametrize("changes", range(TRIES))
def test_what_changes_between_two_readings_is_not_mixed(ground: Ground, changes: int, at_the_end: bool) -> None:
    """Its key is taken by others: so it is read once to be compared and once to be stored."""
    ground.vault.put_if_absent(KEY, [b"junk"])
    ground.changes, ground.at_the_end = changes, at_the_end
    row = ground.kept()
    is_of_one_version(ground, row)
    assert "beside/" in row["blob_key"] and ground.vault.read(KEY) == b"junk"


def test_what_is_gone_is_missing(ground: Ground) -> None:
    ground.file.unlink()
    row = ground.kept()
    assert (row["state"], row["error"]) == (MISSING, None)


def test_a_source_that_cannot_be_read_is_no_failure_of_the_vault(ground: Ground) -> None:
    plan = FaultPlan()
    plan.before("blocks", error=lambda: NotAllowed("closed"))
    meddled, ground.open = ground.open, lambda url, access=(): FaultyStore(meddled(url, access), plan)  # type: ignore[method-assign]
    assert isinstance(error_of(ground.kept()["error"]), NotAllowed)
    plan.before("put_if_absent", error=lambda: StoreFull("full"))
    with pytest.raises(StoreFull):
        ground.kept()
    plan.assert_all_fired()


def test_what_an_earlier_run_stored_of_that_version_is_not_read_again(ground: Ground) -> None:
    before = ground.kept()
    counts = Counts()
    opened, ground.open = ground.open, lambda url, access=(): CountingStore(opened(url, access), counts)  # type: ignore[method-assign]
    known = {name: before[name] for name in ("digest", "size_bytes", "blob_key", "source_version")}
    assert ground.kept(**known)["digest"] == before["digest"]
    assert sorted(call.operation for call in counts.made) == ["head", "head"]
    ground.write(b"z")
    is_of_one_version(ground, ground.kept(**known))
