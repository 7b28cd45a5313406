"""The class-data archive: classes that a session loads, parsed once and mapped at later starts of the JVM."""

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pyspark

from bergung.spark import java, rehearsal

KEPT = 4
PATIENCE_SECONDS = 300


def find(cache: Path, java_home: Path, extra: Iterable[Path]) -> Path | None:
    """The archive that fits this Java, this Spark and these jars; None when nobody made it."""
    place = _place(cache, java_home, extra)
    return place if place.is_file() else None


def ensure(cache: Path, extra: list[Path]) -> Path | None:
    """Make the archive by a short session in a process of its own; None when it cannot be made here."""
    home = java.find_home()
    place = _place(cache, home, extra)
    if place.is_file():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    _rehearse(place, home, extra)
    _remove_old(place.parent)
    return place if place.is_file() else None


def _rehearse(place: Path, home: Path, extra: list[Path]) -> None:
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".making-") as scratch:
        made = Path(scratch) / place.name
        environment = {**os.environ, "JAVA_HOME": str(home)}
        command = [sys.executable, "-m", rehearsal.__name__, str(made), *map(str, extra)]
        try:
            subprocess.run(command, env=environment, cwd=scratch, capture_output=True, check=True, timeout=PATIENCE_SECONDS)
        except (subprocess.SubprocessError, OSError):
            return  # a session without an archive is only slower
        if made.is_file():
            os.replace(made, place)


def _place(cache: Path, java_home: Path, extra: Iterable[Path]) -> Path:
    release = java_home / "release"
    spark_jars = Path(pyspark.__file__).parent / "jars"
    # The JVM compares paths and times of the class path itself; the key only keeps the archives of several apart.
    parts = [str(java_home), release.read_text() if release.is_file() else "", pyspark.__version__]
    parts += [f"{path} {path.stat().st_mtime_ns}" for path in (spark_jars, *extra)]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return cache / "archives" / f"{key}.jsa"


def _remove_old(folder: Path) -> None:
    archives = sorted(folder.glob("*.jsa"), key=lambda path: path.stat().st_mtime_ns)
    for old in archives[:-KEPT]:
        old.unlink(missing_ok=True)
