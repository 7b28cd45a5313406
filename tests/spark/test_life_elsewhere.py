"""Tables that Spark keeps on real servers are lost and come back, and life goes on; the vault is at another endpoint.

DuckDB reads those on a disk only; PyIceberg and Spark read all.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from elsewhere import VAULT_KEYS, Elsewhere, elsewhere
from places import Place, glue_on, hive_on, rest_on

from life_after import Life, life_after
from tests.servers.minio import minio
from tests.servers.versitygw import versitygw
from truth import Truth

TABLES = ("visits", "orders", "payments", "places", "products", "customers")
PLACES = ("REST, versitygw", "REST, MinIO", "Glue, versitygw", "Hive, disk", "Hive, versitygw")


@dataclass(frozen=True)
class Returned:
    """A lake that was lost and came back, and what it held before."""

    lake: Elsewhere
    truths: dict[str, Truth]


@pytest.fixture(scope="module", params=[pytest.param(name, marks=pytest.mark.nightly) for name in PLACES])
def returned(
    request: pytest.FixtureRequest, spark: Any, reaches_s3: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Returned]:
    with ExitStack() as stack:
        folder = tmp_path_factory.mktemp("elsewhere")
        place = opened(request.param, spark, folder, stack)
        keeper = stack.enter_context(versitygw(folder / "keeper", keys=VAULT_KEYS))
        yield lost_and_restored(stack.enter_context(elsewhere(spark, place, keeper, folder)), TABLES)


def opened(name: str, spark: Any, folder: Path, stack: ExitStack) -> Place:
    if name == "Hive, disk":
        return stack.enter_context(hive_on(None, folder))
    server = stack.enter_context((minio if name.endswith("MinIO") else versitygw)(folder / "source"))
    kinds = {"REST": rest_on, "Glue": partial(glue_on, spark), "Hive": hive_on}
    return stack.enter_context(kinds[name.partition(",")[0]](server, folder))


def lost_and_restored(lake: Elsewhere, names: tuple[str, ...]) -> Returned:
    lake.make(*names)
    first = lake.backup()
    assert (first.failed, first.record.backup_metadata.status) == ({}, "complete")
    lake.go_on(*names)
    second = lake.backup()
    assert (second.failed, second.record.backup_metadata.status) == ({}, "complete")
    assert second.record.backup_metadata.base_backup_id == first.record.backup_metadata.backup_id
    # What came first was not carried again.
    assert sum(each.record.statistics.new_file_count for each in (first, second)) == len(lake.kept_files())
    assert lake.verify().damages == ()
    truths, pointers = ({name: each(name) for name in names} for each in (lake.truth, lake.pointer))
    lake.lose(*names)
    restored = lake.restore().restored
    assert restored is not None
    assert (restored.failed, restored.damaged, len(restored.done)) == ({}, (), len(names))
    assert {name: lake.pointer(name) for name in names} == pointers
    return Returned(lake, truths)


@pytest.mark.parametrize("table", TABLES)
def test_what_was_lost_elsewhere_comes_back_and_lives_on(returned: Returned, table: str) -> None:
    lake = returned.lake
    life_after(lake.session, lake.name, f"shop.{table}", returned.truths[table], lake.pyiceberg())


def test_a_table_in_s3_is_lost_and_lives_on(spark: Any, reaches_s3: None, tmp_path: Path) -> None:
    """The shortest such life, and an object that nobody knows is noticed."""
    with ExitStack() as stack:
        place = opened("REST, versitygw", spark, tmp_path, stack)
        keeper = stack.enter_context(versitygw(tmp_path / "keeper", keys=VAULT_KEYS))
        lake = stack.enter_context(elsewhere(spark, place, keeper, tmp_path))
        truth = lost_and_restored(lake, ("orders",)).truths["orders"]
        life = Life(spark, lake.full("orders"), truth)
        life.check("as it came back")
        life.writes()
        life.has_no_orphans()
        stray = f"{life.file().metadata['location']}/data/stray.parquet"
        lake.pyiceberg().load_table("shop.orders").io.new_output(stray).create().close()
        with pytest.raises(AssertionError, match="would delete .*stray"):
            life.has_no_orphans()
        life.expires_incrementally_by_core()
        life.expires_by_spark()
