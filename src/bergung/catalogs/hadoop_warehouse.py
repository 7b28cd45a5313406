"""The folders of a Hadoop warehouse: which of them are tables, and where their metadata lies."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from bergung.catalogs.hadoop_folder import MetadataFolder
from bergung.stores.access import Access
from bergung.stores.base import OpenStore, Store
from bergung.stores.open import open_path

AT_ONCE = 16
"""How many folders are asked about at the same time."""

Levels = tuple[str, ...]


@dataclass(frozen=True)
class Warehouse:
    """One folder of a store; `address` as Java would write it, for paths are compared letter by letter in a table's own log."""

    address: str
    open_store: OpenStore
    access: tuple[Access, ...] = field(default=(), repr=False)

    def folder(self, levels: Levels) -> MetadataFolder:
        """The metadata folder of a table of that name, be it there or not."""
        store, prefix = self._place(levels)
        return MetadataFolder(store, f"{prefix}metadata/")

    def file(self, levels: Levels, name: str) -> str:
        """The path of a file in there."""
        return "/".join((self.address, *levels, "metadata", name))

    def read(self, path: str) -> bytes:
        """A metadata file, wherever it lies."""
        store, key = open_path(path, self.open_store, self.access)
        return store.read(key)

    def is_same(self, path: str, other: str) -> bool:
        """True for two spellings of one place."""
        places = (open_path(each, self.open_store, self.access) for each in (path, other))
        return len({(store.url, key) for store, key in places}) == 1

    def names(self) -> Iterator[tuple[Levels, bool]]:
        """Every folder that is a name, and whether a table; what lies in a table is not looked at."""
        waiting: list[Levels] = [()]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            while waiting:
                children = [child for found in pool.map(self._children, waiting) for child in found]
                kinds = list(zip(children, pool.map(self._is_table, children), strict=True))
                yield from ((levels, is_table) for levels, is_table in kinds if is_table is not None)
                waiting = [levels for levels, is_table in kinds if is_table is False]

    def _children(self, levels: Levels) -> list[Levels]:
        store, prefix = self._place(levels)
        return [(*levels, name) for name in store.folders(prefix) if is_name(name)]

    def _is_table(self, levels: Levels) -> bool | None:
        """None for the folder of a table of another kind of catalog."""
        folder = self.folder(levels)
        if folder.look().files:
            return True
        return None if folder.has_other_metadata() else False

    def _place(self, levels: Levels) -> tuple[Store, str]:
        store, key = open_path(self.address, self.open_store, self.access)
        segments = (*filter(None, [key.strip("/")]), *levels)
        return store, "".join(f"{segment}/" for segment in segments)


def is_name(name: str) -> bool:
    """True for what can be a folder of a file system."""
    return name not in ("", ".", "..") and "/" not in name and "\0" not in name


def as_java_writes(address: str) -> str:
    """`file:///a/` becomes `file:/a`, as Hadoop's paths do; other addresses lose slashes at their end."""
    return re.sub("^file:/+", "file:/", address).rstrip("/")
