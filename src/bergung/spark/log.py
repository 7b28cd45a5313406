"""Where the words of the JVMs go: one file per process in the cache, the newest twenty kept."""

import contextlib
import os
from pathlib import Path
from typing import IO

KEPT = 20


def open_log(cache: Path) -> tuple[Path, IO[bytes]]:
    """A fresh log for this process; older logs of processes long gone are removed."""
    folder = cache / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    for old in sorted(folder.glob("spark-*.log"), key=_modified)[: -KEPT + 1]:
        old.unlink(missing_ok=True)
    path = folder / f"spark-{os.getpid()}.log"
    return path, path.open("wb")


def reason(path: Path) -> str:
    """The first line that tells of a failure, else the last one."""
    lines = [line.strip() for line in path.read_text(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if any(word in line for word in ("Invalid", "Error", "Exception"))]
    return (telling or lines[-1:] or ["it said nothing"])[0]


def _modified(path: Path) -> int:
    # Another process may have removed it meanwhile.
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_mtime_ns
    return 0
