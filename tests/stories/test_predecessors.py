"""Which earlier point a new one is built on, when some hold metadata only."""

from pathlib import Path

import pytest

from bergung.errors import Refused
from bergung.model.record import Count
from tests.faults.lake import Lake, bytes_of, contents
from tests.stories.tables_at_risk import (
    blobs,
    delete_files,
    entry_of,
    hide,
    metadata_only,
    pointer,
    states,
    table_with_history,
    world,
)
from tests.synthetic import Shape


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def _kinds(lake: Lake, point: str = "latest") -> dict[str, str]:
    """The states of data files."""
    return {path: state for path, state in states(lake, point).items() if "/data/" in path}


def test_metadata_then_all_then_metadata(lake: Lake) -> None:
    table = table_with_history(lake)
    one = metadata_only(lake)
    assert (one.record.backup_metadata.backup_type, entry_of(lake).captured) == ("full", "metadata")
    assert set(_kinds(lake).values()) == {"left"} and len(_kinds(lake)) == 4
    assert not any("/data/" in key for key in blobs(lake))

    two = lake.backup()
    assert two.record.backup_metadata.base_backup_id is None, "a point of metadata is no base for one with data"
    assert (entry_of(lake).captured, entry_of(lake).changed) == ("all", True)
    assert entry_of(lake).new_files["data"].files == 4
    assert set(_kinds(lake).values()) == {"held"}

    three = metadata_only(lake)
    assert three.record.backup_metadata.base_backup_id == two.run
    assert (entry_of(lake).captured, entry_of(lake).changed) == ("all", False), "it holds all, and says so"

    table.append(1)
    lake.publish(table)
    four = metadata_only(lake)
    assert four.record.backup_metadata.base_backup_id == three.run
    assert (entry_of(lake).captured, entry_of(lake).new_files["data"]) == ("metadata", Count())
    assert sorted(_kinds(lake).values()) == ["held"] * 4 + ["left"]

    five = lake.backup()
    assert five.record.backup_metadata.base_backup_id == three.run
    assert (entry_of(lake).captured, entry_of(lake).new_files["data"].files) == ("all", 1)
    assert set(_kinds(lake).values()) == {"held"}
    assert _kinds(lake, four.run)[table.live_paths()[-1]] == "left", "no older point is ever changed"
    assert lake.verify().damages == ()
    wanted = bytes_of(table)
    lake.drop("orders")
    lake.restore()
    assert contents(lake.source) == wanted


def test_a_point_of_metadata_does_not_bring_back_a_table_whose_data_is_gone(lake: Lake) -> None:
    table_with_history(lake)
    metadata_only(lake)
    lake.drop("orders")
    before = world(lake)
    with pytest.raises(Refused, match="has the metadata of lake.sales.orders only, and 4 of its files are gone or"):
        lake.restore(over=True)
    assert world(lake) == before


def test_it_does_where_the_data_still_lies(lake: Lake) -> None:
    """Somebody deleted the metadata folder: a small point is enough."""
    table = table_with_history(lake)
    metadata_only(lake)
    wanted = bytes_of(table)
    hide(lake, "orders")
    delete_files(lake, [path for path in (*table.reached, table.metadata_path or "") if "/metadata/" in path])
    result = lake.restore()
    assert result.restored.done == ("lake.sales.orders",)
    assert (result.plan.tables[0].intact.files, result.plan.tables[0].not_captured.files) == (4, 0)
    assert contents(lake.source) == wanted
    assert pointer(lake, "orders") == table.metadata_path


def test_data_of_another_length_is_not_the_data_of_the_point(lake: Lake) -> None:
    table = table_with_history(lake)
    metadata_only(lake)
    key = table.live_paths()[0].removeprefix(f"{lake.source.url}/")
    lake.source.overwrite(key, b"short")
    before = world(lake)
    for over in (False, True):
        with pytest.raises(Refused, match="metadata of lake.sales.orders only, and 1 of its files are gone or have another length"):
            lake.restore(over=over)
        assert world(lake) == before, "what lies there is all that there is"


def test_a_copy_with_the_same_uuid_is_a_table_of_its_own(lake: Lake) -> None:
    shape = Shape(more={"table-uuid": "11111111-2222-3333-4444-555555555555"})
    one, two = lake.table("orders", shape), lake.table("copy", shape)
    for rows, table in ((2, one), (3, two)):
        table.append(rows)
        lake.publish(table)
    lake.backup()
    first = {name.rsplit(".", 1)[-1]: entry for name, entry in lake.record().tables.items()}
    assert first["orders"].identity == first["copy"].identity
    assert first["orders"].location != first["copy"].location, "each folder is a valid copy of its table"

    one.append(1)
    two.append(1)
    lake.publish(one)
    lake.publish(two)
    lake.backup()
    second = {name.rsplit(".", 1)[-1]: entry for name, entry in lake.record().tables.items()}
    assert {name: entry.location for name, entry in second.items()} == {name: entry.location for name, entry in first.items()}
    assert [second[name].new_files["data"].files for name in ("orders", "copy")] == [1, 1]
    assert all("beside/" not in key for key in blobs(lake))
