"""A table that has lost files already is backed up as far as it goes, and the point says what is not in it."""

import shutil
from pathlib import Path

import pytest

from bergung.model.record import Missing
from bergung.restore.run import RestoreResult
from tests.command import call
from tests.faults.lake import Lake, bytes_of, contents
from tests.stories.small_lake import SmallLake
from tests.stories.tables_at_risk import (
    blobs,
    delete_files,
    entry_of,
    half,
    key_of,
    overwrite,
    pointer,
    states,
    table_with_history,
)
from tests.synthetic import Shape, SyntheticTable


@pytest.fixture
def memory(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def _lost_and_restored(lake: Lake) -> RestoreResult:
    lake.drop("orders")
    result = lake.restore()
    assert result.restored is not None and result.restored.failed == {}
    return result


def _restored_damaged(lake: Lake, table: SyntheticTable, wanted: dict[str, bytes]) -> RestoreResult:
    """What the point holds is back, the catalog knows the table, and nobody is told that it is whole."""
    result = _lost_and_restored(lake)
    assert contents(lake.source) == wanted
    assert pointer(lake, "orders") == table.metadata_path
    assert (result.restored.done, result.restored.damaged) == ((), ("lake.sales.orders",))
    assert lake.verify().damages == (), "the vault has lost nothing"
    return result


def test_lost_statistics_are_noted_and_harm_nothing(memory: Lake) -> None:
    table = table_with_history(memory)
    table.add_statistics()
    memory.publish(table, snapshot=False)
    gone = [path for path, kind in table.reached.items() if kind in ("statistics", "partition_statistics")]
    delete_files(memory, gone)
    record = memory.backup().record
    entry = entry_of(memory)
    assert (record.backup_metadata.status, entry.status, entry.missing) == ("complete", "complete", Missing())
    assert sorted(entry.noted) == sorted(gone)
    assert {states(memory)[path] for path in gone} == {"missing"}
    wanted = contents(memory.source)
    result = _lost_and_restored(memory)
    assert result.restored.done == ("lake.sales.orders",)
    assert (result.plan.tables[0].lost.files, result.plan.named) == (0, ())
    assert contents(memory.source) == wanted


def test_an_older_metadata_file_that_is_gone_has_no_row(memory: Lake) -> None:
    table = table_with_history(memory)
    gone = table.metadata_log[0]["metadata-file"]
    delete_files(memory, [gone])
    assert memory.backup().record.backup_metadata.status == "complete"
    assert (entry_of(memory).missing, entry_of(memory).noted) == (Missing(), ())
    assert states(memory).keys() == {*table.reached, table.metadata_path} - {gone}
    assert _lost_and_restored(memory).restored.done == ("lake.sales.orders",)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_lost_data_file_is_named(memory: Lake, version: int) -> None:
    table = table_with_history(memory, shape=Shape(format_version=version))
    gone = table.live_paths()[1]
    delete_files(memory, [gone])
    assert memory.backup().record.backup_metadata.status == "damaged"
    assert (entry_of(memory).status, entry_of(memory).missing) == ("damaged", Missing(1, (gone,)))
    found = states(memory)
    assert found[gone] == "missing"
    assert {path for path, state in found.items() if state == "damaged"} == _above(table, gone)
    result = _restored_damaged(memory, table, contents(memory.source))
    assert (result.plan.tables[0].lost.files, result.plan.named) == (1, (gone,))


def _above(table: SyntheticTable, path: str) -> set[str]:
    """Manifests and manifest lists that reach a file."""
    manifests = {
        manifest.path: {
            snapshot["manifest-list"] for snapshot in table.snapshots if manifest in table._of_snapshot[snapshot["snapshot-id"]]
        }
        for manifest in table._manifests
        if any(entry["data_file"]["file_path"] == path for entry in manifest.live())
    }
    return {*manifests, *set().union(*manifests.values())}


def test_a_truncated_data_file_is_damage_and_what_is_there_is_kept(memory: Lake) -> None:
    table = table_with_history(memory)
    cut = table.live_paths()[0]
    rest = overwrite(memory, cut, half)
    memory.backup()
    assert entry_of(memory).missing == Missing(1, (cut,))
    assert states(memory)[cut] == "damaged"
    _restored_damaged(memory, table, contents(memory.source))
    assert memory.source.read(key_of(memory, cut)) == rest


@pytest.mark.parametrize("part", ["snap-1001.avro", "snap-1002.avro", "m.avro"])
@pytest.mark.parametrize("version", [1, 3])
def test_a_lost_manifest_or_manifest_list_is_named_and_the_rest_is_kept(memory: Lake, part: str, version: int) -> None:
    table = table_with_history(memory, shape=Shape(format_version=version))
    gone = next(path for path in sorted(table.reached) if path.endswith(part))
    delete_files(memory, [gone])
    memory.backup()
    assert (entry_of(memory).status, entry_of(memory).missing) == ("damaged", Missing(1, (gone,)))
    held = {path for path, state in states(memory).items() if state != "missing"}
    there = {key: content for key, content in contents(memory.source).items() if f"{memory.source.url}/{key}" in held}
    result = _restored_damaged(memory, table, there)
    assert result.plan.named == (gone,)


def test_a_lost_manifest_of_a_table_without_manifest_lists(memory: Lake) -> None:
    table = table_with_history(memory, shape=Shape(format_version=1, embedded_manifests=True))
    gone = next(path for path in sorted(table.reached) if path.endswith("m.avro"))
    delete_files(memory, [gone])
    memory.backup()
    assert (entry_of(memory).status, entry_of(memory).missing) == ("damaged", Missing(1, (gone,)))


def _lose(lake: Lake, table: SyntheticTable, part: str) -> str:
    gone = next(path for path in sorted(table.reached) if part in path)
    delete_files(lake, [gone])
    return gone


@pytest.mark.parametrize("part", ["/data/", "m.avro", "snap-1001.avro"])
@pytest.mark.parametrize("moved_on", [False, True])
def test_when_the_file_came_back_the_next_point_is_whole_again(memory: Lake, part: str, moved_on: bool) -> None:
    table = table_with_history(memory)
    gone = _lose(memory, table, part)
    damaged = memory.backup().run
    assert entry_of(memory).status == "damaged"
    if moved_on:
        table.append(1)
        memory.publish(table)
    else:
        memory.upload(table)
    result = memory.backup()
    assert (entry_of(memory).status, result.record.backup_metadata.status) == ("complete", "complete")
    assert set(states(memory).values()) == {"held"}
    assert entry_of(memory, point=damaged).missing.files == (gone,), "no older point is ever changed"
    wanted = bytes_of(table)
    memory.drop("orders")
    assert memory.restore().restored.done == ("lake.sales.orders",)
    assert contents(memory.source) == wanted


def test_a_file_that_came_back_whole_lies_beside_the_part_that_was_kept(memory: Lake) -> None:
    table = table_with_history(memory)
    wanted, cut = bytes_of(table), table.live_paths()[0]
    rest = overwrite(memory, cut, half)
    damaged = memory.backup().run
    before = blobs(memory)
    memory.source.overwrite(key_of(memory, cut), wanted[key_of(memory, cut)])
    memory.backup()
    (beside,) = blobs(memory) - before
    assert "/beside/" in beside
    memory.drop("orders")
    memory.restore()
    assert contents(memory.source) == wanted
    memory.drop("orders")
    memory.restore(damaged)
    assert contents(memory.source) == {**wanted, key_of(memory, cut): rest}


def test_on_the_command_line_statistics_are_a_word_and_data_is_an_exit_code(lake: SmallLake) -> None:
    whole, holed = SyntheticTable(lake.folder / "whole"), SyntheticTable(lake.folder / "holed")
    for table in (whole, holed):
        table.append(2)
        table.commit()
        table.add_statistics()
        table.commit(snapshot=False)
        lake.adopt(f"sales.{table.folder.name}", table)
    for path, kind in whole.reached.items():
        if kind.endswith("statistics"):
            whole.local(path).unlink()
    said = call("backup", "lake.sales.whole")
    assert (said.code, said.err) == (0, "")
    assert "lake.sales.whole has lost 2 files of statistics or older metadata" in said.out
    gone = holed.live_paths()[0]
    holed.local(gone).unlink()
    said = call("backup", "lake")
    assert said.code == 5 and gone in said.out
    for table in (whole, holed):
        shutil.rmtree(table.folder)
        lake.catalog.drop_table(("sales", table.folder.name))
    assert call("restore", "lake.sales.whole").code == 0
    said = call("restore", "lake.sales.holed", "--json")
    assert (said.code, said.result["status"], said.result["damaged"]) == (5, "damaged", ["lake.sales.holed"])
