"""Objects as files below a folder."""

import os
import stat
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from pathlib import Path

from bergung.errors import MissingObject, Refused, SourceChanged
from bergung.stores.base import Copied, Opened, Stat, Store, Version
from bergung.stores.disk import posix
from bergung.stores.disk.create import create, is_partial
from bergung.stores.disk.walk import Walk
from bergung.stores.streaming import look_and_read, stream

# What is read, hashed and written while it is in a core's own cache: with 4 MiB the kernel takes twice the time.
_BLOCK_BYTES = 256 * 1024
_SYNC_THREADS = 4
_SYNC_BATCH = 1024


class LocalStore:
    """A folder of this machine, or of whatever is mounted there; the root "/" takes absolute paths for keys.

    No symbolic link leads out of it, except with the root "/".
    """

    keeps_versions = False
    can_lock = False

    def __init__(self, root: Path | str) -> None:
        self.root = "/" + os.path.abspath(root).lstrip("/")
        self.url = f"file://{self.root}"
        self._base = self.root.rstrip("/") + "/"
        self._inside: set[str] = set()
        self._top = "/"

    def __reduce__(self) -> tuple[type["LocalStore"], tuple[str]]:
        return type(self), (self.root,)

    def __repr__(self) -> str:
        return f"LocalStore({self.root!r})"

    def head(self, key: str) -> Stat:
        """What lies under the key; a folder is nothing."""
        path = self._existing(key)
        with posix.own_words(path):
            return _stat(key, os.stat(path))

    def read(self, key: str, *, start: int = 0, length: int | None = None, version: str | None = None) -> bytes:
        """A range, shorter where the file ends before it, or all."""
        with self._opened(key, version) as (fd, size):
            end = size if length is None else min(size, start + length)
            parts = []
            while start < end and (part := os.pread(fd, end - start, start)):
                parts.append(part)
                start += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def blocks(self, key: str, *, version: str | None = None, block_bytes: int = _BLOCK_BYTES) -> Iterator[bytes]:
        """The whole file in blocks, all of one version."""
        with self._opened(key, version) as (fd, _):
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_SEQUENTIAL)
            while block := os.read(fd, block_bytes):
                yield block

    def open(self, key: str) -> Opened:
        """A look, then the blocks."""
        return look_and_read(self, key)

    def put_if_absent(self, key: str, blocks: Iterable[bytes]) -> Stat:
        """Written under another name in the same folder, then linked to its own, which fails where there is one."""
        path = self._path(key)
        if is_partial(os.path.basename(path)):
            raise Refused(f"a name kept for unfinished writes: {key!r}")
        return _stat(key, create(path, blocks))

    def list(self, prefix: str) -> Iterator[Stat]:
        """Every file whose key starts with the prefix, in the order of the keys; folders are nothing."""
        _check(f"{prefix}x")
        for key, facts in Walk(self._base, self._stay_inside).files(prefix):
            yield _stat(key, facts)

    def folders(self, prefix: str) -> Iterator[str]:
        """Folders of a folder, empty ones too."""
        _check(f"{prefix}x")
        yield from Walk(self._base, self._stay_inside).folders(prefix)

    def list_versions(self, prefix: str) -> Iterator[Version]:
        """One version of each file."""
        for found in self.list(prefix):
            yield Version(found.key, found.size_bytes, found.version, found.modified_at, is_latest=True)

    def copy(self, source_key: str, key: str) -> Stat:
        """A file of its own with the same bytes, never a second name for one file."""
        return self.put_if_absent(key, self.blocks(source_key))

    def copies_from(self, source: Store, size_bytes: int | None = None) -> bool:
        """A file is always read and written."""
        return False

    def copy_from(
        self, source: Store, source_key: str, key: str, *, version: str | Stat | None = None, digest: str | None = None
    ) -> Copied:
        """Block by block."""
        return stream((source, source_key, version), (self, key), digest)

    def delete(self, key: str, *, version: str | None = None) -> None:
        """The file goes, its folder stays."""
        path = self._path(key)
        if version not in (None, self.head(key).version):
            raise _changed(path)
        with posix.own_words(path):
            os.unlink(path)

    def lock(self, key: str, version: str, until: datetime) -> None:
        """Whoever owns a file can delete it."""
        raise Refused(f"files cannot be locked: {self.url}", "use a bucket with Object Lock")

    def locked_until(self, key: str, version: str) -> datetime | None:
        """Never."""
        if self.head(key).version != version:
            raise _changed(self._path(key))
        return None

    def make_durable(self, keys: Iterable[str]) -> None:
        """The files by a few threads at once, then every folder from theirs up, since any of them may be new."""
        folders: set[str] = set()
        waiting = iter(keys)
        with ThreadPoolExecutor(_SYNC_THREADS) as pool:
            while batch := [self._path(key) for key in islice(waiting, _SYNC_BATCH)]:
                for _ in pool.map(posix.sync_file, batch):
                    pass
                folders.update(map(os.path.dirname, batch))
        for folder in sorted(_with_parents(folders, self._top), reverse=True):
            posix.sync_folder(folder)
        if folders:
            # The root's own name is there to stay from now on.
            self._top = self.root

    def sweep_partials(self, before: datetime) -> tuple[str, ...]:
        """Remove what killed writes left and nobody has written to since that moment; their keys."""
        partials = Walk(self._base, self._stay_inside, partials=True).files("")
        stale = tuple(key for key, facts in partials if _moment(facts) < before)
        for key in stale:
            with suppress(MissingObject), posix.own_words(self._base + key):
                os.unlink(self._base + key)
        return stale

    def _path(self, key: str) -> str:
        _check(key)
        path = self._base + key
        folder = os.path.dirname(path)
        if self._base != "/" and folder not in self._inside:
            self._stay_inside(folder)
            self._inside.add(folder)
        return path

    def _existing(self, key: str) -> str:
        path = self._path(key)
        if self._base != "/" and os.path.islink(path):
            self._stay_inside(path)
        return path

    @cached_property
    def _real_root(self) -> str:
        return os.path.realpath(self.root)

    def _stay_inside(self, path: str) -> None:
        if os.path.commonpath((self._real_root, os.path.realpath(path))) != self._real_root:
            hint = f"find the link and take it away: namei -l {posix.shown(path)}"
            raise Refused(f"a symbolic link leads out of {self.root}: {path}", hint)

    @contextmanager
    def _opened(self, key: str, version: str | None) -> Iterator[tuple[int, int]]:
        """A descriptor and a size that belong to one version until the end."""
        path = self._existing(key)
        with posix.own_words(path):
            fd = posix.open_for_reading(path)
            try:
                opened = _stat(key, os.fstat(fd))
                if version not in (None, opened.version):
                    raise _changed(path)
                yield fd, opened.size_bytes
                if _stat(key, os.fstat(fd)) != opened:
                    raise _changed(path)
            finally:
                os.close(fd)


def _check(key: str) -> None:
    if any(segment in ("", ".", "..") for segment in key.split("/")) or "\0" in key:
        raise Refused(f"not a key for a file: {key!r}", "its segments must not be empty, `.` or `..`")
    try:
        os.fsencode(key)
    except UnicodeEncodeError as error:
        raise Refused(f"not a key for a file: {key!r}", "no file name can hold these characters") from error


def _moment(facts: os.stat_result) -> datetime:
    return datetime.fromtimestamp(facts.st_mtime_ns // 1000 / 1_000_000, UTC)


def _stat(key: str, facts: os.stat_result) -> Stat:
    if not stat.S_ISREG(facts.st_mode):
        raise MissingObject(f"not a file: {key!r}")
    return Stat(key, facts.st_size, f"{facts.st_mtime_ns}-{facts.st_size}-{facts.st_ino}", _moment(facts))


def _changed(path: str) -> SourceChanged:
    return SourceChanged(f"changed while it was looked at: {path}", "run the same command again")


def _with_parents(folders: Iterable[str], top: str) -> set[str]:
    found: set[str] = set()
    for folder in folders:
        while folder not in found:
            found.add(folder)
            folder = folder if folder == top else os.path.dirname(folder)
    return found
