"""A table in a warehouse folder is lost or taken back, and the run is stopped at every effect, those of its catalog among them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from bergung.catalogs.base import Catalog
from bergung.catalogs.declaration import Declaration
from bergung.catalogs.hadoop import open_declared
from bergung.errors import BergungError
from bergung.model.names import TableName
from bergung.stores.base import OpenStore
from bergung.stores.open import open_store
from tests.faults.faulty_store import Call, Crash, FaultPlan, faulty_open
from tests.faults.lake import CATALOG, NAMESPACE, PLAIN, Kept, Lake, contents
from tests.faults.strikes import WAYS, Strike, fired, strikes
from tests.synthetic import SyntheticTable

ORDERS = TableName(CATALOG, (NAMESPACE,), "orders")
METADATA = "sales/orders/metadata/"
HINT = f"{METADATA}version-hint.text"


class HadoopTable(SyntheticTable):
    """Its metadata files are named as versions."""

    def commit(self, *, snapshot: bool = True) -> str:
        written = super().commit(snapshot=snapshot)
        self.metadata_path = f"{self.location}/metadata/v{len(self.metadata_log) + 1}.metadata.json"
        self.local(written).rename(self.local(self.metadata_path))
        return self.metadata_path


class HadoopLake(Lake):
    """The warehouse is the source's bucket."""

    is_made = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.is_made = True

    def catalog(self, name: str = CATALOG, open_: OpenStore = open_store) -> Catalog:
        if not self.is_made:
            return super().catalog(name)
        return open_declared(Declaration(name, {"warehouse": self.source.url}, self.clock, open_))

    def opener(self, open_: OpenStore) -> Callable[[str], Catalog]:
        return lambda name: self.catalog(name, open_)


@dataclass(frozen=True)
class Before:
    """A point at version 2; the table as it was then, and as it is two versions later."""

    lake: HadoopLake
    wanted: dict[str, bytes]
    lost: Kept
    moved_on: Kept


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Before:
    lake = HadoopLake(tmp_path_factory.mktemp("lake"))
    table = HadoopTable(lake.folder / "orders", replace(PLAIN, location=f"{lake.source.url}/sales/orders"))
    _commits(lake, table, 2)
    lake.backup()
    wanted = contents(lake.source)
    _commits(lake, table, 2)
    lake.source.put_if_absent(HINT, [b"4"])
    moved_on = lake.keep()
    lake.empty_source()
    return Before(lake, wanted, lake.keep(), moved_on)


@pytest.fixture
def lake(before: Before) -> Iterator[HadoopLake]:
    yield before.lake
    before.lake.set_back(before.lost)


@pytest.mark.parametrize("way", WAYS)
def test_a_lost_table_at_every_effect(before: Before, lake: HadoopLake, way: str) -> None:
    """Its newest version is there only with everything else; and it is version 2 when all is done, never a third."""
    for strike in _strikes(way, lake, before.lost):
        _struck(lake, before.lost, strike)
        there = contents(lake.source)
        if f"{METADATA}v2.metadata.json" in there:
            assert before.wanted.items() <= there.items(), strike
        lake.restore(words=(str(ORDERS),), over=True)
        found = contents(lake.source)
        # When the newest version was there already there was nothing to register: readers of Java do without the hint.
        assert found.pop(HINT, b"2") == b"2", strike
        assert found == before.wanted, strike
        assert lake.catalog().locate(ORDERS).metadata_location.endswith("/v2.metadata.json"), strike


@pytest.mark.parametrize("way", WAYS)
def test_a_table_that_is_taken_back_at_every_effect(before: Before, lake: HadoopLake, way: str) -> None:
    """Before and after, whatever is there stays; the old state is the fifth version, written once."""
    old = before.wanted[f"{METADATA}v2.metadata.json"]
    lasting = {key: content for key, content in before.moved_on.source.items() if key != HINT}
    for strike in _strikes(way, lake, before.moved_on):
        _struck(lake, before.moved_on, strike)
        there = contents(lake.source)
        assert lasting.items() <= there.items(), strike
        assert there.get(f"{METADATA}v5.metadata.json", old) == old, strike
        assert there.get(HINT, b"5") in (b"4", b"5"), strike
        lake.restore(words=(str(ORDERS),), over=True)
        assert contents(lake.source) == {**lasting, f"{METADATA}v5.metadata.json": old, HINT: b"5"}, strike


def _strikes(way: str, lake: HadoopLake, kept: Kept) -> Iterator[Strike]:
    """Without those that cannot happen: no answer is lost of deleting what is not there, and a hint is too short to be torn."""
    for strike in strikes(way, _effects(lake, kept)):
        nothing_done = strike.call.operation == "delete" and strike.call.key not in kept.source
        if nothing_done and "answer lost" in way or way == "torn write" and strike.call.key == HINT:
            continue
        yield strike


def _commits(lake: HadoopLake, table: HadoopTable, count: int) -> None:
    for _ in range(count):
        table.append(1)
        table.commit()
        lake.upload(table)


def _effects(lake: HadoopLake, kept: Kept) -> list[Call]:
    lake.set_back(kept)
    plan = FaultPlan()
    _restore(lake, plan)
    assert any(call.key == HINT for call in plan.effects)
    return plan.effects


def _struck(lake: HadoopLake, kept: Kept, strike: Strike) -> None:
    lake.set_back(kept)
    plan = strike.plan()
    try:
        _restore(lake, plan)
    except (BergungError, Crash):
        pass
    fired(strike, plan)


def _restore(lake: HadoopLake, plan: FaultPlan) -> None:
    faulty = faulty_open(plan)
    lake.restore(words=(str(ORDERS),), open_=faulty, open_catalog=lake.opener(faulty), over=True)
