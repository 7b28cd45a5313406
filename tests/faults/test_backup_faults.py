"""A backup is stopped at every effect: earlier points stay whole, nothing half is visible, the next run ends the same."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from bergung.errors import BergungError
from bergung.stores.s3.copying import WORTH_BYTES
from tests.faults.buckets import EVERYWHERE, Buckets, Where
from tests.faults.faulty_store import Call, Crash, FaultPlan, faulty_open
from tests.faults.lake import Kept, Lake, bytes_of, contents
from tests.faults.strikes import WAYS, Strike, fired, strikes
from tests.synthetic import Shape, SyntheticTable
from tests.synthetic_files import Json

TABLES = {"lake.sales.orders", "lake.sales.items"}
Reached = dict[tuple[str, str], tuple[str, str]]


@dataclass(frozen=True)
class Before:
    """A lake with one point, changed since then; and what an undisturbed second backup comes to."""

    lake: Lake
    kept: Kept
    first: str
    first_bytes: dict[str, bytes]
    second_bytes: dict[str, bytes]
    reached: Reached
    calls: list[Call]
    effects: list[Call]
    every: int


@pytest.fixture(scope="module", params=EVERYWHERE)
def before(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Before:
    where: Where = request.param
    lake = Lake(tmp_path_factory.mktemp("lake"), places=where.places(request))
    orders, items = lake.table("orders"), lake.table("items", Shape(format_version=1))
    orders.append(3, manifests=2)
    lake.publish(orders)
    orders.append(1)
    lake.publish(orders)
    items.append(2)
    lake.publish(items)
    first = lake.backup().run
    first_bytes = bytes_of(orders) | bytes_of(items)
    orders.delete(orders.live_paths()[:1])
    orders.append(1)
    lake.publish(orders)
    items.append(1)
    items.add_files([_large(items)])
    items.add_statistics()
    lake.publish(items)
    kept, plan = lake.keep(), FaultPlan()
    assert lake.backup(open_=faulty_open(plan, lake.open_store)).record.backup_metadata.status == "complete"
    second_bytes = bytes_of(orders) | bytes_of(items)
    return Before(lake, kept, first, first_bytes, second_bytes, lake.reached(), plan.calls, plan.effects, where.every)


def _large(table: SyntheticTable) -> Json:
    """A file that a bucket copies by itself, which takes an upload in parts."""
    path, size = table.files.write("data/large.parquet", bytes(WORTH_BYTES))
    return {"file_path": path, "file_size_in_bytes": size}


@pytest.fixture
def lake(before: Before) -> Iterator[Lake]:
    yield before.lake
    before.lake.set_back(before.kept)


@pytest.mark.parametrize("way", WAYS)
def test_at_every_effect(before: Before, lake: Lake, way: str) -> None:
    for strike in strikes(way, before.effects, before.every):
        lake.set_back(before.kept)
        plan = strike.plan()
        _struck(lake, plan)
        fired(strike, plan)
        _still_right(before, lake, str(strike))


@pytest.mark.parametrize("operation", ["head", "read", "blocks", "list", "list_versions"])
def test_at_every_look(before: Before, lake: Lake, operation: str) -> None:
    looks = enumerate([call for call in before.calls if call.operation == operation], 1)
    for nth, call in list(looks)[:: before.every]:
        lake.set_back(before.kept)
        plan = FaultPlan()
        plan.before(operation, nth)
        _struck(lake, plan)
        plan.assert_all_fired()
        _still_right(before, lake, str(Strike("no answer", nth, call)))


def test_there_is_much_to_strike(before: Before) -> None:
    kinds = {call.key.split("/")[0] for call in before.effects}
    assert {"runs", "tables", "points", "log"} <= kinds
    assert len(before.effects) > 40


def test_undisturbed_both_points_come_back(before: Before, lake: Lake) -> None:
    lake.backup()
    _restores(lake, before.first, before.first_bytes, "none")
    _restores(lake, "latest", before.second_bytes, "none")


def _struck(lake: Lake, plan: FaultPlan) -> None:
    """Whatever comes of it, it is told as an error of ours, or as an end of the program."""
    try:
        lake.backup(open_=faulty_open(plan, lake.open_store))
    except (BergungError, Crash):
        pass


def _still_right(before: Before, lake: Lake, strike: str) -> None:
    points = lake.points()
    assert points[0] == before.first, strike
    for point in points[1:]:
        _whole(before, lake, point, strike)
    assert lake.backup().record.backup_metadata.status == "complete", strike
    assert lake.reached() == before.reached, strike
    # All points at once: those from before the strike, one that the struck run sealed, and the new one.
    seen = lake.verify()
    assert (seen.damages, seen.points, seen.void_slots) == ((), len(points) + 1, ()), strike
    if isinstance(lake.parts, Buckets):
        assert lake.parts.unfinished() == [], strike
    _restores(lake, before.first, before.first_bytes, strike)


def _whole(before: Before, lake: Lake, point: str, strike: str) -> None:
    """A point that the struck run sealed has every table that it does not name as failed, and all of each."""
    record = lake.record(point)
    failed = record.backup_metadata.failed
    assert set(record.tables) | set(failed) == TABLES, strike
    assert record.backup_metadata.status == ("partial" if failed else "complete"), strike
    wanted = {key: found for key, found in before.reached.items() if key[0] in record.tables}
    assert lake.reached(point) == wanted, strike


def _restores(lake: Lake, point: str, wanted: dict[str, bytes], strike: str) -> None:
    lake.drop("orders", "items")
    lake.empty_source()
    lake.restore(point)
    assert contents(lake.source) == wanted, strike
