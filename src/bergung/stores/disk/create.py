"""A file that appears whole, and only where none was."""

import ctypes
import errno
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress

from bergung.errors import MissingObject, ObjectExists, Refused
from bergung.stores.disk import posix

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_MODE = 0o666

_WRITE_OUT_BYTES = 32 * 1024 * 1024
_WORTH_WRITING_OUT_BYTES = 1024 * 1024

_CANNOT = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EMLINK}
_AT_FDCWD = -100
_RENAME_NOREPLACE = 1


def create(path: str, blocks: Iterable[bytes]) -> os.stat_result:
    """All the blocks under the path or, whatever happens, nothing; ObjectExists before the first block is asked for."""
    refuse_what_is_there(path)
    partial = os.path.join(os.path.dirname(path), f".bergung-{secrets.token_hex(8)}.part")
    try:
        facts = _write(partial, blocks)
        _publish(partial, path)
        return facts
    finally:
        with posix.own_words(partial), suppress(FileNotFoundError):
            os.unlink(partial)


def is_partial(name: str) -> bool:
    """Whether this is what a write leaves behind that was killed before its end."""
    return name.startswith(".bergung-") and name.endswith(".part")


def refuse_what_is_there(path: str) -> None:
    """ObjectExists for a file or a link; Refused where a folder lies, or where a folder cannot be."""
    try:
        with posix.own_words(path):
            found = os.lstat(path)
    except MissingObject as missing:
        if isinstance(missing.__cause__, NotADirectoryError):
            raise Refused(f"a file lies where a folder should be, above {path}") from missing
        return
    if stat.S_ISDIR(found.st_mode):
        raise Refused(f"a folder lies where a file should be: {path}")
    raise ObjectExists(f"exists already: {path}")


def _write(partial: str, blocks: Iterable[bytes]) -> os.stat_result:
    with posix.own_words(partial):
        fd = _open_new(partial)
    try:
        _write_blocks(fd, partial, blocks)
        return os.fstat(fd)
    finally:
        os.close(fd)


def _open_new(partial: str) -> int:
    try:
        return os.open(partial, _NEW, _MODE)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(partial), exist_ok=True)
        return os.open(partial, _NEW, _MODE)


def _write_blocks(fd: int, partial: str, blocks: Iterable[bytes]) -> None:
    written = started = 0
    # Errors of the blocks' own source pass as they are: they say nothing about this file.
    for block in blocks:
        with posix.own_words(partial):
            _write_all(fd, block)
        written += len(block)
        if written - started >= _WRITE_OUT_BYTES:
            posix.start_writing_out(fd, started, written - started)
            started = written
    # Small files are cheaper to leave to the sync, which takes many at once.
    if started < written and written >= _WORTH_WRITING_OUT_BYTES:
        posix.start_writing_out(fd, started, written - started)


def _write_all(fd: int, block: bytes) -> None:
    left = memoryview(block)
    while left:
        left = left[os.write(fd, left) :]


def _publish(partial: str, path: str) -> None:
    try:
        with posix.own_words(path):
            _link(partial, path)
    except ObjectExists:
        refuse_what_is_there(path)
        raise


def _link(partial: str, path: str) -> None:
    try:
        os.link(partial, path, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
        _rename_without_replacing(partial, path)


def _rename_without_replacing(partial: str, path: str) -> None:
    # For file systems without hard links. A plain rename would overwrite, so there is no third way.
    rename = getattr(posix.libc(), "renameat2", None)
    names = (_AT_FDCWD, os.fsencode(partial), _AT_FDCWD, os.fsencode(path))
    failed = errno.ENOSYS if rename is None else rename(*names, _RENAME_NOREPLACE) and ctypes.get_errno()
    if failed in _CANNOT:
        raise Refused(
            f"this file system cannot create a file only where none is: {os.path.dirname(path)}",
            "use a file system with hard links (ext4, xfs, btrfs, nfs) or an object store",
        )
    if failed:
        raise OSError(failed, os.strerror(failed), path)
