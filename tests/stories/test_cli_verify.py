"""Is it all there: what verify says, and how much it reads."""

from pathlib import Path

import pytest

from tests.command import call
from tests.stories.small_lake import SmallLake


@pytest.fixture
def shop(lake: SmallLake) -> SmallLake:
    """Two tables, backed up."""
    lake.make("sales", "orders")
    lake.append(("sales", "orders"), range(10, 20))
    lake.make("sales", "items")
    assert call("backup", "lake").code == 0
    return lake


def blob(shop: SmallLake, kind: str) -> Path:
    return sorted(shop.vault.glob(f"tables/sales.orders-*/files/{kind}"))[0]


def test_a_whole_vault(shop: SmallLake) -> None:
    said = call("verify")
    counts, head = said.out.splitlines()
    assert said.code == 0 and counts.startswith("1 point: 12 files, ") and counts.count("12 files") == 2
    assert head.startswith("head sha256:")


@pytest.mark.parametrize(("problem", "told"), [("other", "other bytes"), ("gone", "gone"), ("short", "other bytes")])
def test_a_damaged_file_is_named_with_what_it_harms(shop: SmallLake, problem: str, told: str) -> None:
    victim = blob(shop, "data/*.parquet")
    right = victim.read_bytes()
    victim.unlink()
    if problem != "gone":
        victim.write_bytes(b"x" * len(right) if problem == "other" else right[:-1])
    said = call("verify")
    key = str(victim.relative_to(shop.vault))
    assert said.code == 5
    _, what, harm, _ = said.out.splitlines()
    assert what.startswith(f"{key}: ") and told in what
    assert "harms lake.sales.orders in 1 point, snapshots " in harm
    assert said.errors == ["1 file of lake.sales.orders damaged or gone"] and said.hints
    (damage,) = call("verify", "--json").result["damages"]
    assert damage["file"] == key and damage["tables"] == ["lake.sales.orders"] and damage["snapshots"]


def test_more_than_twenty_are_counted(lake: SmallLake) -> None:
    lake.make("sales", "orders", rows=())
    for first in range(23):
        lake.append(("sales", "orders"), [first])
    call("backup", "lake")
    for path in lake.vault.glob("tables/sales.orders-*/files/data/*.parquet"):
        path.write_bytes(b"x")
    said = call("verify")
    assert said.code == 5 and said.errors == ["23 files of lake.sales.orders damaged or gone"]
    assert sum("harms lake.sales.orders" in line for line in said.out.splitlines()) == 20
    assert "… and 3 more" in said.out.splitlines()
    assert len(call("verify", "--json").result["damages"]) == 23


def test_a_share_of_the_data_is_read_and_every_file_is_looked_for(shop: SmallLake) -> None:
    shares = [call("verify", *words, "--json").result for words in (("--data", "all"), ("--data", "1%"), ("--budget", "1k"))]
    assert [each["checked"]["files"] for each in shares] == [12, 12, 12]
    every, little, budget = (each["read"]["files"] for each in shares)
    assert every == 12 and little < 12 and budget < 12
    blob(shop, "data/*.parquet").unlink()
    assert call("verify", "--data", "1%").code == 5


def test_a_log_whose_end_was_cut_off_is_found_by_its_head(shop: SmallLake) -> None:
    head = call("backup", "lake", "--json").result["head"]
    assert call("verify", "--expect-head", head).code == 0
    newest = sorted((shop.vault / "log").iterdir())[-1]
    newest.unlink()
    assert call("verify").code == 0
    said = call("verify", "--expect-head", head)
    assert said.code == 5 and "the log does not hold" in said.errors[0]


def test_one_point_alone(shop: SmallLake) -> None:
    first = call("points", "--json").result["points"][0]["point"]
    shop.append(("sales", "items"), range(10, 20))
    call("backup", "lake")
    newest = blob(shop, "metadata/00002-*").parent
    added = {path for path in newest.parent.parent.parent.glob("sales.items-*/files/data/*.parquet")}
    oldest = min(added, key=lambda path: path.stat().st_mtime_ns)
    (added - {oldest}).pop().unlink()
    assert call("verify", first).code == 0
    assert call("verify").code == 5
    assert call("verify", "20990101").code == 2


def test_a_lost_record_is_told_by_verify_and_points(shop: SmallLake) -> None:
    (record,) = (shop.vault / "points").iterdir()
    record.write_text("{}")
    said = call("verify")
    assert said.code == 5 and f"points/{record.name}" in said.out
    listed = call("points")
    assert listed.code == 5 and f"the record of point {record.stem} is lost" in listed.errors[0]
