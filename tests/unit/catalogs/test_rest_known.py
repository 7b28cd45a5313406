"""What a catalog remembers of tables it was asked for, and what it makes of metadata without a file."""

from collections.abc import Iterator

import pytest

from bergung.catalogs.declaration import Declaration
from bergung.catalogs.rest import catalog as module
from bergung.catalogs.rest.catalog import RestCatalog, open_declared
from bergung.catalogs.rest.told import LoginEnded, NoAnswer
from bergung.clock import SystemClock
from bergung.errors import BergungError, NotAllowed, UsageError
from bergung.model.names import TableName
from bergung.stores.open import open_store
from tests.servers.rest_front import JSON, Front, Rule, error, rest_front

TABLES = [TableName("lake", ("sales",), f"t{number}") for number in range(10)]
ODD = b'{"metadata-location": null, "metadata": {"format-version":\t2, "odd": 1.0e2, "a": "\\u00e9", "a": 2 } }'


@pytest.fixture
def front() -> Iterator[Front]:
    with rest_front() as front:
        front.says("GET", "/v1/config", {})
        yield front


def opened(front: Front) -> RestCatalog:
    return open_declared(Declaration("lake", {"uri": front.url}, SystemClock(), open_store))


def loads(front: Front, table: TableName, etag: str = "", location: str = "file:///t/v1.metadata.json") -> Rule:
    body = f'{{"metadata-location":"{location}","metadata":{{"of":"{table.name}"}}}}'.encode()
    headers = JSON | ({"ETag": etag} if etag else {})
    return front.rule(Rule("GET", f"/tables/{table.name}[?]snapshots=all$", 200, body, headers))


def test_what_did_not_change_is_not_sent_again(front: Front) -> None:
    for table in TABLES:
        loads(front, table, f'W/"{table.name}"')
    catalog = opened(front)
    first = catalog.locate_all(TABLES)
    assert [pointer.served for pointer in first.values()] == [f'{{"of":"{table.name}"}}'.encode() for table in TABLES]
    for rule in front.rules:
        rule.times = rule.fired
    for table in TABLES[1:]:
        front.rule(Rule("GET", f"/tables/{table.name}[?]", 304))
    loads(front, TABLES[0], "other", "file:///t/v2.metadata.json")
    asked = len(front.asked)
    second = catalog.locate_all(TABLES)
    assert {each.path.partition("tables/")[2]: each.headers["If-None-Match"] for each in front.asked[asked:]} == {
        f"{table.name}?snapshots=all": f'W/"{table.name}"' for table in TABLES
    }
    assert second[TABLES[0]].metadata_location == "file:///t/v2.metadata.json"
    for table in TABLES[1:]:
        assert second[table].served is first[table].served
        assert second[table].read_at > first[table].read_at


def test_no_more_than_some_bytes_are_remembered(front: Front) -> None:
    for table in TABLES[:3]:
        loads(front, table, "tag")
    catalog = RestCatalog(Declaration("lake", {"uri": front.url}, SystemClock(), open_store), remembered_bytes=25)
    for _ in range(2):
        assert len(catalog.locate_all(TABLES[:3])) == 3
    told = ["If-None-Match" in each.headers for each in front.requests("GET", "/tables/")]
    assert sorted(told) == [False] * 4 + [True] * 2


def test_metadata_without_a_file_is_kept_byte_for_byte(front: Front) -> None:
    front.rule(Rule("GET", "/tables/t0", 200, ODD, JSON))
    found = opened(front).locate(TABLES[0])
    assert found.metadata_location == ""
    assert found.served == b'{"format-version":\t2, "odd": 1.0e2, "a": "\\u00e9", "a": 2 }'


def test_one_table_that_is_not_given_out_does_not_hide_the_others(front: Front) -> None:
    loads(front, TABLES[0])
    front.says("GET", "/tables/t1", error(403, "ForbiddenException", "not you"), status=403)
    front.says("GET", "/tables/t2", error(500, "Some", "broken"), status=500)
    catalog = opened(front)
    assert set(catalog.locate_all(TABLES[:3])) == {TABLES[0]}
    with pytest.raises(NotAllowed):
        catalog.locate(TABLES[1])


def test_a_login_that_ends_is_not_taken_for_tables_that_are_gone(front: Front) -> None:
    loads(front, TABLES[0])
    front.says("GET", "/tables/t1", error(401, "NotAuthorizedException", "who?"), status=401)
    with pytest.raises(LoginEnded):
        opened(front).locate_all(TABLES[:2])


def test_a_server_that_goes_away_is_not_taken_for_tables_that_are_gone(front: Front) -> None:
    loads(front, TABLES[0])
    front.rule(Rule("GET", "/tables/t1", hangs_up=True))
    with pytest.raises(NoAnswer):
        opened(front).locate_all(TABLES[:2])


