"""The files below a folder, in the order of their keys."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from bergung.errors import MissingObject
from bergung.stores.disk.create import is_partial
from bergung.stores.disk.posix import own_words

Found = tuple[str, os.stat_result]


@dataclass(frozen=True)
class Walk:
    """A way through a store's folders."""

    base: str
    check_link: Callable[[str], None]
    """Raises where a link must not be followed."""
    partials: bool = False
    """Show what killed writes left, and nothing else."""

    def files(self, prefix: str) -> Iterator[Found]:
        """Every file whose key starts with the prefix; only the folder that the prefix ends in is walked."""
        folder, slash, beginning = prefix.rpartition("/")
        return self._below(folder + slash, beginning, ())

    def folders(self, folder: str) -> Iterator[str]:
        """The names of the folders in a folder; without links that lead back up, which would go on for ever."""
        here = os.path.realpath(self.base + folder)
        for name, entry in self._entries(self.base + folder):
            if name.endswith("/"):
                if entry.is_symlink():
                    self.check_link(entry.path)
                    if _leads_back(os.path.realpath(entry.path), (here,)):
                        continue
                yield name.removesuffix("/")

    def _below(self, folder: str, beginning: str, trail: tuple[str, ...]) -> Iterator[Found]:
        for name, entry in self._entries(self.base + folder):
            if not name.startswith(beginning):
                continue
            if name.endswith("/"):
                yield from self._into(folder + name, entry, trail)
            elif is_partial(name) == self.partials:
                yield from self._file(folder + name, entry)

    def _entries(self, folder: str) -> list[tuple[str, os.DirEntry[str]]]:
        try:
            with own_words(folder), os.scandir(folder) as entries:
                # A folder sorts as its keys do: `a.txt` and `a-b` come before `a/…`.
                return sorted((entry.name + "/" if _is_folder(entry) else entry.name, entry) for entry in entries)
        except MissingObject:
            return []

    def _into(self, folder: str, entry: os.DirEntry[str], trail: tuple[str, ...]) -> Iterator[Found]:
        if entry.is_symlink():
            self.check_link(entry.path)
            trail = (*trail, os.path.realpath(os.path.dirname(entry.path)))
            if _leads_back(os.path.realpath(entry.path), trail):
                return
        yield from self._below(folder, "", trail)

    def _file(self, key: str, entry: os.DirEntry[str]) -> Iterator[Found]:
        if entry.is_symlink():
            self.check_link(entry.path)
        # A file may go between the look into its folder and this one, and a link may lead nowhere.
        with suppress(MissingObject):
            with own_words(entry.path):
                facts = entry.stat()
            if stat.S_ISREG(facts.st_mode):
                yield key, facts


def _is_folder(entry: os.DirEntry[str]) -> bool:
    with suppress(MissingObject), own_words(entry.path):
        return entry.is_dir()
    return False


def _leads_back(target: str, trail: tuple[str, ...]) -> bool:
    """Whether a link's target holds a folder that we are in: what lies there has been seen under another key."""
    return any(os.path.commonpath((target, folder)) == target for folder in trail)
