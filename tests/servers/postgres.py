"""PostgreSQL for tests: Debian's own programs, a data folder that goes away, 127.0.0.1 only, ended by its own id."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

import psycopg2
from tools.servers import CannotBuild

from tests.servers.process import HOST, free_port, running

PASSWORD = "p@ss/w:rd%"
"""With everything that must be written otherwise in a uri."""
_ESCAPED = "p%40ss%2Fw%3Ard%25"
_MISSING = "PostgreSQL's server is not installed: as root on Debian the tests install it, else: apt-get install postgresql"
_NUMBERS = count()


@dataclass(frozen=True)
class Postgres:
    """A database of a running server; entered with a password by a user who owns nothing else."""

    port: int
    database: str = "postgres"
    user: str = "owner"

    @property
    def uri(self) -> str:
        return f"postgresql+psycopg2://{self.user}:{_ESCAPED}@{HOST}:{self.port}/{self.database}"

    def new(self) -> "Postgres":
        """A new, empty database."""
        fresh = replace(self, database=f"lake{next(_NUMBERS)}")
        self.execute(f"CREATE DATABASE {fresh.database} ENCODING 'UTF8' TEMPLATE template0")
        return fresh

    def execute(self, *statements: str) -> list[tuple[object, ...]]:
        """Each by itself; the rows of the last."""
        with closing(self.connect()) as connection:
            connection.autocommit = True
            cursor = connection.cursor()
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall()) if cursor.description else []

    def connect(self) -> "psycopg2.extensions.connection":
        """A connection of the driver's own."""
        return psycopg2.connect(host=HOST, port=self.port, dbname=self.database, user=self.user, password=PASSWORD)


@contextmanager
def postgres(max_connections: int = 300) -> Iterator[Postgres]:
    """A server of its own, while inside."""
    programs = _programs()
    folder = Path(mkdtemp(prefix="postgres-"))
    try:
        data, words = folder / "data", folder / "password"
        words.write_text(PASSWORD)
        if os.geteuid() == 0:
            for path in (folder, words):
                shutil.chown(path, "postgres", "postgres")
        _initialised(programs, data, words)
        port = free_port()
        server = [
            programs / "postgres",
            "-D",
            data,
            "-p",
            str(port),
            "-h",
            HOST,
            "-k",
            folder,
            "-c",
            f"max_connections={max_connections}",
            "-c",
            "superuser_reserved_connections=0",
        ]
        durable = ["-c", "fsync=off", "-c", "lc_messages=C"]
        with running([*_as_postgres(), *server, *durable], folder, lambda: _ready(programs, port)) as process:
            yield Postgres(port)
            # By the other signal it would wait for every client to leave.
            process.send_signal(signal.SIGINT)
            process.wait(timeout=20)
    finally:
        shutil.rmtree(folder)


def _initialised(programs: Path, data: Path, password: Path) -> None:
    command = [*_as_postgres(), programs / "initdb", "-D", data, "-U", "owner", "-A", "scram-sha-256", f"--pwfile={password}"]
    done = subprocess.run([*command, "-E", "UTF8", "--locale=C.UTF-8", "-N"], capture_output=True, text=True, cwd="/", check=False)
    if done.returncode != 0:
        raise RuntimeError(f"initdb failed: {done.stderr}")


def _as_postgres() -> list[str]:
    """The server refuses to run as root; setpriv becomes the program, so that the id stays."""
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []


def _ready(programs: Path, port: int) -> bool:
    return subprocess.run([programs / "pg_isready", "-q", "-h", HOST, "-p", str(port)], check=False).returncode == 0


def _programs() -> Path:
    found = _installed()
    if not found and os.geteuid() == 0 and shutil.which("apt-get"):
        _install()
        found = _installed()
    if not found:
        raise CannotBuild(_MISSING)
    return found[-1]


def _installed() -> list[Path]:
    return sorted(
        (place.parent for place in Path("/usr/lib/postgresql").glob("*/bin/initdb")), key=lambda each: int(each.parent.name)
    )


def _install() -> None:
    print("\ninstalling postgresql (once)")
    # Debian would start a server of its own; in this runlevel it does not.
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    for words in (["update", "-qq"], ["install", "-qq", "-y", "--no-install-recommends", "postgresql"]):
        done = subprocess.run(["apt-get", *words], env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CannotBuild(f"{_MISSING} ({done.stderr.strip()[-300:]})")
