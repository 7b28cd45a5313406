"""Position deletes in Avro: records are cut at their paths and put together again; what else they hold stays as bytes."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
import pyarrow as pa

from bergung.iceberg.avro import BROKEN, Container, corrupt, open_container
from bergung.iceberg.avro_write import pack, text_bytes, written_again
from bergung.iceberg.relocate.formats.moved_deletes import MovedDeletes, untouched
from bergung.iceberg.relocate.formats.path_column import PATH, POSITION, MovedPaths, moved_paths
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.rewritten import Rewritten
from bergung.iceberg.relocate.splice.chunks import chunks
from bergung.iceberg.relocate.splice.layout import Layout, Pieces, layout_of
from bergung.iceberg.relocate.splice.slots import Kind, Slot
from bergung.iceberg.relocate.splice.values import number_of, text_of

SLOTS = (Slot(*PATH, Kind.TEXT, required=True), Slot(*POSITION, Kind.NUMBER, required=True))

_BLOCK_BYTES = 64_000


def relocate_avro(data: pa.Buffer, where: str, moves: PathMap) -> MovedDeletes:
    """Head, codec and all values but the paths stay byte for byte; blocks of less than 64,000 bytes are joined."""
    old = open_container(bytes(data), where)
    rows = Rows(old, moves)
    packed = [(len(meant), pack(old.codec, joined(meant))) for _, meant in rows.moved()]
    moved = moved_paths(rows.counts(), moves)
    if not moved.has_changed:
        return untouched(data, moved)
    if not moved.keeps_order:
        packed = [(count, pack(old.codec, body)) for count, body in rows.sorted(moved)]
    new = written_again(old, packed)
    return MovedDeletes(new, Rewritten(len(new), bounds=moved.bounds), moved.dangling_count)


def joined(records: Iterable[Pieces]) -> bytes:
    """The bytes of records."""
    return b"".join(chain.from_iterable(records))


class Rows:
    """The rows of one file, and their paths as they become."""

    def __init__(self, container: Container, moves: PathMap) -> None:
        self._container, self._moves = container, moves
        self._layout = layout_of(container, SLOTS)
        self._path_at, self._position_at = map(self._layout.place, (PATH[0], POSITION[0]))
        self._seen: Counter[bytes] = Counter()
        self._targets = _Targets(self._layout, moves, container.where)

    def moved(self) -> Iterator[tuple[list[Pieces], list[Pieces]]]:
        """Portions of rows, and what they become, in the order in which they stand."""
        for records in self.portions():
            columns: list[Iterable[bytes]] = list(zip(*records, strict=True))
            self._seen.update(columns[self._path_at])
            columns[self._path_at] = map(self._targets.__getitem__, columns[self._path_at])
            yield records, list(zip(*columns, strict=True))

    def portions(self) -> Iterator[list[Pieces]]:
        """The rows, cut at paths and positions."""
        return (self._layout.cut(block, count, self._container.where) for count, block in chunks(self._container))

    def key(self, record: Pieces) -> tuple[str, int]:
        """What rows are sorted by."""
        return self._targets.text(record[self._path_at]), self._position(record)

    def counts(self) -> dict[str, int]:
        """Paths and their rows, once all were seen."""
        return {self._targets.text(piece): count for piece, count in self._seen.items()}

    def sorted(self, moved: MovedPaths) -> Iterator[tuple[int, bytes]]:
        """Blocks of moved rows, by path and position."""
        ranks, positions = array("i"), array("q")
        heads: list[bytes] = []
        tails: list[bytes] = []
        rank_of = {piece: moved.ranks[moved.targets[self._targets.text(piece)]] for piece in self._seen}
        for records in self.portions():
            ranks.extend(rank_of[record[self._path_at]] for record in records)
            positions.extend(self._position(record) for record in records)
            heads += (b"".join(record[: self._path_at]) for record in records)
            tails += (b"".join(record[self._path_at + 1 :]) for record in records)
        names = [self._targets.encoded(name) for name in moved.names]
        order = np.lexsort((np.frombuffer(positions, np.int64), np.frombuffer(ranks, np.int32)))
        return _blocks(b"".join((heads[row], names[ranks[row]], tails[row])) for row in map(int, order))

    def _position(self, record: Pieces) -> int:
        value = self._layout.form(POSITION[0]).value(record[self._position_at])
        if value is None:
            raise corrupt(self._container.where, "a row has no position")
        return number_of(value)


class _Targets(dict[bytes, bytes]):
    """Paths as they are encoded, before and after."""

    def __init__(self, layout: Layout, moves: PathMap, where: str) -> None:
        super().__init__()
        self._form = layout.form(PATH[0])
        self._moves, self._where = moves, where

    def __missing__(self, piece: bytes) -> bytes:
        path = self.text(piece)
        self[piece] = found = self.encoded(self._moves.maybe(path) or path)
        return found

    def text(self, piece: bytes) -> str:
        try:
            value = self._form.value(piece)
            if value is None:
                raise corrupt(self._where, "a row has no path")
            return text_of(value)
        except BROKEN as error:
            raise corrupt(self._where, "a path is no text") from error

    def encoded(self, path: str) -> bytes:
        return self._form.before + text_bytes(path.encode())


def _blocks(records: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    waiting: list[bytes] = []
    size = 0
    for record in records:
        waiting.append(record)
        size += len(record)
        if size >= _BLOCK_BYTES:
            yield len(waiting), b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield len(waiting), b"".join(waiting)
