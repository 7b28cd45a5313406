"""An S3 server of the bench's own, a lake in one of its buckets, and the requests that somebody makes."""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyiceberg.catalog import load_catalog

from bergung.stores.access import Access
from tests.servers.s3 import KEY_ID, REGION, SECRET, S3Server
from tests.servers.versitygw import versitygw

CATALOG, NAMESPACE, BUCKET = "far", "sales", "lake"
TABLES, COMMITS, FILES, ROWS = 2, 4, 9, 720_000  # of 16 random bytes: 11.5 MB a file
SCHEMA = pa.schema([("id", pa.int64()), ("value", pa.float64())])
PROPERTIES = {"write.target-file-size-bytes": str(ROWS * 16), "write.parquet.compression-codec": "uncompressed"}


@dataclass(frozen=True)
class Buckets:
    """versitygw on a folder; by its other name it is another endpoint, so that nothing is copied by the server."""

    server: S3Server
    folder: Path
    log: Path

    @property
    def other(self) -> S3Server:
        return replace(self.server, endpoint=self.server.endpoint.replace("127.0.0.1", "localhost"))

    def fresh(self) -> str:
        """A new bucket."""
        name = f"b-{uuid.uuid4().hex[:12]}"
        self.server.client.create_bucket(Bucket=name)
        return name

    def drop(self, bucket: str) -> None:
        """Its files, as the server keeps them: quicker than asking for each."""
        shutil.rmtree(self.folder / "objects" / bucket, ignore_errors=True)

    def requests(self) -> int:
        """So far, of everybody."""
        return self.log.read_bytes().count(b"\n") if self.log.exists() else 0

    def files(self) -> int:
        """Of the lake, metadata too."""
        pages = self.server.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
        return sum(page["KeyCount"] for page in pages)

    def access(self, bucket: str, server: S3Server) -> Access:
        """To one bucket, at one of the two endpoints."""
        return replace(server.access(), prefix=f"s3://{bucket}/")


@contextmanager
def buckets(folder: Path) -> Iterator[Buckets]:
    """While inside, the server runs and holds the lake, which every program of the bench finds declared."""
    log = folder / "requests.log"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with versitygw(folder, access_log=log) as server:
        found = Buckets(server, folder, log)
        _make(server, _declared(server, folder))
        try:
            yield found
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _declared(server: S3Server, folder: Path) -> dict[str, str]:
    """For Bergung by variables, as a user would."""
    keys = {"s3.access-key-id": KEY_ID, "s3.secret-access-key": SECRET, "s3.endpoint": server.endpoint, "s3.region": REGION}
    own = {"type": "sql", "uri": f"sqlite:///{folder}/far.db", "warehouse": f"s3://{BUCKET}/warehouse", **keys}
    for name, value in own.items():
        os.environ[f"PYICEBERG_CATALOG__{CATALOG.upper()}__{name.upper().replace('.', '__').replace('-', '_')}"] = value
    return own


def _make(server: S3Server, declared: dict[str, str]) -> None:
    server.client.create_bucket(Bucket=BUCKET)
    catalog = load_catalog(CATALOG, **declared)
    catalog.create_namespace(NAMESPACE)
    for number in range(TABLES):
        table = catalog.create_table(f"{NAMESPACE}.t{number}", SCHEMA, properties=PROPERTIES)
        for commit in range(COMMITS):
            random = np.random.default_rng(number * COMMITS + commit)
            ids, values = (random.integers(0, 2**63, ROWS * FILES) for _ in SCHEMA)
            table.append(pa.table({"id": ids, "value": values.view(np.float64)}, SCHEMA))
