"""Others expire, drop and commit while a backup runs; and one table that fails never stops the others."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bergung.backup.run import BackupResult
from bergung.errors import BergungError, CorruptFile, MissingObject, Refused, UnsupportedTable
from tests.command import call
from tests.faults.lake import Lake, bytes_of, contents
from tests.stories.meddling import backup_while
from tests.stories.small_lake import SmallLake
from tests.stories.tables_at_risk import delete_files, half, overwrite, table_with_history
from tests.synthetic import Shape, SyntheticTable

GOOD = ("lake.sales.good", "lake.sales.other")


@pytest.fixture
def busy(tmp_path: Path) -> Lake:
    """Two tables that nobody touches."""
    lake = Lake(tmp_path)
    for name in ("good", "other"):
        table_with_history(lake, name)
    return lake


def _expired_to(lake: Lake, table: SyntheticTable) -> Callable[[], None]:
    """Compaction and expiry, as an engine does them: the pointer moves, then the files of old snapshots go."""

    def happen() -> None:
        before = set(table.reached)
        table.delete(table.live_paths()[:3])
        table.append(1)
        lake.publish(table)
        table.expire(1)
        lake.publish(table, snapshot=False)
        delete_files(lake, sorted(before - table.reached.keys()))

    return happen


def _others_are_whole(lake: Lake, result: BackupResult) -> None:
    tables = result.record.tables
    assert {name: tables[name].status for name in GOOD} == dict.fromkeys(GOOD, "complete")
    lake.drop("good", "other")
    assert lake.restore(words=GOOD).restored.done == GOOD


@pytest.mark.parametrize("part", ["snap-1001", "m.avro", "data/00001-"])
def test_what_expires_while_it_is_read_is_taken_later_and_whole(busy: Lake, part: str) -> None:
    """Before its first manifest list, before a manifest, before a data file is looked at."""
    hot = table_with_history(busy, "hot")
    result = backup_while(busy, f"hot/{part}" if "/" in part else _name_of(hot, part), _expired_to(busy, hot))
    entry = result.record.tables["lake.sales.hot"]
    assert (entry.status, entry.cut, entry.metadata_location) == ("complete", "later", hot.metadata_path)
    assert entry.missing.count == 0 and result.failed == {}
    cut = result.record.backup_metadata.cut
    assert (cut.exact, cut.clock, cut.later) == (2, 0, 1)
    wanted = bytes_of(hot)
    busy.drop("hot")
    busy.restore(words=("lake.sales.hot",))
    there = contents(busy.source, "hot/")
    assert {key: there.get(key) for key in wanted} == wanted
    _others_are_whole(busy, result)


def _name_of(table: SyntheticTable, part: str) -> str:
    return next(path for path in sorted(table.reached) if part in path).partition("//")[2].partition("/")[2]


def test_what_is_dropped_with_its_files_meanwhile_is_damaged_and_alone(busy: Lake) -> None:
    doomed = table_with_history(busy, "doomed")
    result = backup_while(busy, "doomed/data/", lambda: busy.drop("doomed"))
    entry = result.record.tables["lake.sales.doomed"]
    assert (entry.status, entry.cut, entry.metadata_location) == ("damaged", "exact", doomed.metadata_path)
    assert set(entry.missing.files) == set(doomed.live_paths())
    assert entry.missing.count == 4
    assert result.record.backup_metadata.status == "damaged"
    _others_are_whole(busy, result)
    assert busy.verify().damages == (), "what was lost before is no damage of the vault"


def test_a_commit_meanwhile_changes_nothing_of_the_point(busy: Lake) -> None:
    hot = table_with_history(busy, "hot")
    wanted, pointer = bytes_of(hot), hot.metadata_path

    def commit() -> None:
        hot.append(2)
        busy.publish(hot)

    result = backup_while(busy, "hot/data/", commit)
    entry = result.record.tables["lake.sales.hot"]
    assert (entry.status, entry.cut, entry.metadata_location) == ("complete", "exact", pointer)
    busy.drop("hot")
    busy.restore(words=("lake.sales.hot",))
    assert contents(busy.source, "hot/") == wanted


def _cut_metadata(lake: Lake) -> None:
    overwrite(lake, table_with_history(lake, "bad").metadata_path or "", half)


def _newer_format(lake: Lake) -> None:
    table_with_history(lake, "bad", Shape(more={"format-version": 4}))


def _list_outside(lake: Lake) -> None:
    more = {"metadata-log": [{"metadata-file": f"{lake.source.url}/good/metadata/x.json", "timestamp-ms": 1}]}
    table_with_history(lake, "bad", Shape(more=more))


def _data_outside(lake: Lake) -> None:
    table = table_with_history(lake, "bad")
    table.add_files([{"file_path": "file:///etc/hostname", "file_size_in_bytes": 1}])
    lake.publish(table)


def _manifest_outside(lake: Lake) -> None:
    table = table_with_history(lake, "bad")
    table.append(1)
    stolen = SyntheticTable(lake.folder / "stolen", Shape(location=f"{lake.source.url}/good"))
    stolen.append(1)
    table._manifests += stolen._manifests
    lake.publish(table)


def _gone_metadata(lake: Lake) -> None:
    delete_files(lake, [table_with_history(lake, "bad").metadata_path or ""])


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (_cut_metadata, CorruptFile),
        (_newer_format, UnsupportedTable),
        (_list_outside, Refused),
        (_manifest_outside, Refused),
        (_data_outside, Refused),
        (_gone_metadata, MissingObject),
    ],
)
def test_a_table_that_cannot_be_taken_fails_alone(busy: Lake, make: Callable[[Lake], None], error: type[BergungError]) -> None:
    make(busy)
    result = busy.backup()
    assert {name: type(each) for name, each in result.failed.items()} == {"lake.sales.bad": error}
    metadata = result.record.backup_metadata
    assert metadata.status == "partial"
    assert metadata.failed == {"lake.sales.bad": result.failed["lake.sales.bad"].message}
    assert "lake.sales.bad" not in result.record.tables
    _others_are_whole(busy, result)


@pytest.mark.parametrize("part", ["snap-1001.avro", "m.avro"])
def test_a_table_with_a_corrupt_file_is_damaged_alone(busy: Lake, part: str) -> None:
    """What is there is kept, bytes as they are: some other tool may make sense of them."""
    table = table_with_history(busy, "bad")
    path = next(path for path in sorted(table.reached) if part in path)
    broken = overwrite(busy, path, lambda content: content[:30] + b"junk" * (len(content) // 4))
    result = busy.backup()
    entry = result.record.tables["lake.sales.bad"]
    assert (entry.status, entry.missing.files, result.failed) == ("damaged", (path,), {})
    wanted = contents(busy.source, "bad/")
    busy.drop("bad")
    restored = busy.restore(words=("lake.sales.bad",)).restored
    there = contents(busy.source, "bad/")
    assert there[path.removeprefix(f"{busy.source.url}/")] == broken
    assert there.items() <= wanted.items()
    assert (restored.done, restored.damaged) == ((), ("lake.sales.bad",))
    _others_are_whole(busy, result)


def test_exit_codes_tell_damage_from_failure_and_damage_comes_first(lake: SmallLake) -> None:
    lake.make("sales", "good")
    bad, worse = lake.make("sales", "bad"), lake.make("sales", "worse")
    assert call("backup", "lake").code == 0
    Path(lake.pointer("sales", "bad").removeprefix("file://")).write_text("{")
    said = call("backup", "lake", "--json")
    assert (said.code, said.result["status"]) == (3, "partial")
    assert [each["table"] for each in said.result["failed"]] == ["lake.sales.bad"]
    lake.append(("sales", "worse"), [99])
    newest = max(lake.files("sales", "worse", kind="*.parquet"), key=lambda path: path.stat().st_mtime_ns)
    newest.unlink()
    said = call("backup", "lake", "--json")
    assert (said.code, said.result["status"]) == (5, "damaged")
    assert bad.name() != worse.name()
