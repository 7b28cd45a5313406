"""The servers of a run, as a plugin: each starts when a test first asks for it, and serves all that come after."""

from collections.abc import Iterator

import pytest
from tools.servers import CannotBuild

from tests.servers.glue_front import Front, glue_front
from tests.servers.hive import hive_metastore
from tests.servers.minio import minio
from tests.servers.moto import forget, moto
from tests.servers.needed import absent
from tests.servers.needed import pytest_terminal_summary as pytest_terminal_summary
from tests.servers.postgres import Postgres, postgres
from tests.servers.rest_server import RestServer, missing, rest_server
from tests.servers.s3 import S3Server
from tests.servers.spark_s3 import add_s3_jar
from tests.servers.toxiproxy import BadNetwork, bad_network
from tests.servers.versitygw import versitygw


def pytest_collection_finish(session: pytest.Session) -> None:
    """A process has one JVM, whichever test starts it: its class path must suit all."""
    if any("reaches_s3" in getattr(item, "fixturenames", ()) for item in session.items):
        add_s3_jar()


@pytest.fixture(scope="session")
def reaches_s3() -> None:
    """A test that asks for it gets a Spark that reads and writes tables in S3."""


@pytest.fixture(scope="session")
def versitygw_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with versitygw(tmp_path_factory.mktemp("versitygw")) as server:
        yield server


@pytest.fixture(scope="session")
def other_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A second one, with its own folder: what is named there is not named here."""
    with versitygw(tmp_path_factory.mktemp("versitygw-2")) as server:
        yield server


@pytest.fixture(scope="session")
def minio_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with minio(tmp_path_factory.mktemp("minio")) as server:
        yield server


@pytest.fixture(scope="session")
def network(versitygw_server: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BadNetwork]:
    """Between a test and the server."""
    with bad_network(versitygw_server, tmp_path_factory.mktemp("toxiproxy")) as found:
        yield found


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
    """Tables on disk."""
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
def hive_server() -> Iterator[str]:
    try:
        with hive_metastore() as uri:
            yield uri
    except CannotBuild as why:
        absent(why)
