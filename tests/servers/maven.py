"""The jars of a server, named in a lock file: fetched by Maven as this machine is set up, trusted only by their digest."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


@dataclass(frozen=True)
class Jar:
    """A line of the lock."""

    coordinates: tuple[str, ...]
    """Group, artifact, version, and perhaps a classifier."""
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{'-'.join(self.coordinates[1:])}.jar"

    @property
    def xml(self) -> str:
        named = zip(("groupId", "artifactId", "version", "classifier"), self.coordinates, strict=False)
        fields = "".join(f"<{name}>{value}</{name}>" for name, value in named)
        nothing_else = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
        return f"<dependency>{fields}{nothing_else}</dependency>"


def locked(lock: Path) -> list[Jar]:
    lines = [line.split() for line in lock.read_text().splitlines() if line and not line.startswith("#")]
    return [Jar(tuple(coordinates.split(":")), digest) for coordinates, digest in lines]


def ensure(lock: Path, folder: Path) -> list[Path]:
    """The jars below the folder, all of them checked; fetched when one is missing."""
    jars = locked(lock)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)
        if not all((folder / jar.file_name).is_file() for jar in jars):
            _fetch(jars, folder)
    for jar in jars:
        check(jar, folder / jar.file_name)
    return [folder / jar.file_name for jar in jars]


def check(jar: Jar, place: Path) -> None:
    with place.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != jar.sha256:
        raise RuntimeError(f"{place} is not the pinned {':'.join(jar.coordinates)}: sha256 is {found}, should be {jar.sha256}")


def _fetch(jars: list[Jar], folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fetching-") as scratch:
        pom = Path(scratch, "pom.xml")
        pom.write_text(
            "<project><modelVersion>4.0.0</modelVersion>"
            "<groupId>bergung</groupId><artifactId>server</artifactId><version>1</version>"
            f"<dependencies>{''.join(jar.xml for jar in jars)}</dependencies></project>"
        )
        command = [str(shutil.which("mvn")), "-q", "-B", "-f", str(pom), f"-Dmaven.repo.local={scratch}/repository"]
        done = subprocess.run([*command, _PLUGIN, f"-DoutputDirectory={scratch}/jars"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"the jars of a server could not be fetched:\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
        for jar in jars:
            check(jar, Path(scratch, "jars", jar.file_name))
            os.replace(Path(scratch, "jars", jar.file_name), folder / jar.file_name)
