"""Paths of one file on their way, and those that have no place."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bergung.errors import UnmappedPath
from bergung.iceberg.relocate.path_map import PathMap

_KEPT = 100
_SHOWN = 3


@dataclass
class Moving:
    """What has no place stays as it is and is counted; `check` says whether that will do."""

    moves: PathMap
    where: str
    kept_count: int = 0
    """Paths of files that are gone, left as they were."""
    unmapped_count: int = 0
    unmapped: list[str] = field(default_factory=list)
    """The first of those that had to move."""

    def many(self, paths: Sequence[str], live: Sequence[bool]) -> list[str]:
        """The new paths."""
        found = list(map(self.moves.maybe, paths))
        return [new or self._without_place(path, alive) for new, path, alive in zip(found, paths, live, strict=True)]

    def _without_place(self, path: str, live: bool) -> str:
        if live:
            self.unmapped_count += 1
            if len(self.unmapped) < _KEPT:
                self.unmapped.append(path)
        else:
            self.kept_count += 1
        return path

    def check(self) -> None:
        """UnmappedPath when a path that had to move has no place."""
        if self.unmapped_count:
            more = f" and {self.unmapped_count - _SHOWN} more" if self.unmapped_count > _SHOWN else ""
            shown = ", ".join(self.unmapped[:_SHOWN]) + more
            message = f"{self.where} names files below no folder that moves: {shown}"
            raise UnmappedPath(message, "say where their folder goes: --map OLD=NEW", tuple(self.unmapped), self.unmapped_count)
