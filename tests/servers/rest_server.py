"""Iceberg's own REST server (its open-api fixture), on 127.0.0.1: a new catalog under each address."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from itertools import count
from pathlib import Path

import pyspark

from tests.servers import maven
from tests.servers.process import HOST, answers, free_port, running

LOCK = Path(__file__).with_name("rest.lock")
SOURCE = Path(__file__).with_name("RestServer.java")
_NUMBERS = count()
_HADOOP = ("hadoop-client-api-*.jar", "hadoop-client-runtime-*.jar", "jcl-over-slf4j-*.jar")
"""From PySpark, which has them anyway; the server writes local files through them."""


def missing() -> str:
    """Why it cannot run here, and how it could; empty when it can."""
    lacking = [word for word in ("java", "javac", "mvn") if program(word) is None]
    if not lacking:
        return ""
    return f"Iceberg REST: {', '.join(lacking)} not found (Debian, Ubuntu: apt-get install openjdk-17-jdk-headless maven)"


def program(word: str) -> str | None:
    """From JAVA_HOME, or from the path."""
    place = Path(os.environ.get("JAVA_HOME", "/nowhere"), "bin", word)
    return str(place) if place.is_file() else shutil.which(word)


class RestServer:
    """A running server; every catalog that it gives is empty and its own."""

    def __init__(self, port: int) -> None:
        self.url = f"http://{HOST}:{port}"

    def catalog(self, kind: str = "swap") -> str:
        """The uri of a new catalog: `swap` registers over an entry, `plain` does not."""
        return f"{self.url}/{kind}/{next(_NUMBERS)}"


@contextmanager
def rest_server(folder: Path, properties: Mapping[str, str] | None = None) -> Iterator[RestServer]:
    """While inside, it runs; its catalogs and, unless `warehouse` says otherwise, their tables lie in the folder."""
    class_path = ":".join(map(str, installed(Path(os.environ["BERGUNG_CACHE"], "servers", "rest"))))
    port = free_port()
    # What is used once need not be compiled well; it starts in half the time.
    java = [program("java"), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m", "-cp", class_path]
    words = [f"{name}={value}" for name, value in (properties or {}).items()]
    command = [*map(str, java), "org.apache.iceberg.rest.RestServer", str(port), str(folder), *words]
    with running(command, folder, lambda: answers(f"http://{HOST}:{port}/")):
        yield RestServer(port)


def installed(cache: Path) -> list[Path]:
    """What the server's class path consists of: fetched, checked and compiled once."""
    jars = maven.ensure(LOCK, cache / "jars")
    theirs = [jar for pattern in _HADOOP for jar in Path(pyspark.__file__).parent.glob(f"jars/{pattern}")]
    classes = cache / f"classes-{sha256(SOURCE.read_bytes() + LOCK.read_bytes()).hexdigest()[:16]}"
    if not classes.is_dir():
        scratch = classes.with_name(f"{classes.name}.{os.getpid()}")
        # Whatever runs it, a newer compiler must not write for itself.
        command = [str(program("javac")), "--release", "17", "-d", str(scratch), str(SOURCE)]
        command += ["-cp", ":".join(map(str, [*jars, *theirs]))]
        subprocess.run(command, check=True, capture_output=True)
        if not classes.is_dir():
            os.rename(scratch, classes)
        shutil.rmtree(scratch, ignore_errors=True)
    return [classes, *jars, *theirs]
