"""One server, reached directly, through a bad network, and through a proxy that loses answers."""

from collections.abc import Iterator

import pytest

from tests.servers.needed import pytest_terminal_summary as pytest_terminal_summary
from tests.servers.s3 import S3Server
from tests.servers.toxiproxy import BadNetwork, bad_network
from tests.servers.versitygw import versitygw


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with versitygw(tmp_path_factory.mktemp("versitygw")) as found:
        yield found


@pytest.fixture(scope="session")
def network(server: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BadNetwork]:
    with bad_network(server, tmp_path_factory.mktemp("toxiproxy")) as found:
        yield found
