"""What the operating system does and says, in this house's words."""

import ctypes
import errno
import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from bergung.errors import BergungError, MissingObject, NotAllowed, ObjectExists, Refused, StoreError, StoreFull

# A link that leads round in circles leads to nothing.
_MISSING = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
_NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EROFS}
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_FOLDER_SYNC = {errno.EINVAL, errno.EOPNOTSUPP}

_SYNC_FILE_RANGE_WRITE = 2


@contextmanager
def own_words(path: str) -> Iterator[None]:
    """Whatever the operating system says about this path, said as an error of this house."""
    try:
        yield
    except OSError as error:
        raise _in_own_words(error, path) from error


def _in_own_words(error: OSError, path: str) -> BergungError:
    said = f"{(error.strerror or str(error)).lower()}: {path}"
    if error.errno in _MISSING:
        return MissingObject(said, f"see how far the path goes: namei -l {shown(path)}")
    if error.errno == errno.EEXIST:
        return ObjectExists(said)
    if error.errno in _NOT_ALLOWED:
        return NotAllowed(said, f"see who may read and write there: namei -l {shown(path)}")
    if error.errno in _FULL:
        return StoreFull(said, f"make room, then run the same command again: df -h {shown(os.path.dirname(path))}")
    if error.errno == errno.ENAMETOOLONG:
        return Refused(said, "no file of that name can lie there")
    return StoreError(said, "look at what the system says: dmesg | tail")


def shown(path: str) -> str:
    """A path that can be pasted behind a command."""
    return shlex.quote(path)


def open_for_reading(path: str) -> int:
    """A descriptor of whatever lies there, at once: a named pipe would else be waited for for ever."""
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)


def start_writing_out(fd: int, start: int, length: int) -> None:
    """Ask the kernel to begin now what a later sync waits for; a hint that may do nothing."""
    sync = getattr(libc(), "sync_file_range", None)
    if sync is not None:
        sync(fd, ctypes.c_int64(start), ctypes.c_int64(length), _SYNC_FILE_RANGE_WRITE)


def sync_file(path: str) -> None:
    """The bytes of one file survive a power cut."""
    with own_words(path):
        fd = open_for_reading(path)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise MissingObject(f"not a file: {path}")
            os.fsync(fd)
        finally:
            os.close(fd)


def sync_folder(path: str) -> None:
    """The names in one folder survive a power cut."""
    with own_words(path):
        fd = _open_folder(path)
        if fd is None:
            return
        try:
            os.fsync(fd)
        except OSError as error:
            # Some network file systems cannot sync a folder; they send its names at once.
            if error.errno not in _NO_FOLDER_SYNC:
                raise
        finally:
            os.close(fd)


def _open_folder(path: str) -> int | None:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    except PermissionError:
        # Who may not write in a folder cannot have put a name there.
        if os.access(path, os.W_OK):
            raise
        return None


@cache
def libc() -> ctypes.CDLL:
    """The C library, for calls that Python has no name for."""
    return ctypes.CDLL(None, use_errno=True)
