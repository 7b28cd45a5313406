"""A lake's two stores as buckets of a real server, set back by what differs."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import md5
from typing import Any

import pytest

from bergung.stores.access import Access
from bergung.stores.open import Stores
from bergung.stores.s3.store import S3Store
from tests.faults.lake import Places, Shared
from tests.servers.s3 import OwnBucket, S3Server

FOLDER = {"source": "", "vault": "vault/"}


class BucketStore(S3Store):
    """Ours, and what other clients of the bucket may do there."""

    def __init__(self, bucket: OwnBucket, folder: str, accesses: tuple[Access, ...], client: Any = None) -> None:
        super().__init__(f"s3://{bucket.name}/{folder}", accesses)
        self.bucket = bucket
        self._folder = folder
        self._client = client or bucket.server.client

    def overwrite(self, key: str, content: bytes) -> None:
        """A PUT that asks nothing."""
        self._client.put_object(Bucket=self.bucket.name, Key=self._folder + key, Body=content)

    def put_marker(self, key: str) -> None:
        """A DELETE that asks nothing."""
        self._client.delete_object(Bucket=self.bucket.name, Key=self._folder + key)


class Buckets:
    """Two buckets without versions at one endpoint."""

    def __init__(self, server: S3Server) -> None:
        self.open_store = Stores((server.access(),))
        self.own = {part: server.new_bucket() for part in FOLDER}

    def make(self, part: str) -> Shared:
        return BucketStore(self.own[part], FOLDER[part], self.open_store.known)

    def set_back(self, part: str, objects: dict[str, bytes]) -> Shared:
        """What is the same, by its ETag, stays as it lies there."""
        bucket, wanted = self.own[part], {FOLDER[part] + key: content for key, content in objects.items()}
        there = dict(_etags(bucket))
        client, name = bucket.server.client, bucket.name
        other = [key for key, content in wanted.items() if there.get(key) != md5(content).hexdigest()]
        work = [partial(client.delete_object, Bucket=name, Key=key) for key in there.keys() - wanted.keys()]
        work += [partial(client.put_object, Bucket=name, Key=key, Body=wanted[key]) for key in other]
        with ThreadPoolExecutor(8) as pool:
            for each in [pool.submit(call) for call in work]:
                each.result()
        return self.make(part)

    def unfinished(self) -> list[str]:
        """Uploads that nobody ended."""
        return [key for bucket in self.own.values() for key in bucket.unfinished()]


def _etags(bucket: OwnBucket) -> Iterator[tuple[str, str]]:
    for page in bucket.server.client.get_paginator("list_objects_v2").paginate(Bucket=bucket.name):
        for row in page.get("Contents", ()):
            yield row["Key"], row["ETag"].strip('"')


@dataclass(frozen=True)
class Where:
    """Where a suite of faults runs, and how many of the effects are struck there: every nth."""

    server: str | None = None
    every: int = 1

    def places(self, request: pytest.FixtureRequest) -> Places | None:
        return None if self.server is None else Buckets(request.getfixturevalue(self.server))


QUICK = 37
"""Every nth effect of each way: the quick group tries some of each way on a real server, the nightly group all of them."""

EVERYWHERE = [
    pytest.param(Where(), id="memory"),
    pytest.param(Where("versitygw_server", QUICK), id="versitygw, some"),
    pytest.param(Where("versitygw_server"), id="versitygw", marks=pytest.mark.nightly),
    pytest.param(Where("minio_server"), id="MinIO", marks=pytest.mark.nightly),
]
