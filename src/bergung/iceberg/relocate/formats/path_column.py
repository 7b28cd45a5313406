"""The column of paths of a position delete file: its distinct paths, and for each row which of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from bergung.iceberg.avro import corrupt
from bergung.iceberg.columns import table, values
from bergung.iceberg.relocate.path_map import PathMap

Numbers = np.ndarray[tuple[int], np.dtype[np.signedinteger]]

PATH = (2147483546, "file_path")
POSITION = (2147483545, "pos")
"""Field id and name."""

_SLICE = 1024 * 1024


@dataclass(frozen=True)
class MovedPaths:
    """What becomes of the distinct paths of one file."""

    targets: dict[str, str]
    dangling_count: int
    """Rows whose path has no new place and is kept."""

    @property
    def has_changed(self) -> bool:
        return any(path != target for path, target in self.targets.items())

    @cached_property
    def names(self) -> list[str]:
        """The new paths in Iceberg's order: of Unicode code points, which is that of UTF-8's bytes (Comparators.charSequences)."""
        return sorted(set(self.targets.values()))

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The place of each new path among them."""
        return {name: rank for rank, name in enumerate(self.names)}

    @cached_property
    def keeps_order(self) -> bool:
        """Rows that are sorted by path and position still are, without moving."""
        return [target for _, target in sorted(self.targets.items())] == self.names

    @property
    def bounds(self) -> tuple[bytes, bytes]:
        return self.names[0].encode(), self.names[-1].encode()


def moved_paths(counts: dict[str, int], moves: PathMap) -> MovedPaths:
    """Paths and their rows; by the same function as the paths of data files, so that both stay equal strings."""
    found = {path: moves.maybe(path) for path in counts}
    dangling_count = sum(counts[path] for path, target in found.items() if target is None)
    return MovedPaths({path: path if target is None else target for path, target in found.items()}, dangling_count)


@dataclass(frozen=True)
class _Part:
    """Rows that have one dictionary."""

    indices: pa.Array
    numbers: Numbers
    paths: list[str]

    @cached_property
    def counts(self) -> Numbers:
        """Rows of each path; in slices, since numpy makes wider copies of what it counts."""
        total = np.zeros(len(self.paths), np.int64)
        for start in range(0, len(self.numbers), _SLICE):
            total += np.bincount(self.numbers[start : start + _SLICE], minlength=len(self.paths))
        return total

    def ranks(self, moved: MovedPaths) -> Numbers:
        lookup = np.array([moved.ranks[moved.targets[path]] if count else 0 for path, count in self._counted()], np.int32)
        return lookup[self.numbers]

    def moved(self, moved: MovedPaths) -> pa.DictionaryArray:
        """The same indices, another dictionary."""
        return pa.DictionaryArray.from_arrays(self.indices, _strings([moved.targets[path] for path in self.paths]))

    def _counted(self) -> Iterator[tuple[str, int]]:
        return zip(self.paths, self.counts.tolist(), strict=True)


class PathColumn:
    """Rows come in groups, which are kept."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._groups: list[list[_Part]] = []

    def add_group(self, chunks: Iterable[pa.DictionaryArray]) -> None:
        self._groups.append([self._part(chunk) for chunk in chunks])

    def counts(self) -> dict[str, int]:
        """The paths that rows have, and how many rows."""
        found: dict[str, int] = {}
        for part in (part for group in self._groups for part in group):
            for path, count in zip(part.paths, part.counts.tolist(), strict=True):
                if count:
                    found[path] = found.get(path, 0) + count
        return found

    def ranks(self, moved: MovedPaths) -> Numbers:
        """For each row the place of its new path among the new paths."""
        return np.concatenate([part.ranks(moved) for group in self._groups for part in group])

    def groups(self, moved: MovedPaths) -> Iterator[pa.DictionaryArray]:
        """The new column, group by group; what stands twice in a dictionary, or unused, Arrow would write row by row."""
        for parts in self._groups:
            if len(parts) == 1 and parts[0].counts.all():
                yield parts[0].moved(moved)
            else:
                yield dictionary_of(np.concatenate([part.ranks(moved) for part in parts] or [np.empty(0, np.int32)]), moved.names)

    def _part(self, chunk: pa.DictionaryArray) -> _Part:
        if chunk.null_count or chunk.dictionary.null_count:
            raise corrupt(self._where, "a row has no path")
        try:
            paths = [path.decode() if isinstance(path, bytes) else path for path in values(chunk.dictionary)]
        except UnicodeDecodeError as error:
            raise corrupt(self._where, "a path is no text") from error
        return _Part(chunk.indices, numbers_of(chunk.indices, self._where), paths)


def dictionary_of(ranks: Numbers, names: list[str]) -> pa.DictionaryArray:
    """A column of these names, with just those in its dictionary that it has."""
    used = np.zeros(len(names), np.bool_)
    used[ranks] = True
    lookup = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return pa.DictionaryArray.from_arrays(column_of(lookup[ranks]), _strings([names[rank] for rank in np.flatnonzero(used)]))


def column_of(numbers: Numbers) -> pa.Array:
    """As Arrow, without a copy; `pa.array` would import pandas."""
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, pa.py_buffer(numbers)])


def numbers_of(column: pa.Array, where: str) -> Numbers:
    """As numpy, without a copy; `to_numpy` would import pandas."""
    if column.null_count:
        raise corrupt(where, "a row has no position")
    if not len(column):
        return np.empty(0, np.int64)
    numbers = np.frombuffer(column.buffers()[1], column.type.to_pandas_dtype())
    return numbers[column.offset : column.offset + len(column)]


def _strings(names: list[str]) -> pa.Array:
    return table(pa.schema([("name", pa.string())]), {"name": names}).column(0).combine_chunks()
