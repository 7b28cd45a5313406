"""A piece of a test in a process of its own, under the limits that a real machine may set."""

import ctypes
import errno
import os
import pickle
import platform
import resource
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

NOBODY = 65534
_LINKAT, _RENAMEAT2 = {"x86_64": (265, 316), "aarch64": (37, 276)}[platform.machine()]
_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_RDONLY, _MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
_libc = ctypes.CDLL(None, use_errno=True)


def in_child(*steps: Callable[[], object]) -> Any:
    """Run the steps in a forked process; what the last one gives back, or the error that any of them raised."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "wb") as report:
            report.write(_outcome(steps))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as report:
        outcome = report.read()
    os.waitpid(child, 0)
    result, error = pickle.loads(outcome)
    if error is not None:
        raise error
    return result


def _outcome(steps: tuple[Callable[[], object], ...]) -> bytes:
    result = None
    try:
        for step in steps:
            result = step()
        return pickle.dumps((result, None))
    except BaseException as error:  # noqa: BLE001
        return pickle.dumps((None, error))


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, which pytest's own are not."""
    with TemporaryDirectory(prefix="bergung-") as name:
        os.chmod(name, 0o755)
        yield Path(name)


def as_nobody() -> None:
    """Root may do everything, so give that up."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def no_file_above(size_bytes: int) -> None:
    """No file of this process may grow beyond that size."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, size_bytes))


def small_disk(folder: Path, size_bytes: int) -> None:
    """Mount a file system of that size, which goes with the process."""
    _with_mounts_of_its_own()
    _mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, b"size=%d" % size_bytes)


def seen_read_only(folder: Path) -> None:
    """This process and those that it starts cannot write into the folder."""
    _with_mounts_of_its_own()
    name = os.fsencode(folder)
    _mount(name, name, None, _MS_BIND, None)
    _mount(b"none", name, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY, None)


def make_read_only(folder: Path) -> None:
    """Mount it once more, read-only; it must be a mount already."""
    _mount(b"none", os.fsencode(folder), None, _MS_REMOUNT | _MS_RDONLY, None)


def without(*names: str) -> None:
    """The kernel refuses these calls, as it does on file systems that have none of them."""
    refused = {"linkat": (_LINKAT, errno.EPERM), "renameat2": (_RENAMEAT2, errno.EINVAL)}
    code = struct.pack("HBBI", 0x20, 0, 0, 0)  # the number of the call
    for number, answer in (refused[name] for name in names):
        code += struct.pack("HBBI", 0x15, 0, 1, number) + struct.pack("HBBI", 0x06, 0, 0, 0x00050000 | answer)
    code += struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000)
    kept = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(kept))
    _checked(_libc.prctl(38, 1, 0, 0, 0))
    _checked(_libc.prctl(22, 2, program, 0, 0))


def _with_mounts_of_its_own() -> None:
    user = 0 if os.geteuid() == 0 else _CLONE_NEWUSER
    _checked(_libc.unshare(_CLONE_NEWNS | user))
    _mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None)


def _mount(source: bytes, target: bytes, kind: bytes | None, flags: int, options: bytes | None) -> None:
    _checked(_libc.mount(source, target, kind, ctypes.c_ulong(flags), options))


def _checked(answer: int) -> None:
    if answer != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
