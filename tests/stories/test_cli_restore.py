"""What a restore may change, and what it needs the user's word for."""

import os
from pathlib import Path

import pytest

from bergung.cli import words
from tests.command import call, tree
from tests.stories.small_lake import SmallLake
from tests.synthetic import Shape, SyntheticTable


@pytest.fixture
def shop(lake: SmallLake) -> SmallLake:
    """Two tables, backed up."""
    lake.make("sales", "orders")
    lake.make("sales", "items")
    assert call("backup", "lake").code == 0
    return lake


def plan_of(*words: str) -> str:
    return str(call("restore", *words, "--dry-run", "--json").result["plan"])


def test_a_living_table_is_not_touched_without_a_word(shop: SmallLake) -> None:
    shop.append(("sales", "orders"), range(10, 20))
    before = tree(shop.folder, without="runs")
    said = call("restore", "lake.sales.orders")
    assert said.code == 14 and said.out == ""
    assert said.errors == [f"lake.sales.orders is in the catalog with another state: {shop.pointer('sales', 'orders')}"]
    assert said.hints == [f"look with --dry-run; to do it: --confirm={plan_of('lake.sales.orders')}"]
    assert tree(shop.folder, without="runs") == before


def test_a_dry_run_shows_the_plan_its_id_and_the_command(shop: SmallLake) -> None:
    shop.append(("sales", "orders"), range(10, 20))
    shop.lose("sales", "items")
    before = tree(shop.folder, without="runs")
    said = call("restore", "--all", "--dry-run")
    assert said.code == 0 and said.err == ""
    plan = plan_of("--all")
    point, head, items, orders, word, last = said.out.splitlines()
    assert point.startswith("from point ") and head.split()[:3] == ["table", "to", "bring"]
    assert items.split()[:3] == ["lake.sales.items", "5", "files,"] and items.split()[-1] == "register"
    assert orders.split()[:3] == ["lake.sales.orders", "-", "5"] and orders.split()[-1] == "replace"
    assert word.startswith("needs your word: lake.sales.orders is in the catalog with another state")
    assert last.startswith(f"plan {plan}; to do it: bergung restore --all --point ") and last.endswith(f"--confirm={plan}")
    assert tree(shop.folder, without="runs") == before


def test_the_word_for_a_plan_carries_out_that_plan(shop: SmallLake) -> None:
    rows = shop.rows("sales", "orders")
    shop.append(("sales", "orders"), range(10, 20))
    said = call("restore", "lake.sales.orders", f"--confirm={plan_of('lake.sales.orders')}", "--json")
    assert said.code == 0 and said.result["done"] == ["lake.sales.orders"]
    assert shop.rows("sales", "orders") == rows


def test_when_the_world_has_moved_the_plan_does_not_fit_any_more(shop: SmallLake) -> None:
    shop.append(("sales", "orders"), range(10, 20))
    plan = plan_of("lake.sales.orders")
    shop.append(("sales", "orders"), range(20, 30))
    before = tree(shop.folder, without="runs")
    said = call("restore", "lake.sales.orders", f"--confirm={plan}")
    assert said.code == 20 and said.errors == [f"plan {plan} does not fit any more"]
    assert tree(shop.folder, without="runs") == before


def test_a_plain_word_plans_and_does(shop: SmallLake) -> None:
    """And what follows it is a table, not an id."""
    rows = shop.rows("sales", "orders")
    shop.append(("sales", "orders"), range(10, 20))
    assert call("restore", "--confirm", "lake.sales.orders").code == 0
    assert shop.rows("sales", "orders") == rows


def test_a_file_with_other_bytes_is_replaced_only_when_confirmed(shop: SmallLake) -> None:
    victim = shop.files("sales", "orders", kind="*.parquet")[0]
    right = victim.read_bytes()
    victim.write_bytes(b"x" * len(right))
    refused = call("restore", "lake.sales.orders")
    assert refused.code == 14 and refused.errors == ["there with other bytes: 1 file of lake.sales.orders"]
    assert victim.read_bytes() == b"x" * len(right)
    dry = call("restore", "lake.sales.orders", "--dry-run")
    assert f"  file://{victim}" in dry.out.splitlines()
    assert call("restore", "lake.sales.orders", "--trust", "size", "--json").result["written"]["files"] == 0
    assert victim.read_bytes() == b"x" * len(right)
    assert call("restore", "lake.sales.orders", "--confirm", "--json").result["written"]["files"] == 1
    assert victim.read_bytes() == right


def test_what_is_intact_is_not_written_again(shop: SmallLake) -> None:
    said = call("restore", "--all", "--json").result
    assert said["written"] == {"files": 0, "bytes": 0} and said["bytes"] == 0
    assert {each["catalog"] for each in said["tables"]} == {"nothing"}
    gone = shop.files("sales", "orders", kind="*.parquet")[0]
    size = gone.stat().st_size
    gone.unlink()
    text = call("restore", "--all")
    assert text.code == 0
    assert text.out.splitlines()[-1] == f"restored 2 tables: 1 file, {words.size(size)} written"


