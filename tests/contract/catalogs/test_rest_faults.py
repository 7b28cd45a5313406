"""A real REST server behind a front where answers are lost or come otherwise."""

from collections.abc import Iterator

import pytest

from bergung.catalogs.base import Catalog
from bergung.errors import BergungError
from bergung.model.names import TableName
from tests.contract.catalogs.test_rest import RestEngine, opened
from tests.servers.rest_front import Front, Rule, rest_front
from tests.servers.rest_server import RestServer

ORDERS = TableName("lake", ("sales",), "orders")


@pytest.fixture
def front(rest: RestServer) -> Iterator[Front]:
    with rest_front(rest.catalog("swap")) as front:
        yield front


@pytest.fixture
def engine(front: Front) -> RestEngine:
    engine = RestEngine(front.upstream)
    engine.create_namespace(("sales",), {})
    engine.create_table(ORDERS)
    return engine


@pytest.fixture
def catalog(front: Front, engine: RestEngine) -> Catalog:
    return opened(front.url)


@pytest.mark.parametrize("lost", [{"hangs_up": True}, {"status": 500, "body": b"<html>"}, {"status": 504, "body": b"late"}])
def test_an_answer_to_a_registration_that_is_lost_is_looked_after(
    front: Front, catalog: Catalog, engine: RestEngine, lost: dict[str, object]
) -> None:
    copy = TableName("lake", ("sales",), "copy")
    front.rule(Rule("POST", "/register$", forwards=True, **lost))  # type: ignore[arg-type]
    catalog.register(copy, engine.pointer(ORDERS))
    assert engine.pointer(copy) == engine.pointer(ORDERS)
    assert len(front.requests("POST", "/register$")) == 1


def test_an_answer_to_a_swap_that_is_lost_is_looked_after(front: Front, catalog: Catalog, engine: RestEngine) -> None:
    first = engine.pointer(ORDERS)
    engine.append(ORDERS, 1)
    front.rule(Rule("POST", "/register$", forwards=True, hangs_up=True))
    catalog.replace(ORDERS, first, expected=engine.pointer(ORDERS))
    assert engine.pointer(ORDERS) == first
    assert len(front.requests("POST", "/register$")) == 1


def test_a_registration_that_never_arrived_is_told(front: Front, catalog: Catalog, engine: RestEngine) -> None:
    copy = TableName("lake", ("sales",), "copy")
    front.rule(Rule("POST", "/register$", hangs_up=True))
    with pytest.raises(BergungError, match="cannot be reached"):
        catalog.register(copy, engine.pointer(ORDERS))
    assert catalog.tables() == [ORDERS]


def test_the_servers_own_etag_saves_the_second_reading(front: Front, catalog: Catalog, engine: RestEngine) -> None:
    others = [TableName("lake", ("sales",), f"t{number}") for number in range(3)]
    for table in others:
        engine.create_table(table)
    first = catalog.locate_all([ORDERS, *others])
    engine.append(ORDERS, 1)
    second = catalog.locate_all([ORDERS, *others])
    assert second[ORDERS].metadata_location == engine.pointer(ORDERS) != first[ORDERS].metadata_location
    assert second[ORDERS].served != first[ORDERS].served
    assert all(second[table].served is first[table].served for table in others)
    assert all(second[table].read_at > first[table].read_at for table in others)


def test_a_backup_of_a_shaky_server_finds_everything(front: Front, catalog: Catalog, engine: RestEngine) -> None:
    tables = [TableName("lake", ("sales",), f"t{number}") for number in range(9)]
    for table in tables:
        engine.create_table(table)
    front.rule(Rule("GET", "/", 503, times=3))
    front.rule(Rule("GET", "/tables", hangs_up=True, times=3))
    assert catalog.tables() == [ORDERS, *tables]
    assert set(catalog.locate_all(catalog.tables())) == {ORDERS, *tables}
