"""Hive Metastore for tests, with Derby in a folder that goes away; 127.0.0.1 only, ended by its own id."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import pyspark
from tools.servers import CannotBuild
from tools.servers import folder as servers_folder

from bergung.catalogs.hive_client import Metastore
from bergung.errors import BergungError
from bergung.spark import java
from tests.servers import maven
from tests.servers.process import HOST, free_port, listens, running
from tests.servers.s3 import REGION, S3Server

_HERE = Path(__file__).parent


@contextmanager
def hive_metastore(*settings: str, s3: S3Server | None = None) -> Iterator[str]:
    """The uri of a server of its own, 3.1.3, while inside; settings are written KEY=VALUE."""
    program = _java("mvn")
    jars = maven.ensure(_HERE / "hive.lock", servers_folder() / "hive")
    if s3 is not None:
        jars = maven.ensure(_HERE / "hive_s3.lock", servers_folder() / "hive") + jars
        settings += tuple(f"fs.{key}={value}" for key, value in _s3a(s3).items())
    with _running([program, "-cp", os.pathsep.join(map(str, jars)), str(_HERE / "HiveMetastore.java")], settings) as uri:
        yield uri


def _s3a(server: S3Server) -> dict[str, str]:
    """A metastore makes the folder of each table itself, by Hadoop."""
    return {
        "s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        "s3a.endpoint": server.endpoint,
        "s3a.endpoint.region": REGION,
        "s3a.access.key": server.key_id,
        "s3a.secret.key": server.secret,
        "s3a.path.style.access": "true",
        "s3a.connection.ssl.enabled": "false",
    }


@contextmanager
def hive_metastore_2() -> Iterator[str]:
    """The same of 2.3.10, from Spark's own jars."""
    jars = Path(pyspark.__file__).parent / "jars" / "*"
    # Hive 2 looks into what newer Javas have closed.
    command = [_java(), "--add-opens", "java.base/java.net=ALL-UNNAMED", "-cp", str(jars), str(_HERE / "HiveMetastore2.java")]
    with _running(command) as uri:
        yield uri


@contextmanager
def _running(command: list[str], settings: tuple[str, ...] = ()) -> Iterator[str]:
    program, *words = command
    folder = Path(mkdtemp(prefix="hive-"))
    port = free_port()
    try:
        quick = [program, "-Xmx512m", "-XX:TieredStopAtLevel=1", *words, str(folder), str(port), *settings]
        with running(quick, folder, lambda: listens(port)):
            yield f"thrift://{HOST}:{port}"
    finally:
        shutil.rmtree(folder)


def _java(*needed: str) -> str:
    """A JDK's, which runs a source file as it is."""
    try:
        home = java.find_home()
    except BergungError as error:
        raise CannotBuild(f"Hive Metastore: {error}; {error.hint}") from error
    lacking = [] if (home / "bin" / "javac").is_file() else ["javac"]
    lacking += [name for name in needed if shutil.which(name) is None]
    if lacking:
        install = "Debian, Ubuntu: apt-get install openjdk-17-jdk-headless maven"
        raise CannotBuild(f"Hive Metastore: {', '.join(lacking)} not found ({install})")
    return str(home / "bin" / "java")


def emptied(uri: str) -> None:
    """Everything in it is forgotten; files stay."""
    host, _, port = uri.removeprefix("thrift://").partition(":")
    with Metastore(((host, int(port)),)).asked() as client:
        for database in client.get_all_databases():
            for table in client.get_all_tables(database):
                client.drop_table(database, table, False)
            if database != "default":
                client.drop_database(database, False, True)
