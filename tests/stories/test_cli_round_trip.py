"""Back up, lose, restore: as a person types it and as a script reads it."""

from pathlib import Path

import pytest
from pyiceberg.types import StringType

from bergung.errors import UnknownTable
from tests.command import call, child, tree
from tests.stories.small_lake import SmallLake, rows_at


@pytest.fixture
def shop(lake: SmallLake) -> SmallLake:
    """Two tables with history, one of them two levels deep, and one without any snapshot."""
    lake.make("sales", "orders")
    lake.append(("sales", "orders"), range(10, 20))
    lake.make("sales", "eu", "stock")
    lake.make("sales", "empty", rows=())
    return lake


def test_a_database_is_lost_and_comes_back(shop: SmallLake) -> None:
    tables = [("sales", "orders"), ("sales", "eu", "stock"), ("sales", "empty")]
    before = {table: shop.rows(*table) for table in tables}
    files = tree(shop.warehouse)
    backup = child("backup", "lake")
    assert backup.code == 0, backup.err
    for table in tables:
        shop.lose(*table)
    assert tree(shop.warehouse) == {}
    restore = child("restore", "--all")
    assert restore.code == 0, restore.err
    assert tree(shop.warehouse) == files
    assert {table: shop.rows(*table) for table in tables} == before
    shop.append(("sales", "orders"), range(20, 30))
    assert sorted(next(reversed(shop.rows("sales", "orders").values()))) == list(range(30))


def test_a_backup_says_what_it_did_and_what_to_type_next(shop: SmallLake) -> None:
    said = call("backup", "lake.sales")
    title, head, *rows, digest, restore = said.out.splitlines()
    point = title.split()[1]
    assert title.startswith(f"point {point} is complete, as of ") and " UTC (in " in title
    assert head.split() == ["table", "status", "new", "files", "new", "bytes", "rows"]
    assert [row.split()[:2] for row in rows] == [
        ["lake.sales.empty", "complete"],
        ["lake.sales.eu.stock", "complete"],
        ["lake.sales.orders", "complete"],
    ]
    assert restore == f"restore with: bergung restore --all --point {point}"
    again = call("backup", "lake.sales")
    assert again.out.splitlines()[1] == "3 tables unchanged"
    verified = call("verify", "--expect-head", digest.removeprefix("head "))
    assert verified.code == 0


def test_a_vault_named_by_an_option_stands_in_the_commands_that_are_proposed(shop: SmallLake) -> None:
    vault = str(shop.folder / "my vault")
    first = call("init", "--vault", vault)
    assert first.out.splitlines()[-1].endswith(f"--vault '{vault}'")
    assert call("backup", "lake", "--vault", vault).out.splitlines()[-1].endswith(f"--vault '{vault}'")
    assert call("restore", "--all", "--dry-run", "--vault", vault).out.splitlines()[-1].endswith(f"--vault '{vault}'")


def test_a_dry_run_of_a_backup_writes_nothing_and_says_the_command(shop: SmallLake) -> None:
    before = tree(shop.folder)
    said = call("backup", "lake.sales.*", "--exclude", "lake.sales.eu", "--dry-run")
    assert said.code == 0 and tree(shop.folder) == before
    assert said.out.splitlines()[-1].endswith("to do it: bergung backup 'lake.sales.*' --exclude lake.sales.eu")
    plan = call("backup", "lake.sales.*", "--exclude", "lake.sales.eu", "--dry-run", "--json").result
    assert [(each["table"], each["new_snapshots"], each["new_files"]) for each in plan["tables"]] == [
        ("lake.sales.empty", 0, 0),
        ("lake.sales.orders", 2, 2),
    ]


def test_points_are_listed_by_what_they_can_answer(shop: SmallLake) -> None:
    assert "no points yet: bergung backup" in call("points").out
    first = call("backup", "lake", "--keep", "90d", "--json").result
    shop.append(("sales", "orders"), range(20, 30))
    second = call("backup", "lake.sales.orders", "--json").result
    points = call("points", "--json").result["points"]
    assert [each["point"] for each in points] == [first["point"], second["point"]]
    assert [(each["tables"], each["retention_days"]) for each in points] == [(3, 90), (1, None)]
    assert points[1]["new_files"] == second["new_files"] == 4
    (orders,) = second["tables"]
    assert points[1]["answers"] == orders["answers"]
    only = call("points", "lake.sales.eu.stock", "--json").result["points"]
    assert [each["point"] for each in only] == [first["point"]]
    text = call("points").out.splitlines()
    assert text[0].startswith("point") and [line.split()[0] for line in text[1:]] == [first["point"], second["point"]]


