"""The jars beside Spark's own, fetched once by Spark's resolver and trusted only by their digest."""

import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from bergung.errors import BergungError
from bergung.spark import java


@dataclass(frozen=True)
class Jar:
    """One artifact by its Maven coordinates, and the digest that its bytes must have."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def coordinates(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version}"

    @property
    def file_name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"


PINNED = (
    Jar(
        "org.apache.iceberg",
        "iceberg-spark-runtime-4.1_2.13",
        "1.12.0",
        "3123c3798af642dd537230923548e013ef41cc28b6626e5225808cf5670a0f82",
    ),
    Jar(
        "org.xerial",
        "sqlite-jdbc",
        "3.53.4.0",
        "bcb1f51e36f940867e83342f9efbf5968ac44a6bef4d397bb4af7b17b45cd2fb",
    ),
)

FOR_S3 = (
    Jar(
        "org.apache.iceberg",
        "iceberg-aws-bundle",
        "1.12.0",
        "dd7e49ffa4ac9b215bed846581991259e3aec9bb2fa08d6cec029c46cd66d957",
    ),
)
"""The AWS SDK as Iceberg bundles it: only what reads tables in S3 through Iceberg needs it."""


def ensure(cache: Path, wanted: tuple[Jar, ...] = PINNED) -> list[Path]:
    """The jars' paths below the cache, their bytes checked; only what is not there yet is fetched."""
    folder = cache / "jars"
    if not present(cache, wanted):
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            missing = [jar for jar in wanted if not (folder / jar.file_name).is_file()]
            if missing:
                _fetch(folder, missing)
    for jar in wanted:
        _check(jar, folder / jar.file_name)
    return present(cache, wanted)


def present(cache: Path, wanted: tuple[Jar, ...] = PINNED) -> list[Path]:
    """The jars' paths when all of them lie in the cache, else nothing."""
    places = [cache / "jars" / jar.file_name for jar in wanted]
    return places if all(place.is_file() for place in places) else []


def _fetch(folder: Path, missing: list[Jar]) -> None:
    with tempfile.TemporaryDirectory(dir=folder, prefix=".resolving-") as scratch:
        _resolve(Path(scratch), missing)
        for jar in missing:
            fetched = Path(scratch) / "jars" / f"{jar.group}_{jar.file_name}"
            _check(jar, fetched)
            # A jar gets its name only after its check: what has a name is whole and right.
            os.replace(fetched, folder / jar.file_name)


def _resolve(scratch: Path, missing: list[Jar]) -> None:
    home = Path(pyspark.__file__).parent
    program = scratch / "nothing.py"
    program.touch()
    command = [str(home / "bin" / "spark-submit"), "--master", "local", "--packages"]
    command += [",".join(jar.coordinates for jar in missing), "--exclude-packages", "org.slf4j:slf4j-api"]
    command += ["--conf", f"spark.jars.ivy={scratch}", str(program)]
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "JAVA_HOME": str(java.find_home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BergungError(f"the jars could not be fetched: {_reason(done.stderr)}", _by_hand(scratch.parent, missing))


def _check(jar: Jar, place: Path) -> None:
    with place.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != jar.sha256:
        raise BergungError(
            f"{place} is not the pinned {jar.coordinates}: sha256 is {found}, should be {jar.sha256}",
            "it is not used; remove it if it lies there still, and find out which repository or proxy gave other bytes",
        )


def _reason(output: str) -> str:
    telling = [line.strip() for line in output.splitlines() if "unresolved" in line or "not found" in line]
    return (telling or output.strip().splitlines() or ["the resolver said nothing"])[-1]


def _by_hand(folder: Path, missing: list[Jar]) -> str:
    names = ", ".join(jar.file_name for jar in missing)
    return f"see that a Maven repository can be reached (DEFAULT_ARTIFACT_REPOSITORY names one), or put {names} into {folder}"


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