def test_one_table_that_fails_does_not_stop_the_other(shop: SmallLake) -> None:
    for name in ("orders", "items"):
        shop.lose("sales", name)
    in_the_way = shop.warehouse / "sales" / "orders" / "metadata"
    in_the_way.parent.mkdir(parents=True, exist_ok=True)
    point = call("show", "latest", "--json").result["record"]
    metadata = Path(point["tables"]["lake.sales.orders"]["metadata_location"].removeprefix("file://"))
    metadata.mkdir(parents=True)
    said = call("restore", "--all")
    assert said.code == 3, said.err
    assert said.errors[0].startswith("lake.sales.orders: ") and str(metadata) in said.errors[0]
    assert said.errors[-1] == "1 of 2 tables not restored: lake.sales.orders"
    assert shop.rows("sales", "items")
    metadata.rmdir()
    again = call("restore", "--all", "--json")
    assert again.code == 0 and again.result["done"] == ["lake.sales.items", "lake.sales.orders"]


def test_a_point_that_was_damaged_brings_back_what_it_has(shop: SmallLake) -> None:
    shop.append(("sales", "orders"), range(10, 20))
    before = set(shop.files("sales", "orders", kind="*.parquet"))
    shop.append(("sales", "orders"), range(20, 30))
    (gone,) = set(shop.files("sales", "orders", kind="*.parquet")) - before
    gone.unlink()
    backup = call("backup", "lake")
    assert backup.code == 5 and "1 table lost files before this backup: lake.sales.orders" in backup.errors[0]
    assert f"  file://{gone}" in backup.out.splitlines()
    shop.lose("sales", "orders")
    said = call("restore", "lake.sales.orders", "--point", "latest")
    assert said.code == 5 and f"  file://{gone}" in said.out.splitlines()
    assert said.errors == ["the point has lost files of 1 table: lake.sales.orders"]
    in_json = call("restore", "lake.sales.orders", "--point", "latest", "--json").result
    assert in_json["status"] == "damaged" and in_json["damaged"] == ["lake.sales.orders"]


def test_a_point_whose_vault_lost_a_file_names_what_is_not_brought(shop: SmallLake) -> None:
    (data,) = shop.files("sales", "orders", kind="*.parquet")
    shop.lose("sales", "orders")
    (blob,) = shop.vault.glob(f"tables/sales.orders-*/**/{data.name}")
    blob.write_bytes(b"junk")
    said = call("restore", "lake.sales.orders")
    assert said.code == 5 and said.out.splitlines()[-2:] == [
        "not brought, since the vault has lost their bytes:",
        f"  file://{data}",
    ]
    assert said.errors == ["the point has lost files of 1 table: lake.sales.orders"]
    assert said.hints[0].startswith("see which: bergung verify 2")


@pytest.mark.parametrize("words", [("--all",), ("lake.sales",), ("lake.sales.*",)])
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_who_asks_for_all_is_told_what_the_newest_point_has_not(
    shop: SmallLake, words: tuple[str, ...], more: tuple[str, ...]
) -> None:
    """The table was gone already when that point was made, and an older one holds it."""
    shop.make("sales", "gone")
    shop.make("hr", "also")
    assert call("backup", "lake").code == 0
    for name in (("sales", "gone"), ("hr", "also")):
        Path(shop.pointer(*name).removeprefix("file://")).unlink()
    assert call("backup", "lake").code == 3
    said = call("restore", *words, *more)
    point = call("points", "--json").result["points"][-1]["point"]
    meant = ["lake.hr.also", "lake.sales.gone"] if words == ("--all",) else ["lake.sales.gone"]
    assert said.code == 3
    assert said.errors == [f"{name} is not in point {point}: its backup failed then" for name in meant]
    assert said.hints == [f"an older point may hold it: bergung restore {name}" for name in meant]
    assert call("restore", *words, *more, "--json").result["not_held"] == meant
    assert call("restore", "lake.sales.orders", *more).code == 0, "nobody asked for the others"
    assert call("restore", "lake.sales.gone").code == 0


def test_a_name_that_came_again_with_other_bytes_is_told(lake: SmallLake) -> None:
    table = SyntheticTable(lake.warehouse / "again", Shape())
    path = f"{table.location}/data/again.bin"
    for content in (b"first", b"other"):
        table.local(path).write_bytes(content)
        table.delete([path])
        table.add_files([{"file_path": path, "file_size_in_bytes": 5}])
        table.commit()
        if content == b"first":
            lake.adopt("sales.again", table)
        else:
            lake.point_to(("sales", "again"), table.metadata_path or "")
        assert call("backup", "lake").code == 0
    table.local(path).unlink()
    said = call("restore", "--all")
    assert said.code == 0, said.err
    assert "lake.sales.again: the point holds 1 path with other bytes too; what the newest snapshot sees is brought" in said.out
    assert table.local(path).read_bytes() == b"other"


def test_what_a_killed_restore_left_half_written_goes(lake: SmallLake) -> None:
    lake.make("sales", "orders")
    assert call("backup", "lake").code == 0
    folder = lake.files("sales", "orders", kind="*.parquet")[0].parent
    lake.lose("sales", "orders")
    folder.mkdir(parents=True)
    old, new, other = (folder / name for name in (".bergung-0123456789abcdef.part", ".bergung-fedcba9876543210.part", ".hidden"))
    for path in (old, new, other):
        path.write_bytes(b"half")
    os.utime(new, (2**31, 2**31))
    assert call("restore", "--all").code == 0
    assert (old.exists(), new.exists(), other.exists()) == (False, True, True), "what somebody writes to now is not ours to take"