def test_a_file_that_the_server_names_in_a_failure_is_damage(front: Front) -> None:
    front.says("GET", "/tables/t0[?]", error(500, "RuntimeIOException", "Failed to read file: s3://b/v1.metadata.json"), status=500)
    front.says("GET", "/namespaces/sales/tables[?]pageToken=$", {"identifiers": [{"namespace": ["sales"], "name": "t0"}]})
    with pytest.raises(module.UnreadableEntry, match=r"cannot load it .500: Failed to read file: s3://b/v1\.metadata\.json"):
        opened(front).locate(TABLES[0])


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({}, "/v1/namespaces/a%20b%1F100%25%1Fc.d/tables/x%2Fy"),
        ({"overrides": {"namespace-separator": "%2E"}}, "/v1/namespaces/a%20b%2E100%25%2Ec.d/tables/x%2Fy"),
        ({"defaults": {"namespace-separator": ":"}}, "/v1/namespaces/a%20b%3A100%25%3Ac.d/tables/x%2Fy"),
        ({"overrides": {"prefix": "ws/1"}}, "/v1/ws/1/namespaces/a%20b%1F100%25%1Fc.d/tables/x%2Fy"),
    ],
)
def test_names_are_written_as_the_server_wants_them(config: dict[str, dict[str, str]], path: str) -> None:
    with rest_front() as front:
        front.says("GET", "/v1/config", config)
        front.says("GET", "/tables/", {"metadata-location": "file:///x", "metadata": {}})
        opened(front).locate(TableName("lake", ("a b", "100%", "c.d"), "x/y"))
        assert front.requests("GET", "/tables/")[0].path == f"{path}?snapshots=all"


def test_names_of_dots_alone_stay_names(front: Front) -> None:
    front.says("GET", "^/v1/namespaces/%2E%2E/tables/%2E[?]", {"metadata-location": "file:///x", "metadata": {}})
    opened(front).locate(TableName("lake", ("..",), "."))


def test_a_level_that_holds_the_separator_is_told(front: Front) -> None:
    front.rules.clear()
    front.says("GET", "/v1/config", {"overrides": {"namespace-separator": "."}})
    with pytest.raises(UsageError, match="its separator . stands in a level"):
        opened(front).locate(TableName("lake", ("a", "b.c"), "t"))


def test_children_of_a_namespace_are_asked_for_with_its_levels(front: Front) -> None:
    front.says("GET", "/v1/namespaces[?]pageToken=$", {"namespaces": [["a b"]]})
    front.says("GET", "/v1/namespaces[?]parent=a[+]b&", {"namespaces": [["a b", "c"]]})
    front.says("GET", "/v1/namespaces[?]parent=a[+]b%1Fc&", {"namespaces": []})
    front.says("GET", "/v1/namespaces/", {"namespace": [], "properties": None})
    assert [each.levels for each in opened(front).namespaces()] == [("a b",), ("a b", "c")]


@pytest.mark.parametrize(
    ("status", "words", "passes"),
    [(400, "Nested namespaces are not supported", True), (406, "no", True), (501, "no", True), (400, "bad day", False)],
)
def test_a_server_of_one_level_is_not_asked_for_more(front: Front, status: int, words: str, passes: bool) -> None:
    front.says("GET", "/v1/namespaces[?]pageToken=$", {"namespaces": [["a"]]})
    front.says("GET", "/v1/namespaces[?]parent=a&", error(status, "Some", words), status=status)
    if passes:
        front.says("GET", "/v1/namespaces/a/tables[?]", {"identifiers": [{"namespace": ["a"], "name": "t"}]})
        assert opened(front).tables() == [TableName("lake", ("a",), "t")]
    else:
        with pytest.raises(BergungError, match="bad day"):
            opened(front).tables()


def test_a_server_that_does_not_list_tables_is_told(front: Front) -> None:
    front.says("GET", "/v1/namespaces[?]pageToken=$", {"namespaces": [["a"]]})
    front.says("GET", "/v1/namespaces[?]parent=a&", {"namespaces": []})
    front.says("GET", "/v1/namespaces/a/tables[?]", error(501, "Some", "no lists"), status=501)
    with pytest.raises(BergungError, match="501: no lists"):
        opened(front).tables()


def test_views_are_asked_for_only_where_there_are_some(front: Front) -> None:
    front.rules[-1].times = 2
    assert opened(front).views() == []
    front.says("GET", "/v1/config", {"overrides": {"view-endpoints-supported": "true"}})
    front.says("GET", "/v1/namespaces[?]pageToken=$", {"namespaces": [["v"]]})
    front.says("GET", "/v1/namespaces[?]parent=v", {"namespaces": []})
    front.says("GET", "/v1/namespaces/v/views[?]", {"identifiers": [{"namespace": ["v"], "name": "one"}]})
    assert opened(front).views() == [TableName("lake", ("v",), "one")]


@pytest.mark.parametrize("status", [400, 405, 406, 409, 501])
def test_a_server_that_cannot_swap_is_told_by_any_answer(front: Front, status: int) -> None:
    loads(front, TABLES[0])
    front.says("POST", "/register$", error(status, "Some", "no"), status=status)
    with pytest.raises(module.Refused, match=f"in place .{status}: no"):
        opened(front).replace(TABLES[0], "file:///t/v0.metadata.json", expected="file:///t/v1.metadata.json")
    assert front.requests("POST", "/register$")[0].body.endswith(b'"overwrite":true}')


def test_a_server_that_says_yes_and_does_not_swap_is_told(front: Front) -> None:
    loads(front, TABLES[0])
    front.says("POST", "/register$", {"metadata": {}})
    with pytest.raises(module.Refused):
        opened(front).replace(TABLES[0], "file:///t/v0.metadata.json", expected="file:///t/v1.metadata.json")


def test_a_failure_to_register_that_did_not_register_is_told(front: Front) -> None:
    loads(front, TABLES[0])
    front.says("GET", "/v1/namespaces/sales$", {"namespace": ["sales"]})
    front.says("POST", "/register$", error(500, "Some", "broken"), status=500)
    with pytest.raises(BergungError, match="asked to register lake.sales.t0, answers 500: broken"):
        opened(front).register(TABLES[0], "file:///t/v9.metadata.json")
