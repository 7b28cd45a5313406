"""A second copy of a vault: it restores alone, it is refused where it would mix two vaults, and damage is not hidden by it."""

import shutil
from pathlib import Path

import pytest

from bergung.clock import SystemClock
from tests.command import call, tree
from tests.stories.small_lake import SmallLake

TABLES = (("sales", "orders"), ("sales", "items"))


@pytest.fixture
def shop(lake: SmallLake) -> SmallLake:
    """Two tables, two points."""
    lake.make("sales", "orders")
    lake.make("sales", "items")
    assert call("backup", "lake").code == 0
    lake.append(("sales", "orders"), range(10, 20))
    assert call("backup", "lake").code == 0
    return lake


@pytest.fixture
def second(shop: SmallLake) -> Path:
    """Where the copy goes; nothing is there yet."""
    return shop.folder / "second"


def points(vault: Path) -> list[str]:
    return [point["point"] for point in call("points", "--vault", str(vault), "--json").result["points"]]


def kept(vault: Path) -> dict[str, str]:
    """Every file but for journals, by its key."""
    return {path.removeprefix(f"{vault}/"): digest for path, digest in tree(vault, without="runs").items()}


def test_the_copy_alone_brings_everything_back_and_goes_on(shop: SmallLake, second: Path) -> None:
    before = {table: shop.rows(*table) for table in TABLES}
    said = call("vault", "copy", str(second), "--data", "all")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("brought 2 points, ")
    assert kept(second) == kept(shop.vault)
    shutil.rmtree(shop.vault)
    for table in TABLES:
        shop.lose(*table)
    assert call("restore", "--all", "--vault", str(second)).code == 0
    assert {table: shop.rows(*table) for table in TABLES} == before
    assert len(before["sales", "orders"]) == 2
    shop.append(("sales", "items"), range(50, 60))
    again = call("backup", "lake", "--vault", str(second), "--json").result
    assert (again["status"], again["backup_type"], again["unchanged"]) == ("complete", "incremental", 1)
    assert call("verify", "--vault", str(second)).code == 0


def test_a_further_copy_carries_what_is_new(shop: SmallLake, second: Path) -> None:
    first = call("vault", "copy", str(second), "--json").result
    assert first["brought"]["files"] == first["verified"]["checked"]["files"] == blobs(second)
    assert (len(first["points"]), first["slots"], first["verified"]["read"]["files"]) == (2, 3, 2)
    nothing = call("vault", "copy", str(second), "--json").result
    assert (nothing["points"], nothing["brought"]["files"], nothing["slots"], nothing["points_there"]) == ([], 0, 0, 2)
    assert call("vault", "copy", str(second)).out.startswith(f"{second} has every point already")
    shop.append(("sales", "orders"), range(20, 25))
    point = call("backup", "lake", "--json").result
    more = call("vault", "copy", str(second), "--data", "all", "--json").result
    assert more["points"] == [point["point"]] and more["head"] == point["head"]
    assert more["brought"] == {"files": 4, "bytes": point["new_bytes"]}
    assert more["verified"]["read"]["files"] == 4, "a data file, a manifest, a manifest list, a metadata file"
    assert kept(second) == kept(shop.vault)


def blobs(vault: Path) -> int:
    return sum(1 for key in kept(vault) if key.startswith("tables/") and "/receipts/" not in key)


def test_a_dry_run_tells_the_same_and_writes_nothing(shop: SmallLake, second: Path) -> None:
    before = tree(shop.folder)
    told = call("vault", "copy", str(second), "--dry-run", "--json").result
    said = call("vault", "copy", str(second), "--dry-run")
    assert tree(shop.folder) == before and not second.exists()
    assert said.out.startswith(f"to bring to {second}: 2 points, ") and f"bergung vault copy {second}\n" in said.out
    done = call("vault", "copy", str(second), "--json").result
    for name in ("points", "slots", "brought", "to"):
        assert told[name] == done[name]
    shop.append(("sales", "orders"), range(20, 25))
    assert call("backup", "lake").code == 0
    before = tree(shop.folder)
    told = call("vault", "copy", str(second), "--dry-run", "--json").result
    assert tree(shop.folder) == before
    assert told["brought"] == call("vault", "copy", str(second), "--json").result["brought"]


