"""Requests to one server: connections kept, every wait bounded, harmless questions asked again, errors told as ours."""

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import ReadTimeoutError

from bergung.catalogs.rest.auth import Login, login
from bergung.catalogs.rest.signing import Signer
from bergung.catalogs.rest.told import LoginEnded, NoAnswer, Said, TooSlow, error_of, names_a_file, no_catalog, said
from bergung.clock import Clock
from bergung.errors import BergungError, UsageError
from bergung.version import VERSION

PARALLEL = 8
CONNECT_TIMEOUT = "rest.client.connection-timeout-ms"
READ_TIMEOUT = "rest.client.socket-timeout-ms"
"""Names that Iceberg's Java client has for them; PyIceberg has none, and waits for ever."""
_AGAIN = (429, 500, 502, 503, 504)
_TRIES = 4
_LONGEST_PAUSE_SECONDS = 20.0


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    body: bytes = field(repr=False)
    etag: str = ""
    kind: str = ""
    pause_seconds: float = 0.0
    """The least that the server wants to be left alone."""

    @property
    def is_done(self) -> bool:
        """What was asked is done."""
        return self.status // 100 == 2

    @property
    def reason(self) -> Said:
        """What it says of an error."""
        return said(self.body)


class Connection:
    """To the server of one catalog; threads may share it."""

    def __init__(self, catalog: str, uri: str, properties: Mapping[str, str], sections: Mapping[str, Any], clock: Clock) -> None:
        self._who = f"the server of the catalog {catalog}"
        self._place = uri.partition("://")[2].rpartition("@")[2].partition("/")[0]
        self._timeouts = (_seconds(properties, CONNECT_TIMEOUT, "10000"), _seconds(properties, READ_TIMEOUT, "60000"))
        self._session = _session(properties, sections)
        self._signer = Signer(properties) if Signer.wanted(properties) else None
        self.login: Login = login(
            properties, sections.get("auth") or {}, f"{uri.rstrip('/')}/v1/oauth/tokens", self._post_form, clock
        )
        self._used: set[str] = {value for name, value in properties.items() if _is_secret(name) and len(value) > 3}

    def get(self, url: str, params: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None) -> Answer:
        """Asked again where a try fails in a way that may pass. Returns errors of the protocol as answers."""
        return self._with_login("GET", url, params, None, headers, tries=_TRIES)

    def post(self, url: str, body: bytes) -> Answer:
        """Asked once: after a failure nobody knows whether it is done."""
        return self._with_login("POST", url, None, body, None, tries=1)

    def error(self, answer: Answer, what: str = "") -> BergungError:
        """The answer as an error of ours."""
        reason = answer.reason
        if answer.kind != "application/json" and reason.message is None and answer.status < 500 and answer.status not in (401, 403):
            return no_catalog(self._who, answer.kind)
        hidden = Said(self._without_secrets(reason.message or ""), reason.type)
        return error_of(answer.status, hidden, f"{self._who}{what}", self.login.told)

    def _with_login(self, method: str, url: str, params: Any, body: bytes | None, headers: Any, *, tries: int) -> Answer:
        answer = self._persistently(method, url, params, body, headers, tries=tries)
        if answer.status in (401, 419) and self.login.renewed():
            # It was refused, so it is not done: a POST too may be sent again.
            answer = self._persistently(method, url, params, body, headers, tries=tries)
        if answer.status in (401, 419):
            raise LoginEnded(*self._args(answer))
        if answer.is_done and answer.body and answer.kind != "application/json":
            raise no_catalog(self._who, answer.kind)
        return answer

    def _args(self, answer: Answer) -> tuple[str, str]:
        error = self.error(answer)
        return error.message, error.hint

    def _persistently(self, method: str, url: str, params: Any, body: bytes | None, headers: Any, *, tries: int) -> Answer:
        for attempt in range(1, tries + 1):
            try:
                answer = self._once(method, url, params, body, headers)
                if answer.status not in _AGAIN or attempt == tries or names_a_file(answer.status, answer.reason):
                    return answer
                pause = answer.pause_seconds
            except requests.exceptions.ReadTimeout as error:
                # What took that long once would take it again.
                raise self._too_slow() from error
            except requests.exceptions.RequestException as error:
                if attempt == tries or isinstance(error, _FINAL) or _stopped(error):
                    raise self._broken(error) from error
                pause = 0.0
            backoff = 0.1 * 2**attempt
            time.sleep(min(_LONGEST_PAUSE_SECONDS, max(pause, backoff * random.uniform(0.5, 1.5))))
        raise AssertionError("every try returns or raises")

    def _once(self, method: str, url: str, params: Any, body: bytes | None, headers: Any) -> Answer:
        own, text = dict(headers or {}), self.login.header()
        if text:
            own["Authorization"] = text
            self._used.add(text.partition(" ")[2])
        request = requests.Request(method, url, params=params, data=body, headers=own)
        prepared = self._session.prepare_request(request)
        # Else `%2E` between levels would become a dot, which is another name.
        prepared.url = url + (f"?{prepared.url.partition('?')[2]}" if params and prepared.url else "")
        return self._send(prepared, redirects=method == "GET")

    def _send(self, prepared: requests.PreparedRequest, *, redirects: bool) -> Answer:
        if self._signer is not None:
            self._signer.sign(prepared)
        settings = self._session.merge_environment_settings(prepared.url or "", {}, None, self._session.verify, None)
        response = self._session.send(prepared, timeout=self._timeouts, allow_redirects=redirects, **settings)
        kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        pause = response.headers.get("Retry-After", "")
        return Answer(
            response.status_code,
            response.content,
            response.headers.get("ETag", ""),
            kind,
            float(pause) if pause.isdecimal() else 0.0,
        )

    def _post_form(self, url: str, form: bytes, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """For the login, which cannot log itself in."""
        request = requests.Request("POST", url, data=form, headers=dict(headers))
        try:
            answer = self._send(self._session.prepare_request(request), redirects=False)
        except requests.exceptions.ReadTimeout as error:
            raise self._too_slow() from error
        except requests.exceptions.RequestException as error:
            raise self._broken(error) from error
        return answer.status, answer.body

    def _too_slow(self) -> TooSlow:
        return TooSlow(
            f"{self._who} at {self._place} did not answer within {self._timeouts[1]:g} s",
            f"look at the server, a damaged metadata file may keep it busy; to wait longer, set {READ_TIMEOUT} for the catalog",
        )

    def _broken(self, error: Exception) -> BergungError:
        if _stopped(error):
            return self._too_slow()
        why = self._without_secrets(_innermost(error))
        if isinstance(error, requests.exceptions.SSLError):
            return UsageError(
                f"{self._who} at {self._place} is not trusted: {why}",
                "name the file with its authority as ssl.cabundle in the catalog's properties, or in REQUESTS_CA_BUNDLE",
            )
        if isinstance(error, _MALFORMED):
            return UsageError(f"{self._who} has no usable address: {why}", "check the catalog's uri in the PyIceberg configuration")
        if isinstance(error, requests.exceptions.ConnectTimeout):
            why = f"no connection within {self._timeouts[0]:g} s ({CONNECT_TIMEOUT})"
        return NoAnswer(
            f"{self._who} at {self._place} cannot be reached: {why}",
            "see that it runs, and check the catalog's uri in the PyIceberg configuration",
        )

    def _without_secrets(self, text: str) -> str:
        for secret in sorted(self._used, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text


_MALFORMED = (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema, requests.exceptions.MissingSchema)
_FINAL = (requests.exceptions.SSLError, *_MALFORMED)


def _session(properties: Mapping[str, str], sections: Mapping[str, Any]) -> requests.Session:
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(pool_connections=2, pool_maxsize=PARALLEL))
    session.headers.update({"User-Agent": f"bergung/{VERSION}", "Content-Type": "application/json"})
    session.headers["X-Iceberg-Access-Delegation"] = "vended-credentials"
    session.headers.update({name[7:]: value for name, value in properties.items() if name.startswith("header.")})
    # A login of ours is never replaced by one from ~/.netrc.
    session.auth = lambda request: request
    trusted = sections.get("ssl") or {}
    if trusted.get("cabundle"):
        session.verify = trusted["cabundle"]
    client = trusted.get("client") or {}
    if client.get("cert"):
        session.cert = (client["cert"], client["key"]) if client.get("key") else client["cert"]
    return session


def _seconds(properties: Mapping[str, str], name: str, default: str) -> float:
    text = properties.get(name, default)
    if not text.isdecimal() or int(text) == 0:
        raise UsageError(f"{name} is no number of milliseconds: {text}", "write a whole number above 0, such as 60000")
    return int(text) / 1000


def _stopped(error: Exception) -> bool:
    """An answer that began in time and did not go on."""
    return bool(error.args) and isinstance(error.args[0], ReadTimeoutError)


def _is_secret(name: str) -> bool:
    return name.startswith("header.") or any(word in name for word in ("token", "credential", "secret", "password"))


def _innermost(error: BaseException) -> str:
    """What is raised wraps what happened several times; the last tells."""
    reason = getattr(error.args[0], "reason", None) if error.args else None
    if isinstance(reason, BaseException):
        return _innermost(reason)
    text = str(error.args[-1] if error.args else error)
    return text.rpartition("object at 0x")[2].partition(": ")[2] or text
