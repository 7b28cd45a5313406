"""Catalogs on real servers, as Spark and as PyIceberg declare them, their files in a bucket or on a disk."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tools.servers import CannotBuild

from tests.integration.real_lake import s3_properties
from tests.servers.glue_front import glue_front
from tests.servers.hive import hive_metastore
from tests.servers.moto import moto
from tests.servers.needed import absent
from tests.servers.rest_server import missing, rest_server
from tests.servers.s3 import KEY_ID, REGION, SECRET, OwnBucket, S3Server

S3_IO = {"io-impl": "org.apache.iceberg.aws.s3.S3FileIO", "client.region": REGION}


@dataclass(frozen=True)
class Place:
    """A catalog as Spark and as PyIceberg declare it; `wipe` takes every file away and says how many there were."""

    spark: dict[str, str]
    pyiceberg: dict[str, str]
    wipe: Callable[[], int]


@contextmanager
def rest_on(server: S3Server, folder: Path) -> Iterator[Place]:
    """Iceberg's REST server, which writes to the bucket as well."""
    if missing():
        pytest.skip(f"needs a server: {missing()}")
    bucket, own = server.new_bucket(), s3_properties(server)
    with rest_server(folder / "rest", {**own, **S3_IO, "warehouse": f"s3://{bucket.name}/warehouse"}) as rest:
        declared = {"type": "rest", "uri": rest.catalog(), **own}
        yield Place({**declared, **S3_IO}, declared, lambda: emptied(bucket))


@contextmanager
def glue_on(session: Any, server: S3Server, folder: Path) -> Iterator[Place]:
    """Java takes the keys for Glue from where its SDK always looks."""
    bucket, own = server.new_bucket(), s3_properties(server)
    system = session._jvm.java.lang.System
    for key, value in {"aws.accessKeyId": KEY_ID, "aws.secretAccessKey": SECRET}.items():
        system.setProperty(key, value)
    try:
        with moto(folder / "moto") as behind, glue_front(behind) as front:
            declared = {"type": "glue", "glue.endpoint": front.url, "warehouse": f"s3://{bucket.name}/warehouse", **own}
            enter = {"glue.region": REGION, "glue.access-key-id": KEY_ID, "glue.secret-access-key": SECRET}
            yield Place({**declared, **S3_IO}, {**declared, **enter}, lambda: emptied(bucket))
    finally:
        for key in ("aws.accessKeyId", "aws.secretAccessKey"):
            system.clearProperty(key)


@contextmanager
def hive_on(server: S3Server | None, folder: Path) -> Iterator[Place]:
    """Without a server, files on a disk. The metastore allows what Iceberg does to columns."""
    try:
        with hive_metastore("hive.metastore.disallow.incompatible.col.type.changes=false", s3=server) as uri:
            declared = {"type": "hive", "uri": uri}
            if server is None:
                warehouse = folder / "warehouse"
                declared |= {"warehouse": warehouse.as_uri()}
                yield Place(declared, declared, lambda: removed(warehouse))
            else:
                bucket, own = server.new_bucket(), s3_properties(server)
                declared |= {"warehouse": f"s3://{bucket.name}/warehouse", **own}
                yield Place({**declared, **S3_IO}, declared, lambda: emptied(bucket))
    except CannotBuild as why:
        absent(why)


def emptied(bucket: OwnBucket) -> int:
    client, count = bucket.server.client, 0
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket.name):
        for found in page.get("Contents", ()):
            client.delete_object(Bucket=bucket.name, Key=found["Key"])
            count += 1
    return count


def removed(folder: Path) -> int:
    count = sum(path.is_file() for path in folder.rglob("*"))
    shutil.rmtree(folder, ignore_errors=True)
    return count
