"""Who asks: every way to log in that PyIceberg reads, against a server that looks."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from pyiceberg.catalog.rest.auth import AuthManager

from bergung.catalogs.declaration import Declaration
from bergung.catalogs.rest.catalog import RestCatalog, open_declared
from bergung.catalogs.rest.told import LoginEnded, TooSlow
from bergung.catalogs.settings import open_catalog
from bergung.clock import SystemClock
from bergung.errors import BergungError, NotAllowed, UsageError
from bergung.model.names import TableName
from bergung.stores.open import open_store
from tests.servers.rest_front import JSON, Front, Rule, error, rest_front

TABLE = TableName("lake", ("sales",), "orders")
LOADED = {"metadata-location": "file:///t/v1.metadata.json", "metadata": {}}
LOAD = "/v1/namespaces/sales/tables/orders"


@pytest.fixture
def front() -> Iterator[Front]:
    with rest_front() as front:
        front.says("GET", "/v1/config", {})
        front.says("GET", LOAD, LOADED)
        yield front


def opened(front: Front, sections: Mapping[str, Mapping[str, Any]] | None = None, **properties: str) -> RestCatalog:
    named = {name.replace("_", "-"): value for name, value in properties.items()}
    declaration = Declaration("lake", {"uri": f"{front.url}/", **named}, SystemClock(), open_store, sections or {})
    return open_declared(declaration)


def given(front: Front, name: str = "Authorization") -> list[str]:
    """What came with each request for the table."""
    return [each.headers.get(name, "") for each in front.requests("GET", LOAD)]


def token(front: Front, *texts: str, path: str = "/v1/oauth/tokens", delay_seconds: float = 0, **body: Any) -> None:
    for text in reversed(texts):
        front.says("POST", path, {"access_token": text, "token_type": "bearer", **body}, times=1, delay_seconds=delay_seconds)


def test_a_token_is_sent_as_it_is(front: Front) -> None:
    opened(front, token="given").locate(TABLE)
    assert given(front) == ["Bearer given"]


def test_without_credentials_nothing_is_said(front: Front) -> None:
    opened(front).locate(TABLE)
    assert given(front) == [""]


def test_a_credential_is_changed_for_a_token_once(front: Front) -> None:
    token(front, "one")
    catalog = opened(front, credential="me:se:cret", scope="some", audience="them", resource="it")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(catalog.locate, [TABLE] * 16))
    assert set(given(front)) == {"Bearer one"}
    (asked,) = front.requests("POST", "/v1/oauth/tokens")
    wanted = {"grant_type": "client_credentials", "client_id": "me", "client_secret": "se:cret"}
    wanted |= {"scope": "some", "audience": "them", "resource": "it"}
    assert {name: value for name, (value,) in parse_qs(asked.body.decode()).items()} == wanted
    assert asked.headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert "Authorization" not in asked.headers


def test_of_many_that_need_a_new_token_one_fetches_it(front: Front) -> None:
    token(front, "one")
    catalog = opened(front, credential="secret")
    catalog.locate(TABLE)
    catalog._server.connection.login.renewed()
    token(front, "two", delay_seconds=0.1)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(catalog.locate, [TABLE] * 8))
    assert set(given(front)[1:]) == {"Bearer two"}


def test_a_token_that_is_refused_is_fetched_again(front: Front) -> None:
    token(front, "old", "new")
    front.says("GET", LOAD, error(419, "AuthenticationTimeoutException", "ended"), status=419, times=1)
    opened(front, credential="secret").locate(TABLE)
    assert given(front) == ["Bearer old", "Bearer new"]


def test_a_change_that_is_refused_is_sent_again_with_a_new_token(front: Front) -> None:
    token(front, "old", "new")
    front.rules[-1].times = 2
    front.says("GET", "/v1/namespaces/sales$", {"namespace": ["sales"]})
    front.says("POST", "/register", LOADED)
    front.says("POST", "/register", error(401, "NotAuthorizedException", "ended"), status=401, times=1)
    opened(front, credential="secret").register(TABLE, "file:///t/v1.metadata.json")
    assert [each.headers["Authorization"] for each in front.requests("POST", "/register")] == ["Bearer old", "Bearer new"]
    front.rules = [rule for rule in front.rules if rule.pattern != LOAD]


def test_a_token_is_fetched_again_before_it_ends(front: Front) -> None:
    token(front, "short", "short", "long", expires_in=59)
    catalog = opened(front, credential="secret")
    catalog.locate(TABLE)
    catalog.locate(TABLE)
    assert given(front) == ["Bearer short", "Bearer long"]


def test_a_token_that_stays_refused_is_told(front: Front) -> None:
    token(front, "one", "two")
    front.rules[:] = [rule for rule in front.rules if rule.pattern != LOAD]
    front.says("GET", LOAD, error(401, "NotAuthorizedException", "never two"), status=401)
    with pytest.raises(LoginEnded, match="401") as told:
        opened(front, credential="secret").locate(TABLE)
    assert len(given(front)) == 2
    assert "/v1/oauth/tokens" in told.value.hint
    assert "two" not in told.value.message


def test_a_credential_that_is_wrong_is_told(front: Front) -> None:
    front.rules.clear()
    front.says("POST", "/v1/oauth/tokens", {"error": "invalid_client", "error_description": "no secret"}, status=401)
    with pytest.raises(NotAllowed, match="no token from http.*/v1/oauth/tokens: it answers 401") as told:
        opened(front, credential="me:secret").tables()
    assert "check that id and secret are still good" in told.value.hint


@pytest.mark.parametrize("body", [b"<html>", b"{}"])
def test_a_place_that_gives_no_tokens_is_told(front: Front, body: bytes) -> None:
    front.rules.clear()
    front.rule(Rule("POST", "/elsewhere", 200, body, JSON))
    with pytest.raises(BergungError, match="it answers 200 without one"):
        opened(front, credential="secret", oauth2_server_uri=f"{front.url}/elsewhere").tables()


def test_a_place_for_tokens_that_does_not_answer_is_not_waited_for_for_ever(front: Front) -> None:
    front.rules.clear()
    front.says("POST", "/v1/oauth/tokens", {}, delay_seconds=0.6)
    with pytest.raises(TooSlow):
        opened(front, credential="secret", **{"rest.client.socket_timeout_ms": "200"}).tables()


def test_the_section_auth_counts_more_than_a_token(front: Front) -> None:
    opened(front, {"auth": {"type": "basic", "basic": {"username": "me", "password": "pass"}}}, token="given").locate(TABLE)
    assert given(front) == [f"Basic {b64encode(b'me:pass').decode()}"]


def test_oauth2_says_who_it_is_in_a_header(front: Front) -> None:
    token(front, "one", path="/tokens", expires_in=3600)
    own = {"client_id": "me", "client_secret": "secret", "token_url": f"{front.url}/tokens", "scope": "all"}
    opened(front, {"auth": {"type": "oauth2", "oauth2": own}}).locate(TABLE)
    assert given(front) == ["Bearer one"]
    (asked,) = front.requests("POST", "/tokens")
    assert asked.headers["Authorization"] == f"Basic {b64encode(b'me:secret').decode()}"
    assert asked.body == b"grant_type=client_credentials&scope=all"


class Mine(AuthManager):
    """As users write them for PyIceberg."""

    def __init__(self, word: str) -> None:
        self.word = word

    def auth_header(self) -> str:
        return f"Mine {self.word}"


def test_a_manager_of_ones_own_is_used(front: Front) -> None:
    auth = {"type": "custom", "impl": f"{Mine.__module__}.Mine", "custom": {"word": "please"}}
    opened(front, {"auth": auth}).locate(TABLE)
    assert given(front) == ["Mine please"]


def test_sections_come_from_the_users_own_configuration(front: Front, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".pyiceberg.yaml").write_text(
        f"catalog:\n  lake:\n    uri: {front.url}\n    auth:\n      type: basic\n"
        "      basic:\n        username: me\n        password: pass\n"
    )
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    open_catalog("lake").locate(TABLE)
    assert given(front) == [f"Basic {b64encode(b'me:pass').decode()}"]


def test_a_section_without_a_type_is_told() -> None:
    with rest_front() as front, pytest.raises(UsageError, match="auth has no type"):
        opened(front, {"auth": {"basic": {}}}).tables()


def test_what_the_server_gives_for_the_login_counts(front: Front) -> None:
    front.rules[:] = [rule for rule in front.rules if rule.pattern != "/v1/config"]
    front.says("GET", "/v1/config", {"defaults": {"token": "default"}, "overrides": {"header.X-Of": "server", "token": "theirs"}})
    opened(front, token="ours").locate(TABLE)
    assert [each.headers["Authorization"] for each in front.requests("GET", "/v1/config")] == ["Bearer ours"]
    assert given(front) == ["Bearer theirs"]
    assert given(front, "X-Of") == ["server"]


def test_headers_of_the_declaration_are_sent(front: Front) -> None:
    opened(front, **{"header.X-Mine": "yes", "header.X-Iceberg-Access-Delegation": "remote-signing"}).locate(TABLE)
    assert given(front, "X-Mine") == ["yes"]
    assert given(front, "X-Iceberg-Access-Delegation") == ["remote-signing"]
    opened(front).locate(TABLE)
    assert given(front, "X-Iceberg-Access-Delegation")[-1] == "vended-credentials"


def test_the_warehouse_is_asked_for_and_its_prefix_used(front: Front) -> None:
    front.rules.clear()
    front.says("GET", r"/v1/config\?warehouse=my\+lake%2F1$", {"overrides": {"prefix": "a/b"}})
    front.says("GET", "^/v1/a/b/namespaces/sales/tables/orders", LOADED)
    opened(front, warehouse="my lake/1").locate(TABLE)


def test_requests_are_signed_for_aws(front: Front) -> None:
    properties = {"rest.sigv4-enabled": "true", "rest.signing-region": "eu-central-1", "rest.signing-name": "glue"}
    properties |= {"client.access-key-id": "AKIA", "client.secret-access-key": "secret"}
    declaration = Declaration("lake", {"uri": front.url, "token": "kept", **properties}, SystemClock(), open_store)
    odd = TableName("lake", ("sales", "a b"), "100%")
    front.says("GET", "100%25", LOADED)
    open_declared(declaration).locate(odd)
    (asked,) = front.requests("GET", "100%25")
    assert asked.headers["Original-Authorization"] == "Bearer kept"
    assert asked.headers["Authorization"] == signature(front, asked.path, asked.headers)
    front.rules = [rule for rule in front.rules if rule.pattern != LOAD]


def signature(front: Front, path: str, headers: Mapping[str, str]) -> str:
    """What AWS would compute from what came."""
    parts = urlsplit(front.url + path)
    words = headers["Authorization"]
    names = words.partition("SignedHeaders=")[2].partition(",")[0].split(";")
    kept = {name: value for name, value in headers.items() if name.lower() in names and name.lower() != "host"}
    query = {name: value for name, (value,) in parse_qs(parts.query).items()}
    request = AWSRequest("GET", f"{parts.scheme}://{parts.netloc}{parts.path}", kept, b"", query)
    signer = SigV4Auth(Credentials("AKIA", "secret"), "glue", "eu-central-1")
    request.context["timestamp"] = headers["X-Amz-Date"]
    text = signer.string_to_sign(request, signer.canonical_request(request))
    return words.partition("Signature=")[0] + "Signature=" + signer.signature(text, request)


def test_signing_without_a_region_is_told(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    front.rules.clear()
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    keys = {"client.access-key-id": "AKIA", "client.secret-access-key": "secret"}
    with pytest.raises(UsageError, match="no region for that"):
        opened(front, **{"rest.sigv4-enabled": "true", **keys}).tables()