def test_another_vault_is_refused(shop: SmallLake, second: Path) -> None:
    assert call("init", "--vault", str(second)).code == 0
    before = tree(second)
    said = call("vault", "copy", str(second))
    assert said.code == 14 and "is another vault" in said.errors[0]
    assert tree(second) == before


@pytest.mark.parametrize("dry", [True, False])
def test_a_folder_with_other_things_is_refused(shop: SmallLake, second: Path, dry: bool) -> None:
    second.mkdir()
    (second / "letter.txt").write_text("dear")
    said = call("vault", "copy", str(second), *(["--dry-run"] if dry else []))
    assert said.code == 14 and "letter.txt" in said.errors[0]
    assert list(second.iterdir()) == [second / "letter.txt"]


def test_the_vault_itself_and_no_vault_are_refused(shop: SmallLake, second: Path) -> None:
    assert call("vault", "copy", str(shop.vault)).code == 2
    assert call("vault", "copy", str(second), "--vault", str(shop.folder / "nowhere")).code == 10
    assert not second.exists()


def test_two_that_went_apart_are_refused_by_name(shop: SmallLake, second: Path) -> None:
    assert call("vault", "copy", str(second)).code == 0
    theirs = call("backup", "lake.sales.orders", "--vault", str(second), "--json").result["point"]
    ours = call("backup", "lake", "--json").result["point"]
    before = kept(shop.vault), kept(second)
    said = call("vault", "copy", str(second))
    assert said.code == 14
    assert "went apart at slot 3" in said.errors[0] and ours in said.errors[0] and theirs in said.errors[0]
    back = call("vault", "copy", str(shop.vault), "--vault", str(second))
    assert back.code == 14
    assert (kept(shop.vault), kept(second)) == before


def test_a_copy_that_is_ahead_is_copied_back(shop: SmallLake, second: Path) -> None:
    """The vault was lost and put back from an old image; meanwhile the copy took its place."""
    shutil.copytree(shop.vault, shop.folder / "old")
    assert call("vault", "copy", str(second)).code == 0
    shop.append(("sales", "orders"), range(20, 25))
    ahead = call("backup", "lake", "--vault", str(second), "--json").result["point"]
    said = call("vault", "copy", str(second))
    assert said.code == 14 and ahead in said.errors[0]
    assert said.hints[0].endswith(f"bergung vault copy {shop.vault} --vault {second}")
    assert call("vault", "copy", str(shop.vault), "--vault", str(second)).code == 0
    assert kept(shop.vault) == kept(second)
    assert call("backup", "lake").code == 0 and call("vault", "copy", str(second)).code == 0


@pytest.mark.parametrize("kind", ["data/*.parquet", "metadata/*-m0.avro", "metadata/snap-*.avro", "metadata/00002-*.json"])
def test_damage_is_named_and_stays_to_be_seen(shop: SmallLake, second: Path, kind: str) -> None:
    victim = sorted(shop.vault.glob(f"tables/sales.orders-*/files/{kind}"))[0]
    victim.write_bytes(b"x" * victim.stat().st_size)
    key = str(victim.relative_to(shop.vault))
    said = call("vault", "copy", str(second))
    assert said.code == 5 and said.out.count(f"{key}: ") == 1
    assert said.errors == [f"1 file damaged or gone in {shop.vault}; everything else is in the copy"]
    everything = kept(shop.vault)
    assert kept(second) == {name: digest for name, digest in everything.items() if name != key}
    here, there = (call("verify", "--vault", str(vault), "--json").result for vault in (shop.vault, second))
    assert [each["file"] for each in there["damages"]] == [each["file"] for each in here["damages"]] == [key]
    assert points(second) == points(shop.vault)
    shop.append(("sales", "items"), range(50, 60))
    assert call("backup", "lake.sales.items").code == 0
    assert call("vault", "copy", str(second)).code == 0, "nothing new is damaged"


