"""A copy of a vault is stopped at every effect: what it shows is whole, and the next run ends in the same bytes."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from bergung.carry.effects import Effects, here
from bergung.errors import BergungError
from bergung.stores.memory import MemoryStore
from bergung.stores.open import open_store
from bergung.stores.probe import PROBE
from bergung.upkeep.copying import CopyRequest, CopyResult, run_copy
from bergung.upkeep.verify import VerifyRequest, run_verify
from bergung.vault.layout import ADMIN_LOG, VAULT_DOCUMENT
from bergung.vault.log import append
from bergung.vault.vault import open_vault, read_state
from tests.faults.faulty_store import Call, Crash, FaultPlan, faulty_open
from tests.faults.lake import Lake, contents, filled
from tests.faults.strikes import WAYS, Strike, fired, strikes
from tests.synthetic import Shape


@dataclass(frozen=True)
class Before:
    """A vault with three points, one of them forgotten; a copy that has the first; and what a whole copy comes to."""

    lake: Lake
    second: dict[str, bytes]
    points: list[str]
    wanted: dict[str, bytes]
    calls: list[Call]
    effects: list[Call]


@pytest.fixture(scope="module", params=[pytest.param("first copy", marks=pytest.mark.nightly), "further copy"])
def before(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Before:
    lake = Lake(tmp_path_factory.mktemp("lake"))
    orders, items = lake.table("orders"), lake.table("items", Shape(format_version=1))
    orders.append(2)
    lake.publish(orders)
    items.append(1)
    lake.publish(items)
    lake.backup()
    second = filled(f"{lake.name}-second", {})
    if request.param == "further copy":
        copy(lake)
    orders.append(1)
    orders.delete(orders.live_paths()[:1])
    lake.publish(orders)
    lake.backup()
    append(lake.store, ADMIN_LOG, "forget", {"at": "2026-01-01T00:00:00.000000Z", "points": [lake.points()[-1]]})
    items.append(1)
    items.add_statistics()
    lake.publish(items)
    lake.backup()
    kept, plan = contents(second), FaultPlan()
    copy(lake, plan)
    return Before(lake, kept, lake.points(), plain(second), plan.calls, plan.effects)


@pytest.fixture
def lake(before: Before) -> Iterator[Lake]:
    """With the second vault as it was before the copy."""
    set_back(before)
    yield before.lake


def set_back(before: Before) -> MemoryStore:
    return filled(f"{before.lake.name}-second", before.second)


def copy(lake: Lake, plan: FaultPlan | None = None) -> CopyResult:
    open_ = open_store if plan is None else faulty_open(plan)
    return run_copy(lake.effects(open_), lake.vault(open_), CopyRequest(f"memory://{lake.name}-second"))


def plain(store: MemoryStore) -> dict[str, bytes]:
    """Without journals, which differ from run to run, and without what a probe that was killed could not take away."""
    return {key: content for key, content in contents(store).items() if not key.startswith(("runs/", PROBE))}


@pytest.mark.parametrize("way", WAYS)
def test_at_every_effect(before: Before, lake: Lake, way: str) -> None:
    # What a probe of the store meets is told by tests of its own; in which order its writers come is not known.
    for strike in (each for each in strikes(way, before.effects) if not each.call.key.startswith(PROBE)):
        second, plan = set_back(before), strike.plan()
        _struck(lake, plan)
        fired(strike, plan)
        _still_right(before, second, str(strike))


@pytest.mark.parametrize("operation", ["head", "read", "blocks", "list", "list_versions"])
def test_at_every_look(before: Before, lake: Lake, operation: str) -> None:
    for nth, call in enumerate([call for call in before.calls if call.operation == operation], 1):
        second, plan = set_back(before), FaultPlan()
        plan.before(operation, nth)
        _struck(lake, plan)
        plan.assert_all_fired()
        _still_right(before, second, str(Strike("no answer", nth, call)))


def test_bytes_that_break_off_on_their_way_are_never_seen(before: Before, lake: Lake) -> None:
    reads = [call for call in before.calls if call.operation == "blocks"]
    for nth in range(1, len(reads) + 1):
        second, plan = set_back(before), FaultPlan()
        plan.torn("blocks", nth, after_bytes=3)
        _struck(lake, plan)
        plan.assert_all_fired()
        _still_right(before, second, f"torn at {nth}: {reads[nth - 1].key}")


def test_there_is_much_to_strike(before: Before) -> None:
    kinds = {call.key.split("/")[0] for call in before.effects}
    assert {"runs", "tables", "points", "log", "log-admin"} <= kinds
    assert len([call for call in before.effects if not call.key.startswith(PROBE)]) > 30


def _struck(lake: Lake, plan: FaultPlan) -> None:
    """Whatever comes of it, it is told as an error of ours, or as an end of the program."""
    try:
        copy(lake, plan)
    except (BergungError, Crash):
        pass


def _still_right(before: Before, second: MemoryStore, strike: str) -> None:
    assert _is_beginning(plain(second), before.wanted), strike
    shown = _points(second)
    assert shown == before.points[: len(shown)], strike
    copied = copy(before.lake)
    assert copied.verified.damages == (), strike
    assert plain(second) == before.wanted, strike


def _is_beginning(found: dict[str, bytes], wanted: dict[str, bytes]) -> bool:
    """Nothing else lies there, and no other bytes."""
    return all(wanted.get(key) == content for key, content in found.items())


def _points(second: MemoryStore) -> list[str]:
    """Those that it shows, all of them whole; none before it is a vault."""
    if not any(second.list("log/")):
        return []
    assert any(second.list(VAULT_DOCUMENT))
    vault = open_vault(second.url, open_store)
    seen = run_verify(Effects(engine=here), vault, VerifyRequest())
    assert (seen.damages, seen.void_slots) == ((), ())
    return [point.id for point in read_state(vault).points]
