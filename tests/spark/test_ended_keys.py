"""Keys that a REST server lends end while executors copy: an executor asks for new ones, and the backup goes on."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import botocore.session
import pytest
import requests
from elsewhere import VAULT_KEYS, elsewhere
from places import rest_on

from bergung.clock import SystemClock, to_ms
from tests.servers.minio import minio
from tests.servers.process import command_of
from tests.servers.rest_front import Front, rest_front
from tests.servers.s3 import REGION, S3Server
from tests.servers.s3_front import Asked, EndingKeys, ending_keys
from tests.servers.versitygw import versitygw


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as found:
        yield found


@pytest.mark.nightly
def test_an_executor_renews_keys_that_end_while_it_copies(spark: Any, reaches_s3: None, tmp_path: Path, stack: ExitStack) -> None:
    server = stack.enter_context(minio(tmp_path / "source"))
    place = stack.enter_context(rest_on(server, tmp_path))
    keeper = stack.enter_context(versitygw(tmp_path / "keeper", keys=VAULT_KEYS))
    keys_end = stack.enter_context(ending_keys(server.endpoint))
    lends = stack.enter_context(rest_front(place.pyiceberg["uri"]))
    lends.looks_who_asks = True
    declared = {"type": "rest", "uri": lends.url, "s3.endpoint": keys_end.url, "s3.region": REGION}
    lake = stack.enter_context(elsewhere(spark, replace(place, pyiceberg=declared), keeper, tmp_path))
    lake.make("orders")
    first, second = lent(server), lent(server)
    loaded = requests.get(f"{place.pyiceberg['uri']}/v1/namespaces/shop/tables/orders", timeout=30).json()
    lends.says("GET", "/orders[?]", {**loaded, "config": first})
    keys_end.before = ending_with_the_first_data_file(keys_end, lends, first, {**loaded, "config": second})

    backup = lake.backup()
    assert (backup.failed, backup.record.backup_metadata.status) == ({}, "complete")
    assert lake.verify().damages == ()
    renewals = [each for each in lends.requests("GET", "/orders[?]") if is_executor(each.pids)]
    assert renewals, "no executor asked the server for keys"
    refused = [each for each in keys_end.refused if is_executor(each.pids)]
    assert {each.key_id for each in refused} == {first["s3.access-key-id"]}
    data = [each for each in keys_end.asked if ".parquet" in each.path and each.key_id == second["s3.access-key-id"]]
    assert data and all(is_executor(each.pids) for each in data)


def lent(server: S3Server) -> dict[str, str]:
    """Keys with a token, which the store itself gives for an hour."""
    owner = {"aws_access_key_id": server.key_id, "aws_secret_access_key": server.secret, "region_name": REGION}
    client = botocore.session.get_session().create_client("sts", endpoint_url=server.endpoint, **owner)
    keys = client.assume_role(RoleArn="arn:aws:iam::1:role/reader", RoleSessionName="tests", DurationSeconds=3600)["Credentials"]
    ends = SystemClock().now() + timedelta(hours=1)
    return {
        "s3.access-key-id": keys["AccessKeyId"],
        "s3.secret-access-key": keys["SecretAccessKey"],
        "s3.session-token": keys["SessionToken"],
        "s3.session-token-expires-at-ms": str(to_ms(ends)),
    }


def ending_with_the_first_data_file(keys_end: EndingKeys, lends: Front, keys: dict[str, str], then: dict[str, Any]) -> Any:
    """The first keys end when the first data file is asked for; from then on others are lent."""

    def end(asked: Asked) -> None:
        if ".parquet" in asked.path and not keys_end.ended:
            lends.says("GET", "/orders[?]", then)
            keys_end.ended.add(keys["s3.access-key-id"])

    return end


def is_executor(pids: frozenset[int]) -> bool:
    """A Python worker of Spark, and not the driver."""
    return os.getpid() not in pids and any("daemon" in command_of(pid) for pid in pids)
