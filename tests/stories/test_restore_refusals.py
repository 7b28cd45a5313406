"""A restore that must not go on changes nothing: every file, the catalog and the vault are as before."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bergung.backup.request import BackupRequest
from bergung.clock import SystemClock
from bergung.errors import BergungError, Refused, SourceChanged
from bergung.model.record import Record
from bergung.vault.journal import begin
from bergung.vault.seal import seal
from bergung.vault.vault import read_state
from tests.faults.counting_store import Counts, counting_open
from tests.faults.lake import Lake, contents
from tests.stories.tables_at_risk import delete_files, key_of, overwrite, pointer, table_with_history, world
from tests.synthetic import Shape, SyntheticTable


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def _refused(lake: Lake, error: type[BergungError], match: str, **words: object) -> BergungError:
    before = world(lake)
    with pytest.raises(error, match=match) as caught:
        lake.restore(**words)  # type: ignore[arg-type]
    assert world(lake) == before
    return caught.value


def test_a_living_table_with_another_state(lake: Lake) -> None:
    table = table_with_history(lake)
    point, old = lake.backup().run, table.metadata_path
    table.append(1)
    new = lake.publish(table)
    error = _refused(lake, Refused, "lake.sales.orders is in the catalog with another state")
    assert error.exit_code == 14 and "--confirm=" in error.hint
    assert pointer(lake, "orders") == new
    there = contents(lake.source)
    token = error.hint.rpartition("=")[2]
    assert lake.restore(point, over=True, confirmed_plan=token).restored.done == ("lake.sales.orders",)
    assert pointer(lake, "orders") == old
    assert contents(lake.source) == there, "the files of the newer state are left where they are"


def test_a_file_with_other_bytes_of_the_same_length(lake: Lake) -> None:
    table = table_with_history(lake)
    lake.backup()
    path = table.live_paths()[0]
    wanted = lake.source.read(key_of(lake, path))
    overwrite(lake, path, lambda content: bytes(len(content)))
    error = _refused(lake, Refused, "there with other bytes: 1 file of lake.sales.orders")
    assert error.exit_code == 14
    lake.restore(over=True)
    assert lake.source.read(key_of(lake, path)) == wanted


@pytest.mark.parametrize("lost", ["gone", "other bytes"])
def test_a_file_is_not_given_up_for_bytes_that_the_vault_has_lost(lake: Lake, lost: str) -> None:
    """What lies there is no good, but all that there is."""
    table = table_with_history(lake)
    lake.backup()
    path = table.live_paths()[0]
    other = overwrite(lake, path, lambda content: bytes(len(content)))
    (blob,) = (stat.key for stat in lake.store.list("tables/") if stat.key.endswith(path.rpartition("/")[2]))
    if lost == "gone":
        lake.store.delete(blob)
    else:
        lake.store.overwrite(blob, b"junk")
    assert lake.restore(over=True).restored.damaged == ("lake.sales.orders",)
    assert lake.source.read(key_of(lake, path)) == other


@pytest.mark.parametrize("also", [(), ("lake.sales.items",)])
def test_one_table_that_needs_the_word_stops_all_that_were_named(lake: Lake, also: tuple[str, ...]) -> None:
    table, _ = table_with_history(lake), table_with_history(lake, "items")
    lake.backup()
    table.append(1)
    lake.publish(table)
    lake.drop("items")
    _refused(lake, Refused, "another state", words=("lake.sales.orders", *also))


def test_the_word_for_another_plan(lake: Lake) -> None:
    table = table_with_history(lake)
    lake.backup()
    table.append(1)
    lake.publish(table)
    token = lake.restore(dry_run=True).token
    overwrite(lake, table.live_paths()[0], lambda content: bytes(len(content)))
    error = _refused(lake, SourceChanged, f"plan {token} does not fit any more", over=True, confirmed_plan=token)
    assert error.exit_code == 20
    again = lake.restore(dry_run=True).token
    assert again != token
    assert lake.restore(over=True, confirmed_plan=again).restored.done == ("lake.sales.orders",)


def test_the_word_for_a_plan_that_needs_none_any_more(lake: Lake) -> None:
    """Somebody put it right meanwhile: the plan is another one all the same."""
    table = table_with_history(lake)
    lake.backup()
    held = table.metadata_path or ""
    table.append(1)
    lake.publish(table)
    token = lake.restore(dry_run=True).token
    lake.point("orders", held)
    _refused(lake, SourceChanged, "does not fit any more", over=True, confirmed_plan=token)


def _outside(lake: Lake) -> str:
    """A table with a file in another place, which its owner allowed at the backup."""
    table = table_with_history(lake)
    other = SyntheticTable(lake.folder / "far", Shape(location=f"{lake.source.url}/far"))
    path, size = other.files.write("data/far.parquet", b"far away")
    lake.upload(other)
    table.add_files([{"file_path": path, "file_size_in_bytes": size}])
    lake.publish(table)
    request = BackupRequest(("lake",), allow_prefixes=(other.location,))
    assert lake.backup(request=request).record.backup_metadata.status == "complete"
    lake.drop("orders")
    delete_files(lake, [path])
    return path


def test_a_file_outside_the_tables_own_folders_needs_to_be_allowed_again(lake: Lake) -> None:
    path = _outside(lake)
    error = _refused(lake, Refused, "far.parquet", over=True)
    assert error.exit_code == 14 and "--allow-prefix" in error.hint
    prefix = path.rpartition("/data/")[0]
    assert lake.restore(allow_prefixes=(prefix,)).restored.done == ("lake.sales.orders",)  # type: ignore[arg-type]
    assert lake.source.read(key_of(lake, path)) == b"far away"


def _seal_forged(lake: Lake, change: Callable[[Record], Record]) -> None:
    """Somebody who may write into the vault adds a point of their own, with a seal as it should be."""
    vault, clock = lake.vault(), SystemClock()
    run = begin(vault.store, "20990101T000000Z-forged", clock, verb="backup")
    record = change(lake.record())
    metadata = replace(record.backup_metadata, backup_id=run.id, run_id=run.id)
    seal(vault, run, replace(record, backup_metadata=metadata), read_state(vault))


@pytest.mark.parametrize(
    "path", ["file:///etc/cron.d/bergung", "/etc/cron.d/bergung", "memory://{}/other/metadata/x.metadata.json"]
)
def test_a_forged_record_cannot_send_a_metadata_file_elsewhere(lake: Lake, path: str) -> None:
    table_with_history(lake)
    lake.backup()
    path = path.format(lake.source.url.removeprefix("memory://"))

    def change(record: Record) -> Record:
        (entry,) = record.tables.values()
        return replace(record, tables={"lake.sales.orders": replace(entry, metadata_location=path)})

    _seal_forged(lake, change)
    lake.drop("orders")
    counts = Counts()
    _refused(lake, Refused, "outside", over=True, open_=counting_open(counts))
    assert not [one for one in counts.made if "etc/" in one.key], "not even looked at"
    assert not Path("/etc/cron.d/bergung").exists()


def test_a_table_in_an_object_store_never_makes_us_read_a_local_file(lake: Lake, tmp_path: Path) -> None:
    """Its own metadata names a folder of this machine as its own."""
    secret = tmp_path / "secret"
    secret.write_bytes(b"abc")
    more = {"properties": {"write.data.path": f"file://{tmp_path}"}}
    table = table_with_history(lake, shape=Shape(more=more))
    table.add_files([{"file_path": f"file://{secret}", "file_size_in_bytes": 3}])
    lake.publish(table)
    with pytest.raises(Refused) as caught:
        lake.backup()
    assert "a table in an object store never makes Bergung read local files" in caught.value.hint
    assert lake.points() == []
    assert b"abc" not in contents(lake.store).values()


@pytest.mark.parametrize("key", ["receipts", "blob"])
def test_a_point_whose_vault_has_lost_something_says_so_before_anything_is_written(lake: Lake, key: str) -> None:
    """Lost receipts: what is below them is not known. A lost metadata file: there is no table."""
    table_with_history(lake)
    lake.backup()
    entry = next(iter(lake.record().tables.values()))
    part = "/receipts/" if key == "receipts" else entry.metadata_file.blob_key
    for stat in list(lake.store.list("tables/")):
        if part in stat.key:
            lake.store.delete(stat.key)
    lake.drop("orders")
    error = _refused(lake, BergungError, "lost|found nothing there", over=True)
    assert error.exit_code == 5
