"""Servers that the tests start: Go programs, each at one version, built once into $BERGUNG_CACHE/servers."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

GO_HINT = "install Go 1.24 or newer (golang-go in Debian's backports, or from go.dev), then: ./dev servers"


@dataclass(frozen=True)
class Program:
    """One Go program at one version."""

    name: str
    package: str
    version: str
    what_for: str
    takes: str

    @property
    def path(self) -> Path:
        """Where it lies once it is built."""
        return folder() / f"{self.name}-{self.version}" / self.package.rpartition("/")[2]


VERSITYGW = Program("versitygw", "github.com/versity/versitygw/cmd/versitygw", "v1.8.0", "S3, in ./dev test", "two minutes")
TOXIPROXY = Program(
    "toxiproxy", "github.com/Shopify/toxiproxy/v2/cmd/server", "v2.5.0", "a bad network, in ./dev test", "half a minute"
)
MINIO = Program("minio", "github.com/minio/minio", "v0.0.0-20260212201848-7aac2a2c5b7c", "S3, in ./dev nightly", "five minutes")
PROGRAMS = (VERSITYGW, TOXIPROXY, MINIO)


class CannotBuild(Exception):
    """What is missing, in one line, and how to get it."""


def folder() -> Path:
    """Beside everything else that is cached."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(os.environ.get("BERGUNG_CACHE") or Path(home) / "bergung") / "servers"


def built(program: Program) -> Path:
    """The program, built when it is not there yet."""
    if not program.path.is_file():
        go = shutil.which("go")
        if go is None:
            raise CannotBuild(f"{program.name} is not there, and no Go to build it; {GO_HINT}")
        with _alone(program):
            if not program.path.is_file():
                _build(program, go)
    return program.path


def _build(program: Program, go: str) -> None:
    print(f"dev: building {program.name} {program.version} (once, {program.takes})", file=sys.stderr, flush=True)
    unfinished = program.path.parent.with_name(f"{program.path.parent.name}.{os.getpid()}")
    command = [go, "install", "-ldflags=-s -w", f"{program.package}@{program.version}"]
    environment = {**os.environ, "GOBIN": str(unfinished), "CGO_ENABLED": "0"}
    done = subprocess.run(command, env=environment, cwd=folder(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotBuild(f"{program.name} could not be built: {done.stderr.strip()[-400:]}")
    shutil.rmtree(program.path.parent, ignore_errors=True)
    unfinished.rename(program.path.parent)


@contextmanager
def _alone(program: Program) -> Iterator[None]:
    """Two that want the same wait for each other: the second finds the work done."""
    folder().mkdir(parents=True, exist_ok=True)
    with (folder() / f"{program.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main(wanted: list[str]) -> int:
    unknown = set(wanted) - {program.name for program in PROGRAMS}
    if unknown:
        print(f"error: no server named {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    missing = [
        program for program in PROGRAMS if program.name in (wanted or [each.name for each in PROGRAMS]) and not show(program)
    ]
    return 1 if missing else 0


def show(program: Program) -> bool:
    """One line on standard output: the program and where it lies, or why it does not."""
    try:
        print(f"{program.name:<10} {program.what_for:<28} {built(program)}")
    except CannotBuild as why:
        print(f"{program.name:<10} {program.what_for:<28} {why}")
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
