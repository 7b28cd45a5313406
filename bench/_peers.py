"""The other programs: each with the lake's warehouse as source, and a folder of its own that is fresh in every round."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from _rounds import Contestant, run, timed

PACKAGES = {"restic": "restic", "borg": "borgbackup", "rclone": "rclone", "aws": "awscli"}
HERE = Path(__file__).resolve().parent
TWO_THREADS, TWO_THREADS_UNSYNCED = "two threads of Python", "two threads of Python, not synced"
RESTIC, BORG = "restic --compression off", "borg -C none"
COPY_AND_HASH, RCLONE = "cp -r, xargs -P2 sha256sum", "rclone copy"


def two_threads(source: Path, target: Path) -> list[Contestant]:
    """The limit to come near, with and without durability."""
    words = [sys.executable, HERE / "_two_threads.py", source, target]
    return [
        _of(TWO_THREADS, target, lambda: _told(words)),
        _of(TWO_THREADS_UNSYNCED, target, lambda: _told([*words, "not-synced"])),
    ]


def programs(source: Path, work: Path) -> list[Contestant]:
    """Those that are installed. restic and borg sync what they write themselves; after the others the file system is synced."""
    target = work / "peer"
    made = {"restic": _restic, "borg": _borg, "rclone": _rclone}
    found = [make(source, target) for name, make in made.items() if shutil.which(name)]
    return [*found, _copy_and_hash(source, target)]


def install() -> list[str]:
    """With Debian's packages when that is possible; what is still missing, and how to get it."""
    if shutil.which("apt-get") and os.geteuid() == 0 and _missing():
        packages = [PACKAGES[name] for name in _missing()]
        for words in (["update", "-qq"], ["install", "-qq", "-y", "--no-install-recommends", *packages]):
            subprocess.run(["apt-get", *words], env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, capture_output=True)
    return [f"{name} is not there and not measured; Debian, Ubuntu: apt-get install {PACKAGES[name]}" for name in _missing()]


def _missing() -> list[str]:
    return [name for name in PACKAGES if not shutil.which(name)]


def _restic(source: Path, target: Path) -> Contestant:
    environment = {"RESTIC_PASSWORD": "bench", "RESTIC_REPOSITORY": str(target / "repository")}
    environment["RESTIC_CACHE_DIR"] = str(target / "cache")
    words = ["restic", "--quiet", "--compression", "off", "backup", source]
    before = ["restic", "--quiet", "init", "--repository-version", "2"]
    return _of(RESTIC, target, lambda: timed(words, environment), lambda: run(before, environment))


def _borg(source: Path, target: Path) -> Contestant:
    environment = {"BORG_BASE_DIR": str(target / "home"), "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes"}
    repository = target / "repository"
    words = ["borg", "create", "-C", "none", f"{repository}::one", source]
    return _of(
        BORG, target, lambda: timed(words, environment), lambda: run(["borg", "init", "-e", "none", repository], environment)
    )


def _rclone(source: Path, target: Path) -> Contestant:
    words = f"rclone --config '' copy {_quoted(source)} {_quoted(target / 'copy')} && sync -f {_quoted(target)}"
    return _of(RCLONE, target, lambda: timed(["sh", "-c", words], {}))


def _copy_and_hash(source: Path, target: Path) -> Contestant:
    copy = _quoted(target / "copy")
    hashed = f"find {copy} -type f -print0 | xargs -0 -P2 -n4 sha256sum >/dev/null"
    words = f"cp -r {_quoted(source)} {copy} && {hashed} && sync -f {copy}"
    return _of(COPY_AND_HASH, target, lambda: timed(["sh", "-c", words], {}))


def _of(name: str, target: Path, measured: Callable[[], float], before: Callable[[], object] = lambda: None) -> Contestant:
    def fresh() -> None:
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        before()

    return Contestant(name, measured, fresh, lambda: shutil.rmtree(target, ignore_errors=True))


def _told(words: Sequence[str | Path]) -> float:
    """Its own count, without the start of Python: ours is measured without that too."""
    return float(json.loads(run(words, {}))["seconds"])


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
