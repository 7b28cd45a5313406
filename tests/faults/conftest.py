"""Real servers for the whole run, each started when a test first asks for it."""

from collections.abc import Iterator

import pytest

from tests.servers.minio import minio
from tests.servers.needed import pytest_terminal_summary as pytest_terminal_summary
from tests.servers.s3 import S3Server
from tests.servers.versitygw import versitygw


@pytest.fixture(scope="session")
def versitygw_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with versitygw(tmp_path_factory.mktemp("versitygw")) as server:
        yield server


@pytest.fixture(scope="session")
def minio_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with minio(tmp_path_factory.mktemp("minio")) as server:
        yield server
