"""Servers that several catalogs' tests share."""

from collections.abc import Iterator

import pytest
from tools.servers import CannotBuild

from tests.contract.catalogs.java_beside import JavaProcess, java_beside
from tests.servers.glue_front import Front, glue_front
from tests.servers.hive import hive_metastore
from tests.servers.moto import forget, moto
from tests.servers.needed import absent
from tests.servers.needed import pytest_terminal_summary as pytest_terminal_summary
from tests.servers.postgres import Postgres, postgres
from tests.servers.rest_server import RestServer, missing, rest_server


@pytest.fixture(scope="session")
def moto_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with moto(tmp_path_factory.mktemp("moto")) as url:
        yield url


@pytest.fixture
def glue(moto_url: str) -> Iterator[Front]:
    """An empty Glue."""
    forget(moto_url)
    with glue_front(moto_url) as front:
        yield front


@pytest.fixture(scope="session")
def rest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestServer]:
    why = missing()
    if why:
        pytest.skip(f"needs a server: {why}")
    with rest_server(tmp_path_factory.mktemp("rest")) as server:
        yield server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    try:
        with postgres() as server:
            yield server
    except CannotBuild as why:
        absent(why)


@pytest.fixture(scope="session")
def java() -> Iterator[JavaProcess]:
    with java_beside() as process:
        yield process


@pytest.fixture(scope="session")
def hive_server() -> Iterator[str]:
    try:
        with hive_metastore() as uri:
            yield uri
    except CannotBuild as why:
        absent(why)
