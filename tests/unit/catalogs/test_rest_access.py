"""How a table's files are reached: what a server vends, and how it is renewed by whoever needs it."""

import multiprocessing
import pickle
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bergung.catalogs.declaration import Declaration
from bergung.catalogs.rest.catalog import RestCatalog, open_declared
from bergung.clock import SystemClock, to_ms
from bergung.errors import UsageError
from bergung.model.names import TableName
from bergung.stores.access import Access, fresh, reaching
from bergung.stores.open import open_store
from tests.servers.rest_front import Front, rest_front

TABLE = TableName("lake", ("sales",), "orders")
LOAD = "/v1/namespaces/sales/tables/orders[?]"
CREDENTIALS = "/v1/namespaces/sales/tables/orders/credentials$"
ENDPOINT = "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials"
METADATA = {"location": "s3://lake/orders"}


@pytest.fixture
def front() -> Iterator[Front]:
    with rest_front() as front:
        front.says("GET", "/v1/config", {"endpoints": [ENDPOINT, "GET /v1/{prefix}/namespaces"]})
        yield front


def keys(number: int, ends: datetime | None = None) -> dict[str, str]:
    own = {"s3.access-key-id": f"key{number}", "s3.secret-access-key": "secret", "s3.session-token": f"token{number}"}
    return own | ({"s3.session-token-expires-at-ms": str(to_ms(ends))} if ends else {})


def loads(front: Front, **more: Any) -> None:
    body = {"metadata-location": "s3://lake/orders/metadata/v1.metadata.json", "metadata": METADATA, **more}
    front.says("GET", LOAD, body)


def opened(front: Front, **properties: str) -> RestCatalog:
    return open_declared(Declaration("lake", {"uri": front.url, **properties}, SystemClock(), open_store))


def test_a_server_that_vends_nothing_leaves_what_is_declared(front: Front) -> None:
    loads(front, config={"token": "for the table"})
    assert opened(front).access(TABLE) == ()
    declared = {"s3.endpoint": "http://127.0.0.1:1", "s3.access-key-id": "mine"}
    assert opened(front, **declared).access(TABLE) == (Access("s3://", endpoint="http://127.0.0.1:1", key_id="mine"),)


def test_credentials_in_the_config_are_for_all_paths_of_the_table(front: Front) -> None:
    loads(front, config=keys(1))
    declared = {"s3.region": "eu-central-1", "s3.access-key-id": "mine", "s3.secret-access-key": "own"}
    (found,) = opened(front, **declared).access(TABLE)
    assert found == Access("s3://", region="eu-central-1", key_id="key1", secret="secret", token="token1")
    assert found.origin == "the catalog lake"


def test_credentials_with_prefixes_count_before_the_config(front: Front) -> None:
    ends = datetime(2030, 1, 1, tzinfo=UTC)
    vended = [
        {"prefix": "s3://lake/", "config": keys(2)},
        {"prefix": "s3://lake/orders/data", "config": keys(3, ends)},
        {"prefix": "gs://other", "config": {"gcs.oauth2.token": "x"}},
    ]
    loads(front, config=keys(1) | {"s3.endpoint": "http://127.0.0.1:9"}, **{"storage-credentials": vended})
    found = opened(front).access(TABLE)
    assert [each.prefix for each in found] == ["s3://lake/", "s3://lake/orders/data"]
    assert {each.endpoint for each in found} == {"http://127.0.0.1:9"}
    near = reaching("s3://lake/orders/data/1.parquet", found)
    assert near is not None
    assert (near.key_id, near.expires_at) == ("key3", ends)
    assert near.renew is not None
    assert found[0].renew is None


def test_a_prefix_can_be_all_of_s3(front: Front) -> None:
    loads(front, **{"storage-credentials": [{"prefix": "s3", "config": keys(1)}]})
    assert reaching("s3a://any/where", opened(front).access(TABLE)) is not None


def test_they_come_with_the_table_and_are_not_asked_for_again(front: Front) -> None:
    loads(front, config=keys(1))
    catalog = opened(front)
    catalog.locate(TABLE)
    assert catalog.access(TABLE)[0].key_id == "key1"
    assert len(front.requests("GET", LOAD)) == 1


def test_they_are_renewed_by_the_servers_own_address_for_that(front: Front) -> None:
    now = SystemClock().now()
    loads(front, **{"storage-credentials": [{"prefix": "s3://lake/", "config": keys(1, now + timedelta(minutes=1))}]})
    renewed = {"storage-credentials": [{"prefix": "s3://lake/", "config": keys(2, now + timedelta(hours=1))}]}
    front.says("GET", CREDENTIALS, renewed)
    (access,) = opened(front).access(TABLE)
    path = "s3://lake/orders/data/1.parquet"
    new = fresh(pickle.loads(pickle.dumps(access)), path, SystemClock())
    assert (new.key_id, new.token, new.prefix) == ("key2", "token2", "s3://lake/")
    assert fresh(new, path, SystemClock()) is new
    assert new.renew is not None
    assert len(front.requests("GET", LOAD)) == 1


def test_they_are_renewed_in_another_process(front: Front) -> None:
    soon = SystemClock().now() + timedelta(minutes=1)
    loads(front, **{"storage-credentials": [{"prefix": "s3://lake/", "config": keys(1, soon)}]})
    front.says("GET", CREDENTIALS, {"storage-credentials": [{"prefix": "s3://lake/", "config": keys(2)}]})
    (access,) = opened(front).access(TABLE)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        key, imported = pool.submit(renew_elsewhere, access).result()
    assert key == "key2"
    assert not [name for name in imported if name.startswith(("pyiceberg.catalog", "boto3", "pyspark"))]


def renew_elsewhere(access: Access) -> tuple[str, list[str]]:
    import sys

    return fresh(access, "s3://lake/x", SystemClock()).key_id, sorted(sys.modules)


def test_a_server_without_such_an_address_is_asked_for_the_table(front: Front) -> None:
    front.rules.clear()
    front.says("GET", "/v1/config", {})
    soon = SystemClock().now() + timedelta(minutes=1)
    loads(front, config=keys(1, soon))
    found = opened(front).access(TABLE)
    front.rules[0].times = 0
    loads(front, config=keys(2, soon + timedelta(hours=1)))
    new = fresh(found[0], "s3://lake/orders/x", SystemClock())
    assert (new.key_id, new.prefix) == ("key2", "s3://")


def test_a_server_that_signs_itself_is_told(front: Front) -> None:
    loads(front, config={"s3.remote-signing-enabled": "true", "s3.signer.uri": "x"})
    with pytest.raises(UsageError, match="signs requests for lake.sales.orders and gives no credentials") as told:
        opened(front).access(TABLE)
    assert "X-Iceberg-Access-Delegation: vended-credentials" in told.value.hint
    own = {"s3.access-key-id": "mine", "s3.secret-access-key": "secret"}
    assert opened(front, **own).access(TABLE)[0].key_id == "mine"


def test_secrets_are_not_shown(front: Front) -> None:
    soon = SystemClock().now() + timedelta(minutes=1)
    loads(front, config={**keys(1, soon), "s3.secret-access-key": "hidden"})
    shown = repr(opened(front, token="hidden").access(TABLE))
    assert "hidden" not in shown
    assert "token1" not in shown


def test_for_a_table_that_is_gone_what_is_declared_counts(front: Front) -> None:
    assert opened(front).access(TABLE) == ()
    assert opened(front, **{"s3.access-key-id": "mine"}).access(TABLE) == (Access("s3://", key_id="mine"),)
