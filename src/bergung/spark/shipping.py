"""Sending this package to executors that do not share our files."""

import hashlib
import io
import os
import zipfile
from pathlib import Path

from pyspark.sql import SparkSession

import bergung

# The same package gives the same bytes, whatever the times of its files.
ANY_TIME = (2020, 1, 1, 0, 0, 0)


def ship_package(session: SparkSession, cache: Path, *, connect: bool) -> None:
    """Every worker of the session imports the same code as this process; what it needs beside must be there."""
    package = str(_zipped(cache / "shipped"))
    if connect:
        session.addArtifacts(package, pyfile=True)
    else:
        session.sparkContext.addPyFile(package)


def _zipped(folder: Path) -> Path:
    """Kept, because a classic session hands the file out for as long as it lives."""
    root = Path(bergung.__file__).parent
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for source in sorted(root.rglob("*.py")):
            name = Path("bergung") / source.relative_to(root)
            archive.writestr(zipfile.ZipInfo(str(name), ANY_TIME), source.read_bytes())
    place = folder / f"bergung-{hashlib.sha256(content.getvalue()).hexdigest()[:16]}.zip"
    if not place.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        scratch = folder / f".{place.name}.{os.getpid()}"
        scratch.write_bytes(content.getvalue())
        os.replace(scratch, place)
    return place
