"""A REST server that answers wrongly, slowly or not at all: each is told by its own words, and no secret with it."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bergung.catalogs.declaration import Declaration
from bergung.catalogs.rest.catalog import RestCatalog, open_declared
from bergung.catalogs.rest.told import LoginEnded, NoAnswer, TooSlow, Unanswered
from bergung.clock import SystemClock
from bergung.errors import BergungError, Busy, NotAllowed, UnknownTable, UsageError
from bergung.model.names import TableName
from bergung.stores.open import open_store
from tests.servers.certificate import self_signed
from tests.servers.process import HOST, free_port
from tests.servers.rest_front import JSON, Front, Rule, error, rest_front

TABLE = TableName("lake", ("sales",), "orders")
SECRET = "tell-nobody-of-me"
CONFIG = {"defaults": {}, "overrides": {}, "endpoints": ["GET /v1/{prefix}/namespaces/{namespace}/tables/{table}"]}
LOADED = {"metadata-location": "file:///t/metadata/v1.metadata.json", "metadata": {"format-version": 2}, "config": {}}
LOAD = "/v1/namespaces/sales/tables/orders"


@pytest.fixture
def front() -> Iterator[Front]:
    with rest_front() as front:
        front.says("GET", "/v1/config", CONFIG)
        yield front


def opened(front: Front, **properties: str) -> RestCatalog:
    named = {name.replace("_", "-"): value for name, value in properties.items()}
    return open_declared(Declaration("lake", {"uri": front.url, "token": SECRET, **named}, SystemClock(), open_store))


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [(400, BergungError, "400: no"), (401, LoginEnded, "401: no"), (403, NotAllowed, "403: no"), (409, Busy, "409: no"),
     (419, LoginEnded, "419: no"), (422, BergungError, "422: no"), (429, Busy, "429: no"), (500, Unanswered, "500: no"),
     (501, BergungError, "501: no"), (503, Busy, "503: no")],
)  # fmt: skip
def test_each_status_is_an_error_of_its_own(front: Front, status: int, kind: type[BergungError], words: str) -> None:
    front.says("GET", LOAD, error(status, "Some", f"no, {SECRET}, and not {SECRET}"), status=status)
    with pytest.raises(kind, match=words) as told:
        opened(front).locate(TABLE)
    assert type(told.value) is kind
    assert told.value.message.startswith("the server of the catalog lake")
    assert told.value.hint
    assert SECRET not in told.value.message + told.value.hint
    assert "***" in told.value.message
    assert len(front.requests("GET", LOAD)) == (4 if status in (429, 500, 503) else 1)


def test_a_table_that_is_not_there_is_unknown(front: Front) -> None:
    front.says("GET", LOAD, error(404, "NoSuchTableException", "none"), status=404)
    with pytest.raises(UnknownTable, match=r"no table lake\.sales\.orders"):
        opened(front).locate(TABLE)


def test_what_may_pass_is_asked_again(front: Front) -> None:
    front.says("GET", LOAD, LOADED)
    front.says("GET", LOAD, error(503, "Unavailable", "wait"), status=503, times=1)
    front.rule(Rule("GET", LOAD, hangs_up=True, times=1))
    assert opened(front).locate(TABLE).metadata_location == LOADED["metadata-location"]
    assert len(front.requests("GET", LOAD)) == 3


def test_the_server_says_how_long_to_wait(front: Front) -> None:
    front.says("GET", LOAD, LOADED)
    front.rule(Rule("GET", LOAD, 429, headers={**JSON, "Retry-After": "1"}, times=1))
    began = time.perf_counter()
    opened(front).locate(TABLE)
    assert time.perf_counter() - began >= 1


def test_a_change_is_asked_for_once(front: Front) -> None:
    front.says("GET", "/v1/namespaces/sales$", {"namespace": ["sales"], "properties": {}})
    refused = front.says("POST", "/register", error(503, "Unavailable", "wait"), status=503)
    with pytest.raises(Busy):
        opened(front).register(TABLE, "file:///new")
    assert refused.fired == 1
    assert front.requests("POST", "/register")[0].body == b'{"name":"orders","metadata-location":"file:///new"}'


def test_a_slow_server_is_told_with_the_time_it_was_given(front: Front) -> None:
    front.says("GET", LOAD, LOADED, delay_seconds=0.6)
    with pytest.raises(TooSlow, match="did not answer within 0.2 s") as told:
        opened(front, **{"rest.client.socket_timeout_ms": "200"}).locate(TABLE)
    assert "rest.client.socket-timeout-ms" in told.value.hint


def test_an_answer_that_stops_in_the_middle_is_slow_too(front: Front) -> None:
    stalled = front.says("GET", LOAD, LOADED, stalls=True, delay_seconds=0.6)
    with pytest.raises(TooSlow, match="did not answer within 0.2 s"):
        opened(front, **{"rest.client.socket_timeout_ms": "200"}).locate(TABLE)
    assert stalled.fired == 1


def test_an_answer_that_is_cut_off_is_asked_for_again(front: Front) -> None:
    front.says("GET", LOAD, LOADED)
    front.says("GET", LOAD, LOADED, stalls=True, times=1)
    assert opened(front).locate(TABLE).metadata_location == LOADED["metadata-location"]


@pytest.mark.parametrize(
    "body", [error(404, "NotFound", "no warehouse my"), {"status": 404, "error": "Not Found", "path": "/v1/config"}]
)
def test_a_wrong_warehouse_or_path_is_told(front: Front, body: object) -> None:
    front.rules.clear()
    front.says("GET", "/v1/config", body, status=404)
    with pytest.raises(UsageError, match="asked for its configuration, answers 404") as told:
        opened(front).tables()
    assert "warehouse" in told.value.hint and "/v1/config" in told.value.hint


@pytest.mark.parametrize("text", ["0", "-1", "ten", "1.5"])
def test_a_time_to_wait_must_be_one(front: Front, text: str) -> None:
    front.rules.clear()
    with pytest.raises(UsageError, match="no number of milliseconds"):
        opened(front, **{"rest.client.socket_timeout_ms": text}).tables()


@pytest.mark.parametrize("status", [200, 302, 404])
def test_a_login_page_is_no_catalog(front: Front, status: int) -> None:
    front.rules.clear()
    front.rule(Rule("GET", "/v1/config", status, b"<html>please log in</html>", {"Content-Type": "text/html; charset=utf-8"}))
    with pytest.raises(UsageError, match="answers with text/html, as no Iceberg REST catalog does") as told:
        opened(front).tables()
    assert "uri" in told.value.hint


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"endpoints": 1}'])
def test_another_service_that_speaks_json_is_no_catalog(front: Front, body: bytes) -> None:
    front.rules.clear()
    front.rule(Rule("GET", "/v1/config", 200, body, JSON))
    with pytest.raises(UsageError, match="its configuration is nothing that an Iceberg REST catalog says"):
        opened(front).tables()


def test_nobody_listens() -> None:
    catalog = open_declared(Declaration("lake", {"uri": f"http://user:{SECRET}@{HOST}:{free_port()}"}, SystemClock(), open_store))
    with pytest.raises(NoAnswer, match=f"at {HOST}:[0-9]+ cannot be reached: .*refused") as told:
        catalog.tables()
    assert SECRET not in told.value.message


@pytest.mark.parametrize("uri", ["http:///nothing", "htp://host/x", "nowhere"])
def test_no_address_at_all(uri: str) -> None:
    catalog = open_declared(Declaration("lake", {"uri": uri}, SystemClock(), open_store))
    with pytest.raises(UsageError, match="no usable address"):
        catalog.tables()


def test_a_server_whose_certificate_nobody_signed(tmp_path: Path) -> None:
    certificate, context = self_signed(tmp_path)
    with rest_front(tls=context) as front:
        front.says("GET", "/v1/config", CONFIG)
        front.says("GET", LOAD, LOADED)
        with pytest.raises(UsageError, match="is not trusted: .*self.signed") as told:
            opened(front).tables()
        assert "ssl.cabundle" in told.value.hint
        declaration = Declaration(
            "lake", {"uri": front.url}, SystemClock(), open_store, {"ssl": {"cabundle": str(certificate)}}
        )  # fmt: skip
        assert open_declared(declaration).locate(TABLE).metadata_location == LOADED["metadata-location"]


def test_pages_that_never_end_are_noticed(front: Front) -> None:
    front.says("GET", "/v1/namespaces", {"namespaces": [["a"]], "next-page-token": "x"})
    with pytest.raises(BergungError, match="the same page again"):
        opened(front).namespaces()


def test_connections_are_kept(front: Front) -> None:
    front.says("GET", LOAD, LOADED)
    catalog = opened(front)
    catalog.locate(TABLE)
    kept = catalog._server.connection._session.adapters["http://"].poolmanager.pools  # type: ignore[attr-defined]
    for _ in range(5):
        catalog.locate(TABLE)
    (pool,) = (kept[key] for key in kept.keys())
    assert (pool.num_connections, pool.num_requests) == (1, 7)