def test_show_folds_the_receipts_in(shop: SmallLake) -> None:
    call("backup", "lake")
    record = call("show", "latest", "--files", "--json").result["record"]
    files = record["tables"]["lake.sales.orders"]["files"]
    on_disk = {f"file://{path}" for path in shop.files("sales", "orders")}
    assert {each["path"] for each in files["metadata"]} | {each["path"] for each in files["data"]} == on_disk
    for each in (*files["metadata"], *files["data"]):
        path = Path(each["path"].removeprefix("file://"))
        assert each["size"] == path.stat().st_size
        assert each["checksum"] == "sha256:" + tree(path.parent)[str(path)]
    assert sum(each["row_count"] for each in files["data"]) == 20
    assert "files" not in call("show", "latest", "--json").result["record"]["tables"]["lake.sales.orders"]
    text = call("show", "latest", "--files").out
    assert all(path in text for path in on_disk)


def test_preview_shows_every_snapshot_and_its_schema(shop: SmallLake) -> None:
    with shop.catalog.load_table(("sales", "orders")).update_schema() as change:
        change.add_column("note", StringType())
    call("backup", "lake")
    preview = call("preview", "latest", "lake.sales.orders", "--json").result
    assert [(each["operation"], each["rows"], each["current"]) for each in preview["snapshots"]] == [
        ("append", 10, False),
        ("append", 20, True),
    ]
    first, second = preview["snapshots"]
    assert second["parent_id"] == first["snapshot_id"] and second["refs"] == ["main"]
    assert [column["name"] for column in preview["schemas"][0]["columns"]] == ["id", "name"]
    assert preview["schemas"][0]["columns"][0]["type"] == "long"
    text = call("preview", "latest", "lake.sales.orders").out
    assert str(first["snapshot_id"]) in text and "append" in text
    assert "it has no snapshots" in call("preview", "latest", "lake.sales.empty").out


def test_a_table_given_by_its_path_goes_by_that_path(shop: SmallLake) -> None:
    pointer = shop.pointer("sales", "orders")
    folder = str(Path(pointer.removeprefix("file://")).parent.parent)
    before, rows = tree(Path(folder)), rows_at(pointer)
    said = call("backup", folder)
    assert said.code == 0 and said.out.splitlines()[2].split()[0] == folder
    assert call("points", folder, "--json").result["points"][0]["tables"] == 1
    assert call("preview", "latest", folder).out.startswith(f"{folder} in point ")
    assert call("show", "latest").out.splitlines()[2].split()[0] == folder
    shop.lose("sales", "orders")
    planned = call("restore", folder, "--dry-run")
    assert f"bergung restore {folder} --point" in planned.out
    restored = call("restore", folder)
    assert restored.code == 0, restored.err
    assert tree(Path(folder)) == before and rows_at(pointer) == rows


def test_without_a_point_the_newest_that_holds_the_table_is_taken(shop: SmallLake) -> None:
    older = call("backup", "lake", "--json").result["point"]
    newer = call("backup", "lake.sales.orders", "--json").result["point"]
    assert call("restore", "lake.sales.eu.stock", "--dry-run", "--json").result["point"] == older
    assert call("restore", "lake.sales.orders", "--dry-run", "--json").result["point"] == newer
    assert call("restore", "--all", "--point", "latest", "--dry-run", "--json").result["point"] == newer
    assert call("restore", "--all", "--point", older[:20], "--dry-run", "--json").result["point"] == older


@pytest.mark.parametrize(
    "words", [("points", "lake.no.where"), ("preview", "latest", "lake.no.where"), ("restore", "lake.no.where")]
)
def test_a_table_that_no_point_holds_is_unknown(shop: SmallLake, words: tuple[str, ...]) -> None:
    call("backup", "lake")
    said = call(*words, "--json")
    assert said.code == UnknownTable.exit_code and said.result["errors"][0]["error"] == "UnknownTable"
    assert said.result["errors"][0]["hint"]


def test_metadata_only_points_say_so_and_restore_only_what_is_still_there(shop: SmallLake) -> None:
    assert call("backup", "lake", "--metadata-only").code == 0
    assert call("points").out.splitlines()[1].split()[4:6] == ["3", "(metadata)"]
    assert "complete (metadata only)" in call("show", "latest").out
    metadata = shop.pointer("sales", "orders").removeprefix("file://")
    Path(metadata).unlink()
    assert call("restore", "lake.sales.orders").code == 0
    assert Path(metadata).is_file() and len(shop.rows("sales", "orders")) == 2
    shop.files("sales", "orders", kind="*.parquet")[0].unlink()
    planned = call("restore", "lake.sales.orders", "--dry-run")
    assert planned.code == 0 and "lake.sales.orders: 1 file cannot be brought" in planned.out
    refused = call("restore", "lake.sales.orders")
    assert refused.code == 14 and "metadata of lake.sales.orders only" in refused.errors[0]
