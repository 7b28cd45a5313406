"""A server as a process of ours: started in a folder, waited for, ended by its own id."""

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

HOST = "127.0.0.1"
PATIENCE_SECONDS = 90.0
LOOK_SECONDS = 0.05


@contextmanager
def running(
    command: Sequence[str | Path], folder: Path, ready: Callable[[], bool], env: Mapping[str, str] | None = None
) -> Iterator["subprocess.Popen[bytes]"]:
    """While inside, the server runs and has said that it is ready; its words lie in `<program>.log` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{Path(command[0]).name}.log"
    environment = {**os.environ, **(env or {})}
    with log.open("ab") as stream:
        server = subprocess.Popen(
            list(map(str, command)), cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream
        )
    try:
        _wait(server, ready, log)
        yield server
    finally:
        end(server)


def end(server: "subprocess.Popen[bytes]") -> None:
    """Ask it to end, then end it."""
    server.terminate()
    try:
        server.wait(timeout=20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def listens(port: int) -> bool:
    """Somebody takes connections there."""
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def owners(port: int) -> frozenset[int]:
    """The processes that hold the connection from this port of 127.0.0.1, while it is open."""
    rows = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    local = f"0100007F:{port:04X}"
    sockets = {f"socket:[{row[9]}]" for row in rows if row[1] == local}
    return frozenset(pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if sockets & _open_files(pid))


def command_of(pid: int) -> str:
    """Its command line; empty when it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def answers(url: str) -> bool:
    """Somebody answers there by HTTP, whatever the answer, unless it is that the server is not ready."""
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except urllib.error.HTTPError as error:
        return error.code < 500
    except OSError:
        return False


def _open_files(pid: int) -> set[str]:
    try:
        return {os.readlink(each.path) for each in os.scandir(f"/proc/{pid}/fd")}
    except OSError:  # it has ended, or is another's
        return set()


def _wait(server: "subprocess.Popen[bytes]", ready: Callable[[], bool], log: Path) -> None:
    began = time.perf_counter()
    while not ready():
        if server.poll() is not None:
            raise RuntimeError(f"the server ended at once: {_said(log)}")
        if time.perf_counter() - began > PATIENCE_SECONDS:
            raise RuntimeError(f"the server is not ready after {PATIENCE_SECONDS:.0f} s: {_said(log)}")
        time.sleep(LOOK_SECONDS)


def _said(log: Path) -> str:
    return log.read_text(errors="replace")[-3000:]
