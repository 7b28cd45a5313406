"""Where a path goes: exact paths first, then the longest prefix that ends at a `/`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from bergung.errors import UnmappedPath, UsageError
from bergung.iceberg.paths import as_folder, below, normal, spellings


@dataclass(frozen=True)
class PathMap:
    """Paths are recognised by their normal form; what is written is the target as it was given, and what follows.

    So all spellings of a file get one: a delete and the data file that it means stay equal strings.
    """

    pairs: tuple[tuple[str, str], ...]
    """Folder and its new place."""
    exact: Mapping[str, str] = field(default_factory=dict)
    """Single files, by their normal form."""

    def __post_init__(self) -> None:
        folders = [as_folder(source) for source, _ in self.pairs]
        for (source, target), folder in zip(self.pairs, folders, strict=True):
            if folder is None or as_folder(target) is None:
                wrong = source if folder is None else target
                raise UsageError(f"{wrong!r} is no folder to move from or to", "give a URI or an absolute path: s3://bucket/lake")
            if folders.count(folder) > 1:
                raise UsageError(f"{source} is given two new places", "give each folder once")

    def of(self, path: str) -> str:
        """The new path; UnmappedPath when it has none."""
        found = self.maybe(path)
        if found is None:
            raise UnmappedPath(f"{path} lies below no folder that moves", "say where its folder goes: --map OLD=NEW", (path,))
        return found

    def maybe(self, path: str) -> str | None:
        """The new path, or None when it has none."""
        as_folder_too = f"{path}/"
        for start, folder, new in self._spelled:
            if as_folder_too.startswith(start):
                rest = path[len(start) - 1 :]
                if not rest or "//" in rest or "/." in rest or "\0" in rest or rest.endswith("/"):
                    break
                if self.exact and (known := self.exact.get(folder + rest)) is not None:
                    return known
                return path if new is None else new + rest
        if self.exact and (known := self.exact.get(normal(path))) is not None:
            return known
        covering = ((source, target, below(source, path)) for source, target in self._longest_first)
        return next((_moved(path, each) for each in covering if each[2] is not None), None)

    @cached_property
    def _longest_first(self) -> tuple[tuple[str, str], ...]:
        return tuple(sorted(self.pairs, key=lambda pair: -len(as_folder(pair[0]) or "")))

    @cached_property
    def _spelled(self) -> tuple[tuple[str, str, str | None], ...]:
        """How nearly all paths start, the folder's normal form, its new place if it is another.

        What has more after it, with neither `//` nor `/.` nor NUL nor a `/` at its end, needs no closer look: its normal form is
        the folder's, and that.
        """
        return tuple(
            (start, as_folder(source) or "", None if source == target else target.rstrip("/"))
            for source, target in self._longest_first
            for start in spellings(source)
        )


def _moved(path: str, covering: tuple[str, str, str | None]) -> str:
    """With equal folders the path keeps its spelling: a map to itself changes nothing."""
    source, target, rest = covering
    if source == target:
        return path
    return f"{target.rstrip('/')}/{rest}" if rest else target.rstrip("/")
