"""The server's answer about one table: the pointer, the metadata just as it stands there, and how files are reached."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import msgspec

from bergung.catalogs.declaration import Declaration, declared_access, is_true, s3_access
from bergung.catalogs.rest.http import Answer
from bergung.catalogs.rest.server import Server, ask
from bergung.clock import from_ms
from bergung.errors import UsageError
from bergung.model.names import TableName
from bergung.stores.access import Access


class StorageCredential(msgspec.Struct):
    """For everything whose path begins with the prefix."""

    prefix: str
    config: dict[str, str]


class LoadedTable(msgspec.Struct, rename="kebab"):
    """As the protocol has it; the metadata stays bytes."""

    metadata: msgspec.Raw
    metadata_location: str | None = None
    config: dict[str, str] | None = None
    storage_credentials: list[StorageCredential] | None = None


class Credentials(msgspec.Struct, rename="kebab"):
    """The answer to a question for credentials alone."""

    storage_credentials: list[StorageCredential]


def access_of(declaration: Declaration, table: TableName, loaded: LoadedTable) -> tuple[Access, ...]:
    """What the server vends for the table, by prefix where it names some; and what is declared for everything else."""
    own = {**declaration.properties, **(loaded.config or {})}
    vended = list(_vended(own, loaded, f"the catalog {declaration.name}"))
    _refuse_signing(own, table, vended)
    renewing = [replace(each, renew=Renewal(declaration, table)) if each.expires_at else each for each in vended]
    return (*renewing, *(each for each in declared_access(declaration) if each.prefix not in {own.prefix for own in vended}))


def _vended(own: Mapping[str, str], loaded: LoadedTable, origin: str) -> Iterator[Access]:
    if loaded.storage_credentials:
        yield from of_credentials(own, loaded.storage_credentials, origin)
    elif any(name.startswith(("s3.", "client.")) for name in loaded.config or {}):
        # For all paths of the table, as PyIceberg takes them; this access is for no other table.
        yield from _expiring(own, "s3://", origin)


def of_credentials(own: Mapping[str, str], credentials: list[StorageCredential], origin: str) -> Iterator[Access]:
    """One for each prefix in S3; others are not for us."""
    for each in credentials:
        prefix = "s3://" if each.prefix in ("s3", "s3a", "s3n") else each.prefix
        if prefix.startswith(("s3://", "s3a://", "s3n://")):
            yield from _expiring({**own, **each.config}, prefix, origin)


def _expiring(properties: Mapping[str, str], prefix: str, origin: str) -> Iterator[Access]:
    ends = properties.get("s3.session-token-expires-at-ms", "")
    for access in s3_access(properties, prefix, origin):
        yield replace(access, expires_at=from_ms(int(ends))) if ends.isdecimal() else access


def _refuse_signing(own: Mapping[str, str], table: TableName, vended: list[Access]) -> None:
    signs = is_true(own.get("s3.remote-signing-enabled", ""))
    if signs and not any(each.key_id for each in vended):
        raise UsageError(
            f"the server of the catalog {table.catalog} signs requests for {table} and gives no credentials, which is not handled",
            "set header.X-Iceberg-Access-Delegation: vended-credentials, or s3.access-key-id and s3.secret-access-key",
        )


def load(server: Server, table: TableName, etag: str = "") -> Answer:
    """The table as its server gives it out, all snapshots; 304 when it is still what the ETag stands for."""
    headers = {"If-None-Match": etag} if etag else {}
    return server.connection.get(server.namespace(table.namespace, "tables", table.name), {"snapshots": "all"}, headers)


@dataclass(frozen=True)
class Renewal:
    """Asks the server for new credentials, in whatever process it finds itself."""

    declaration: Declaration
    table: TableName

    def __call__(self) -> tuple[Access, ...]:
        """By a login of its own: it happens once in some minutes."""
        server = ask(self.declaration)
        if server.has_credentials:
            url = server.namespace(self.table.namespace, "tables", self.table.name, "credentials")
            asked = server.read(server.connection.get(url), Credentials, f"credentials for {self.table}")
            own = self.declaration.properties
            found = tuple(of_credentials(own, asked.storage_credentials, f"the catalog {self.declaration.name}"))
            return tuple(replace(each, renew=self) for each in found)
        loaded = server.read(load(server, self.table), LoadedTable, f"the table {self.table}")
        return access_of(self.declaration, self.table, loaded)
