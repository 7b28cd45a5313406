"""Is it all there: what verify says, and how much it reads."""

from pathlib import Path

import pytest

from tests.command import call, tree
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


def test_a_log_with_a_slot_missing_in_its_middle_is_never_read_as_a_shorter_one(shop: SmallLake) -> None:
    """Or points would be gone without a word, and the next backup would bury them."""
    for _ in range(2):
        assert call("backup", "lake").code == 0
    slot = shop.vault / "log" / f"{2:020d}.json"
    text = slot.read_bytes()
    slot.unlink()
    before = tree(shop.vault)
    for words in (("points",), ("verify",), ("backup", "lake"), ("restore", "--all"), ("show", "latest")):
        said = call(*words)
        assert said.code == 5 and "is gone, and slots up to 3 come after it" in said.errors[0], words
        assert "bring that file back from a copy of the vault" in said.hints[0]
    assert {path: digest for path, digest in tree(shop.vault).items() if "/runs/" not in path} == {
        path: digest for path, digest in before.items() if "/runs/" not in path
    }
    slot.write_bytes(text)
    assert len(call("points", "--json").result["points"]) == 3


def test_a_head_that_is_no_digest_is_a_slip_and_no_damage(shop: SmallLake) -> None:
    said = call("verify", "--expect-head", "sha256:abc")
    assert said.code == 2 and said.errors == ["not the digest of a log entry: sha256:abc"]


def test_a_vault_document_that_is_cut_off_says_what_helps(shop: SmallLake) -> None:
    (shop.vault / "vault.json").write_text('{"for')
    said = call("verify")
    assert said.code == 5 and said.hints == ["bring vault.json back from a copy of the vault"]


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
