"""A lake on real servers: any catalog that PyIceberg opens, any store; a vault elsewhere; a user who types commands."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import NamespaceAlreadyExistsError
from pyiceberg.manifest import clear_manifest_cache

from bergung.catalogs.declaration import s3_access
from bergung.stores.access import Access
from bergung.stores.open import open_path
from tests.servers.s3 import REGION, SECRET, OwnBucket, S3Server

CATALOG = "lake"
SCHEMA = pa.schema([pa.field("id", pa.int64()), pa.field("name", pa.string())])
Rows = dict[int, list[tuple[int, str]]]


def s3_properties(server: S3Server) -> dict[str, str]:
    """As a user declares a store to PyIceberg."""
    keys = {"s3.access-key-id": server.key_id, "s3.secret-access-key": server.secret}
    return {"s3.endpoint": server.endpoint, "s3.region": REGION, "s3.path-style-access": "true", **keys}


def access_entry(bucket: OwnBucket, folder: str = "") -> str:
    """As a user writes it into bergung.toml; the secret is in VAULT_SECRET."""
    server = bucket.server
    lines = {"prefix": f"s3://{bucket.name}/{folder}", "endpoint": server.endpoint, "region": REGION, "key_id": server.key_id}
    written = "\n".join(f"{name} = {json.dumps(value)}" for name, value in lines.items())
    return f'[[access]]\n{written}\nsecret = "env:VAULT_SECRET"\n'


@dataclass
class RealLake:
    """`properties` are PyIceberg's; `vault` is an address, `toml` what else stands in bergung.toml."""

    home: Path
    properties: Mapping[str, str]
    vault: str
    toml: str = ""
    catalog: Catalog = field(init=False)

    def announce(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """As a user would: in the files that PyIceberg and Bergung read, in a home of its own."""
        self.home.mkdir(parents=True, exist_ok=True)
        quoted = "\n".join(f"    {name}: {json.dumps(value)}" for name, value in self.properties.items())
        (self.home / ".pyiceberg.yaml").write_text(f"catalog:\n  {CATALOG}:\n{quoted}\n")
        (self.home / "bergung.toml").write_text(f'vault = {json.dumps(self.vault)}\nengine = "process"\n{self.toml}')
        monkeypatch.chdir(self.home)
        for name in ("HOME", "XDG_CONFIG_HOME", "PYICEBERG_HOME"):
            monkeypatch.setenv(name, str(self.home))
        monkeypatch.setenv("VAULT_SECRET", SECRET)
        monkeypatch.delenv("BERGUNG_VAULT", raising=False)
        monkeypatch.delenv("BERGUNG_ENGINE", raising=False)
        self.catalog = load_catalog(CATALOG, **self.properties)

    def make(self, name: str, rows: Iterable[int] = range(10)) -> None:
        """A table in the namespace `sales`, with one snapshot."""
        try:
            self.catalog.create_namespace("sales")
        except NamespaceAlreadyExistsError:
            pass
        self.catalog.create_table(("sales", name), SCHEMA)
        self.append(name, rows)

    def append(self, name: str, rows: Iterable[int]) -> None:
        ids = list(rows)
        data = pa.table({"id": ids, "name": [f"name {id_}" for id_ in ids]}, SCHEMA)
        self.catalog.load_table(("sales", name)).append(data)

    def delete(self, name: str, condition: str) -> None:
        self.catalog.load_table(("sales", name)).delete(condition)

    def rows(self, name: str) -> Rows:
        """Of every retained snapshot, read cold by PyIceberg."""
        clear_manifest_cache()
        table = load_catalog(CATALOG, **self.properties).load_table(("sales", name))
        found = {}
        for snapshot in table.metadata.snapshots:
            data = table.scan(snapshot_id=snapshot.snapshot_id).to_arrow()
            found[snapshot.snapshot_id] = sorted(zip(data["id"].to_pylist(), data["name"].to_pylist(), strict=True))
        return found

    def lose(self, name: str) -> int:
        """Dropped, and every file below its location gone: how many."""
        location = self.catalog.load_table(("sales", name)).location()
        self.catalog.drop_table(("sales", name))
        return self.wipe(location)

    def wipe(self, location: str) -> int:
        """By a store that is ours, opened as the test's owner: other readers of the tests look at what is left."""
        store, prefix = open_path(location, access=self.owner)
        keys = [found.key for found in store.list(f"{prefix}/")]
        for key in keys:
            store.delete(key)
        return len(keys)

    def remove(self, path: str) -> bool:
        """One file; True when it is gone."""
        store, key = open_path(path, access=self.owner)
        store.delete(key)
        return not any(store.list(key))

    @property
    def owner(self) -> tuple[Access, ...]:
        return s3_access(self.properties, "s3://", "the test")
