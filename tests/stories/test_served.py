"""A catalog that gives out metadata itself: what engines get from it is what comes back, whatever its file says."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from bergung.backup.request import BackupRequest
from bergung.backup.run import BackupResult, run_backup
from bergung.catalogs.base import Catalog, Pointer
from bergung.catalogs.select import select_tables
from bergung.model.names import TableName
from tests.faults.lake import Lake, contents
from tests.stories.tables_at_risk import entry_of
from tests.synthetic import SyntheticTable


@dataclass
class Serving:
    """A real catalog whose pointers carry metadata, and no file's name when told so."""

    inner: Catalog
    served: bytes
    names_a_file: bool = True
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = self.inner.name

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def locate(self, table: TableName) -> Pointer:
        found = self.inner.locate(table)
        return replace(found, served=self.served, metadata_location=found.metadata_location if self.names_a_file else "")

    def locate_all(self, tables: list[TableName]) -> dict[TableName, Pointer]:
        return {table: self.locate(table) for table in tables}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


@pytest.fixture
def table(lake: Lake) -> SyntheticTable:
    table = lake.table("orders")
    for _ in range(3):
        table.append(2)
        lake.publish(table)
    return table


def metadata_of(table: SyntheticTable) -> dict[str, Any]:
    assert table.metadata_path is not None
    return dict(json.loads(table.local(table.metadata_path).read_text()))


def backup(lake: Lake, catalog: Serving) -> BackupResult:
    selected = select_tables(["lake"], [], lambda _: catalog)
    return run_backup(lake.effects(), lake.vault(), BackupRequest(("lake",)), selected)


def test_metadata_that_says_the_same_in_other_letters_changes_nothing(lake: Lake, table: SyntheticTable) -> None:
    served = json.dumps(metadata_of(table), indent=7).encode()
    backup(lake, Serving(lake.catalog(), served))
    entry = entry_of(lake)
    assert (entry.served, entry.metadata_location) == (None, table.metadata_path)


def test_of_two_that_differ_what_engines_get_is_captured_and_the_file_beside_it(lake: Lake, table: SyntheticTable) -> None:
    shorter = metadata_of(table)
    gone = shorter["snapshots"].pop(0)["snapshot-id"]
    shorter["snapshot-log"] = [each for each in shorter["snapshot-log"] if each["snapshot-id"] != gone]
    served = json.dumps(shorter).encode()
    catalog = Serving(lake.catalog(), served)
    assert backup(lake, catalog).record.backup_metadata.status == "complete"
    entry = entry_of(lake)
    assert entry.served == "differs" and entry.metadata_location.startswith(f"{table.location}/metadata/")
    assert entry.metadata_location.endswith(".served.metadata.json")
    paths = {path for _, path in lake.reached()}
    assert table.metadata_path in paths, "the file that the catalog names is kept as well"
    assert not entry_changed(backup(lake, catalog)), "what is given out again in the same letters is the same state"
    assert lake.verify().damages == ()

    lake.drop("orders")
    lake.restore()
    pointer = lake.catalog().locate(TableName("lake", ("sales",), "orders")).metadata_location
    assert pointer == entry.metadata_location
    assert contents(lake.source)[pointer.split("/", 3)[3]] == served


@pytest.mark.parametrize("reason", ["no file is named", "the file is gone"])
def test_without_a_file_what_is_given_out_becomes_one(lake: Lake, table: SyntheticTable, reason: str) -> None:
    served = json.dumps(metadata_of(table)).encode()
    assert table.metadata_path is not None
    if reason == "the file is gone":
        lake.source.delete(table.metadata_path.split("/", 3)[3])
    backup(lake, Serving(lake.catalog(), served, names_a_file=reason == "the file is gone"))
    entry = entry_of(lake)
    assert entry.served == ("only" if reason == "no file is named" else "differs")
    assert entry.status == "complete"
    lake.drop("orders")
    lake.restore()
    pointer = lake.catalog().locate(TableName("lake", ("sales",), "orders")).metadata_location
    assert contents(lake.source)[pointer.split("/", 3)[3]] == served


def entry_changed(result: BackupResult) -> bool:
    return next(iter(result.record.tables.values())).changed