def test_a_lost_record_does_not_stop_the_others(shop: SmallLake, second: Path) -> None:
    lost, whole = points(shop.vault)
    (shop.vault / "points" / f"{lost}.json").write_text("{}")
    said = call("vault", "copy", str(second), "--json")
    assert said.code == 5
    assert [damage["file"] for damage in said.result["damages"]] == [f"points/{lost}.json"]
    assert call("verify", whole, "--vault", str(second)).code == 0
    assert [damage["file"] for damage in call("verify", "--vault", str(second), "--json").result["damages"]] == [
        f"points/{lost}.json"
    ]


def test_lost_receipts_are_lost_in_both(shop: SmallLake, second: Path) -> None:
    victim = max(shop.vault.glob("tables/sales.orders-*/receipts/*"), key=lambda path: path.stat().st_mtime_ns)
    victim.write_bytes(b"junk")
    assert call("vault", "copy", str(second)).code == 5
    here, there = (call("verify", "--vault", str(vault), "--json").result["damages"] for vault in (shop.vault, second))
    assert [each["file"] for each in here] == [each["file"] for each in there]
    assert not (second / victim.relative_to(shop.vault)).exists()


def test_bytes_of_somebody_else_in_the_copy_stop_it(shop: SmallLake, second: Path) -> None:
    assert call("vault", "copy", str(second)).code == 0
    shop.append(("sales", "orders"), range(20, 25))
    assert call("backup", "lake").code == 0
    (new, *_) = sorted(set(kept(shop.vault)) - set(kept(second)) - {key for key in kept(shop.vault) if "/files/" not in key})
    (second / new).write_bytes(b"junk")
    said = call("vault", "copy", str(second))
    assert said.code == 14 and new in said.errors[0]
    assert len(points(second)) == 2 and call("verify", "--vault", str(second)).code == 0
    (second / new).unlink()
    assert call("vault", "copy", str(second)).code == 0
    assert kept(second) == kept(shop.vault)


def test_what_lies_there_is_read_or_believed_by_its_length(shop: SmallLake, second: Path) -> None:
    assert call("vault", "copy", str(second)).code == 0
    for path in [*second.glob("points/*"), *second.glob("log/*"), *second.glob("tables/*/receipts/*")]:
        path.unlink()
    victim = sorted(second.glob("tables/sales.orders-*/files/data/*"))[0]
    right = victim.read_bytes()
    victim.write_bytes(b"x" * len(right))
    said = call("vault", "copy", str(second))
    assert said.code == 14 and victim.name in said.errors[0]
    assert points(second) == []
    said = call("vault", "copy", str(second), "--trust", "size", "--data", "all")
    assert said.code == 5 and said.errors[0] == f"1 file damaged or gone in the copy {second} alone"


def test_what_the_copy_lost_is_brought_again(shop: SmallLake, second: Path) -> None:
    assert call("vault", "copy", str(second)).code == 0
    whole = kept(second)
    lost = [sorted(second.glob(pattern))[0] for pattern in ("tables/*/files/data/*", "tables/*/receipts/*", "points/*")]
    for path in lost:
        path.unlink()
    damaged = sorted(second.glob("tables/*/files/metadata/snap-*"))[0]
    damaged.write_bytes(b"junk")
    assert call("verify", "--vault", str(second)).code == 5
    assert call("vault", "copy", str(second)).code == 0, "it only looks at what is new"
    said = call("vault", "copy", str(second), "--mend")
    assert said.code == 14 and damaged.name in said.errors[0]
    damaged.unlink()
    told = call("vault", "copy", str(second), "--mend", "--dry-run", "--json").result
    mended = call("vault", "copy", str(second), "--mend", "--data", "all", "--json").result
    assert 1 <= told["brought"]["files"] == mended["brought"]["files"] <= 2
    assert mended["points"] == told["points"] == []
    assert mended["verified"]["read"]["files"] == blobs(second)
    assert kept(second) == whole == kept(shop.vault)


def test_a_copy_keeps_to_its_rate(shop: SmallLake, second: Path) -> None:
    clock = SystemClock()
    started = clock.monotonic()
    said = call("vault", "copy", str(second), "--limit-rate", "10k", "--json").result
    assert said["status"] == "complete" and said["brought"]["bytes"] > 20_000
    assert clock.monotonic() - started > 1.5
    assert kept(second) == kept(shop.vault)
