"""What a server says of itself in /v1/config, and so how its addresses are written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote, unquote

import msgspec

from bergung.catalogs.declaration import Declaration, is_true
from bergung.catalogs.rest.http import Answer, Connection
from bergung.errors import UsageError
from bergung.model.names import join_levels

_T = TypeVar("_T")
_UNIT_SEPARATOR = "%1F"
_LIST_VIEWS = "GET /v1/{prefix}/namespaces/{namespace}/views"
_CREDENTIALS = "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials"


class _Config(msgspec.Struct):
    defaults: dict[str, str] | None = None
    overrides: dict[str, str] | None = None
    endpoints: list[str] | None = None


@dataclass(frozen=True)
class Server:
    """Its connection, the properties that both sides agreed on, and its addresses."""

    connection: Connection
    properties: Mapping[str, str] = field(repr=False)
    endpoints: frozenset[str]

    @property
    def has_views(self) -> bool:
        """Servers that do not say what they can are asked for views only when the user says that they have some."""
        if not self.endpoints:
            return is_true(self.properties.get("view-endpoints-supported", ""))
        return _LIST_VIEWS in self.endpoints

    @property
    def has_credentials(self) -> bool:
        """Credentials can be asked for without the table."""
        return _CREDENTIALS in self.endpoints

    @property
    def separator(self) -> str:
        """Between the levels of a namespace, in the form in which it stands in an address."""
        return self.properties.get("namespace-separator") or _UNIT_SEPARATOR

    def namespaces(self) -> str:
        """The address of all namespaces."""
        prefix = self.properties.get("prefix", "").strip("/")
        return f"{_base(self.properties['uri'])}{f'/{prefix}' if prefix else ''}/namespaces"

    def namespace(self, levels: tuple[str, ...], *more: str) -> str:
        """The address of a namespace, or of something below it."""
        between = self.separator if "%" in self.separator else quote(self.separator, safe="")
        joined = between.join(_quoted(level) for level in levels)
        if joined.count(between) != len(levels) - 1:
            raise UsageError(
                f"the catalog's server cannot be asked for {join_levels(levels)}: its separator {between} stands in a level",
                "ask whoever runs the server for another namespace-separator",
            )
        return "/".join([self.namespaces(), joined, *map(_quoted, more)])

    def parent(self, levels: tuple[str, ...]) -> dict[str, str]:
        """The parameter that asks for what is below a namespace."""
        return {"parent": unquote(self.separator).join(levels)} if levels else {}

    def read(self, answer: Answer, kind: type[_T], what: str) -> _T:
        """The body of a success."""
        return read(self.connection, answer, kind, what)


def read(connection: Connection, answer: Answer, kind: type[_T], what: str) -> _T:
    """The body of a success; an error of ours for anything else."""
    if not answer.is_done:
        raise connection.error(answer, f", asked for {what},")
    try:
        return msgspec.json.decode(answer.body, type=kind)
    except msgspec.DecodeError as error:
        raise UsageError(
            f"what should be {what} is nothing that an Iceberg REST catalog says: {error}",
            "check the catalog's uri in the PyIceberg configuration: what stands before /v1/config",
        ) from error


def ask(declaration: Declaration) -> Server:
    """One question; then what the server overrides counts more than the declaration, and what it defaults to less."""
    declared = dict(declaration.properties)
    first = _connection(declaration, declared)
    warehouse = {"warehouse": declared["warehouse"]} if declared.get("warehouse") else {}
    answer = first.get(f"{_base(declaration.uri)}/config", warehouse)
    if answer.status in (400, 404, 405):
        error = first.error(answer, ", asked for its configuration,")
        raise UsageError(error.message, "check the catalog's uri, which is what stands before /v1/config, and its warehouse")
    config = read(first, answer, _Config, "its configuration")
    agreed = {**(config.defaults or {}), **declared, **(config.overrides or {})}
    changed = {name for name in agreed.keys() | declared.keys() if agreed.get(name) != declared.get(name)}
    same = not any(name.startswith(_OF_CONNECTION) for name in changed)
    connection = first if same else _connection(declaration, agreed)
    return Server(connection, agreed, frozenset(config.endpoints or ()))


_OF_CONNECTION = ("uri", "token", "credential", "scope", "audience", "resource", "oauth2-", "header.", "rest.", "client.")


def _connection(declaration: Declaration, properties: Mapping[str, str]) -> Connection:
    sections: Mapping[str, Any] = declaration.sections
    return Connection(declaration.name, properties["uri"], properties, sections, declaration.clock)


def _base(uri: str) -> str:
    return f"{uri.rstrip('/')}/v1"


def _quoted(segment: str) -> str:
    """Dots alone would be read as steps to the folder above."""
    return segment.replace(".", "%2E") if segment in (".", "..") else quote(segment, safe="")
