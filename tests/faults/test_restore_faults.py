"""A restore is stopped at every effect: what was at the target stays as it was, and a second restore completes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from bergung.catalogs.base import Catalog
from bergung.errors import BergungError
from bergung.model.names import TableName
from tests.faults.buckets import EVERYWHERE, Buckets, Where
from tests.faults.faulty_catalog import FaultyCatalog
from tests.faults.faulty_store import Call, Crash, FaultPlan, faulty_open
from tests.faults.lake import CATALOG, NAMESPACE, Kept, Lake, bytes_of, contents
from tests.faults.strikes import WAYS, Strike, fired, strikes

NOTES = TableName(CATALOG, (NAMESPACE,), "notes")
STRANGER = "orders/data/of-somebody-else.txt"
GONE = 2


@dataclass(frozen=True)
class Before:
    """A lake after a disaster: one table dropped with its files, another with holes, a third gone from the catalog."""

    lake: Lake
    kept: Kept
    wanted: dict[str, bytes]
    pointers: dict[str, str]
    differs: str
    """A file of which the target has other bytes, which may be replaced when the restore is told so."""
    every: int


@pytest.fixture(scope="module", params=EVERYWHERE)
def before(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Before:
    where: Where = request.param
    lake = Lake(tmp_path_factory.mktemp("lake"), places=where.places(request))
    tables = {name: lake.table(name) for name in ("orders", "items", "notes")}
    for table in tables.values():
        table.append(2)
        lake.publish(table)
        table.append(1)
        lake.publish(table)
    lake.backup()
    wanted = {key: content for table in tables.values() for key, content in bytes_of(table).items()}
    pointers = {name: table.metadata_path or "" for name, table in tables.items()}
    lake.drop("orders")
    for path in tables["items"].live_paths()[:GONE]:
        lake.source.delete(path.removeprefix(f"{lake.source.url}/"))
    lake.source.put_if_absent(STRANGER, [b"not of the point"])
    differs = tables["notes"].live_paths()[0].removeprefix(f"{lake.source.url}/")
    return Before(lake, lake.keep(), wanted, pointers, differs, where.every)


@pytest.fixture
def lake(before: Before) -> Iterator[Lake]:
    before.lake.set_back(before.kept)
    yield before.lake
    before.lake.set_back(before.kept)


def test_it_says_what_it_would_do_and_does_nothing(before: Before, lake: Lake) -> None:
    plan = lake.restore(dry_run=True).plan
    assert [(table.table, table.absent.files, str(table.action)) for table in plan.tables] == [
        ("lake.sales.items", GONE, "nothing"),
        ("lake.sales.notes", 0, "nothing"),
        ("lake.sales.orders", len([key for key in before.wanted if key.startswith("orders/")]), "register"),
    ]
    assert contents(lake.source) == before.kept.source


@pytest.mark.parametrize("way", WAYS)
def test_at_every_effect(before: Before, lake: Lake, way: str) -> None:
    words = ("lake.sales.orders", "lake.sales.items")
    for strike in strikes(way, _effects(lake, words), before.every):
        lake.set_back(before.kept)
        was = _versions(lake)
        _struck(lake, strike, words)
        assert was.items() <= _versions(lake).items(), f"something that was there has changed: {strike}"
        _not_half(before, lake, "orders", str(strike))
        lake.restore(words=words)
        _is_back(before, lake, str(strike))
        assert was.items() <= _versions(lake).items(), strike


@pytest.mark.parametrize("way", WAYS)
def test_at_every_effect_over_other_bytes(before: Before, lake: Lake, way: str) -> None:
    """With the user's word a file of other bytes and a pointer are replaced: nothing else is touched, and never half."""
    _change(before, lake)
    changed, words = lake.keep(), (str(NOTES),)
    for strike in strikes(way, _effects(lake, words, over=True), before.every):
        lake.set_back(changed)
        was = _versions(lake)
        was.pop(before.differs)
        _struck(lake, strike, words, over=True)
        assert was.items() <= _versions(lake).items(), strike
        _not_half(before, lake, "notes", str(strike))
        lake.restore(words=words, over=True)
        assert contents(lake.source, "notes/") == _part(before.wanted, "notes/"), strike
        assert lake.catalog().locate(NOTES).metadata_location == before.pointers["notes"], strike


def _change(before: Before, lake: Lake) -> None:
    lake.source.delete(before.differs)
    lake.source.put_if_absent(before.differs, [b"other bytes"])
    lake.point("notes", before.pointers["items"])


def _effects(lake: Lake, words: tuple[str, ...] = (), *, over: bool = False) -> list[Call]:
    plan, kept = FaultPlan(), lake.keep()
    lake.restore(words=words, open_=faulty_open(plan, lake.open_store), open_catalog=_faulty(lake, plan), over=over)
    lake.set_back(kept)
    return plan.effects


def _struck(lake: Lake, strike: Strike, words: tuple[str, ...] = (), *, over: bool = False) -> None:
    plan = strike.plan()
    try:
        lake.restore(words=words, open_=faulty_open(plan, lake.open_store), open_catalog=_faulty(lake, plan), over=over)
    except (BergungError, Crash):
        pass
    fired(strike, plan)
    if isinstance(lake.parts, Buckets):
        assert lake.parts.unfinished() == [], str(strike)


def _part(objects: dict[str, bytes], prefix: str) -> dict[str, bytes]:
    return {key: content for key, content in objects.items() if key.startswith(prefix)}


def _faulty(lake: Lake, plan: FaultPlan) -> Callable[[str], Catalog]:
    return lambda name: FaultyCatalog(lake.catalog(name), plan)


def _versions(lake: Lake) -> dict[str, str]:
    return {stat.key: stat.version for stat in lake.source.list("")}


def _not_half(before: Before, lake: Lake, name: str, strike: str) -> None:
    """Files first, the metadata file after them, the catalog's entry last: who sees one sees all that comes before."""
    files = _part(before.wanted, f"{name}/")
    own = before.pointers[name].removeprefix(f"{lake.source.url}/")
    there = contents(lake.source, f"{name}/")
    found = lake.catalog().locate_all([TableName(CATALOG, (NAMESPACE,), name)]).values()
    if any(pointer.metadata_location == before.pointers[name] for pointer in found):
        assert own in there, strike
    if own in there and own not in before.kept.source:
        assert files.items() <= there.items(), strike


def _is_back(before: Before, lake: Lake, strike: str) -> None:
    found = contents(lake.source)
    assert found.pop(STRANGER) == b"not of the point"
    assert found == before.wanted, strike
    tables = {name: TableName(CATALOG, (NAMESPACE,), name) for name in before.pointers}
    assert {name: lake.catalog().locate(table).metadata_location for name, table in tables.items()} == before.pointers
