"""Who asks: the Authorization header, from the same properties as PyIceberg reads.

Tokens are fetched by us because PyIceberg's own provider waits for ever where a server does not answer, and costs an
import of all its catalogs, on executors too. Its managers of Google, Entra and of one's own are used as they are.
"""

import base64
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Protocol
from urllib.parse import urlencode

import msgspec

from bergung.clock import Clock
from bergung.errors import BergungError, NotAllowed, UsageError

MARGIN_SECONDS = 60.0
Post = Callable[[str, bytes, Mapping[str, str]], tuple[int, bytes]]
"""Sends a form without any Authorization of the catalog, and returns status and body."""


class Login(Protocol):
    """Gives the header for each request."""

    told: str
    """For errors: which credentials were used, and what to do about them."""

    def header(self) -> str:
        """Empty when nothing is to be said."""
        ...

    def renewed(self) -> bool:
        """True when another try with a new header makes sense."""
        ...


class Fixed:
    """A header that never changes."""

    def __init__(self, text: str, told: str) -> None:
        self._text = text
        self.told = told

    def header(self) -> str:
        """As it was given."""
        return self._text

    def renewed(self) -> bool:
        """There is no other."""
        return False


class _Token(msgspec.Struct):
    access_token: str
    expires_in: float | None = None


class ClientCredentials:
    """OAuth2: a token for id and secret, fetched again before it ends or when it is refused."""

    def __init__(self, url: str, form: Mapping[str, str], basic: str, post: Post, clock: Clock) -> None:
        self.told = f"the token came from {url} for the catalog's credential; check that id and secret are still good"
        self._url, self._form, self._basic = url, dict(form), basic
        self._post, self._clock = post, clock
        self._lock = threading.Lock()
        self._text = ""
        self._ends = float("inf")

    def header(self) -> str:
        """With a token that lasts a minute at least, as far as its giver said."""
        with self._lock:
            if not self._text or self._clock.monotonic() > self._ends:
                self._fetch()
            return self._text

    def renewed(self) -> bool:
        """The next header has a new token."""
        with self._lock:
            self._text = ""
        return True

    def _fetch(self) -> None:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if self._basic:
            headers["Authorization"] = f"Basic {self._basic}"
        status, body = self._post(self._url, urlencode(self._form).encode(), headers)
        if status in (400, 401, 403):
            raise NotAllowed(f"no token from {self._url}: it answers {status}", self.told)
        try:
            token = msgspec.json.decode(body, type=_Token)
        except msgspec.DecodeError as error:
            raise BergungError(f"no token from {self._url}: it answers {status} without one", "check oauth2-server-uri") from error
        self._text = f"Bearer {token.access_token}"
        lasts = float("inf") if token.expires_in is None else max(0.0, token.expires_in - MARGIN_SECONDS)
        self._ends = self._clock.monotonic() + lasts


class Theirs:
    """A manager of PyIceberg, or one that the user wrote for it."""

    def __init__(self, kind: str, manager: Any) -> None:
        self.told = f"the login came from PyIceberg's auth of type {kind}; check its settings"
        self._manager = manager

    def header(self) -> str:
        """Whatever it gives now."""
        return self._manager.auth_header() or ""

    def renewed(self) -> bool:
        """It renews by itself, when it is asked."""
        return False


def login(properties: Mapping[str, str], auth: Mapping[str, Any], token_url: str, post: Post, clock: Clock) -> Login:
    """As PyIceberg chooses: the section `auth`, else `credential`, else `token`, else nothing."""
    if auth:
        return _of_section(auth, post, clock)
    if properties.get("credential"):
        identity, separator, secret = properties["credential"].partition(":")
        form = {"grant_type": "client_credentials", "client_secret": secret if separator else identity}
        if separator:
            form["client_id"] = identity
        form["scope"] = properties.get("scope") or "catalog"
        form |= {name: properties[name] for name in ("audience", "resource") if properties.get(name)}
        return ClientCredentials(properties.get("oauth2-server-uri") or token_url, form, "", post, clock)
    if properties.get("token"):
        return Fixed(f"Bearer {properties['token']}", "the catalog's token is refused: get a new one and set it as `token`")
    return Fixed("", "the catalog is declared without credentials: set `token`, `credential` or `auth`")


def _of_section(auth: Mapping[str, Any], post: Post, clock: Clock) -> Login:
    kind = str(auth.get("type") or "")
    own = {str(key): value for key, value in dict(auth.get(kind) or {}).items()}
    if kind == "noop":
        return Fixed("", "the catalog is declared with auth of type noop: set other credentials")
    if kind == "basic":
        return Fixed(f"Basic {_pair(own['username'], own['password'])}", "check username and password in the catalog's auth")
    if kind == "oauth2":
        form = {"grant_type": "client_credentials"} | ({"scope": own["scope"]} if own.get("scope") else {})
        return ClientCredentials(own["token_url"], form, _pair(own["client_id"], own["client_secret"]), post, clock)
    name = str(auth.get("impl") or "") if kind == "custom" else kind
    if not name:
        raise UsageError(
            "the catalog's auth has no type", "set auth.type: noop, basic, oauth2, google, entra, or custom with auth.impl"
        )
    # Costs an import of all of PyIceberg's catalogs, so only for those who need it.
    factory = import_module("pyiceberg.catalog.rest.auth").AuthManagerFactory
    return Theirs(kind, factory.create(name, own))


def _pair(name: str, secret: str) -> str:
    return base64.b64encode(f"{name}:{secret}".encode()).decode()
