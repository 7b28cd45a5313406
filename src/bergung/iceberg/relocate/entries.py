"""Entries of a manifest, cut into pieces: those that change are made anew."""

from collections import Counter
from collections.abc import Iterable, Mapping

from bergung.errors import BergungError
from bergung.iceberg.avro import Container
from bergung.iceberg.avro_write import long_bytes, text_bytes
from bergung.iceberg.manifests import ADDED, DELETED, EXISTING
from bergung.iceberg.relocate.anew import say_anew
from bergung.iceberg.relocate.decoded import Look
from bergung.iceberg.relocate.expected import expected_entry
from bergung.iceberg.relocate.fields import CONTENT, ENTRY, FAULT, PATH, REFERENCED, STATUS
from bergung.iceberg.relocate.moving import Moving
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.rewritten import Rewritten
from bergung.iceberg.relocate.splice.layout import Pieces, layout_of
from bergung.iceberg.relocate.splice.values import text_of

_DATA, _POSITION_DELETES, _EQUALITY_DELETES = range(3)


class Entries:
    """The entries of one manifest."""

    def __init__(self, container: Container, moves: PathMap, rewritten: Mapping[str, Rewritten]) -> None:
        self.layout = layout_of(container, ENTRY)
        self.moving = Moving(moves, container.where)
        self.look = Look(container, ENTRY, lambda row: expected_entry(row, moves, rewritten))
        self._rewritten = rewritten
        self._statuses = self._known(STATUS, (EXISTING, ADDED, DELETED))
        self._contents = self._known(CONTENT, (_DATA, _POSITION_DELETES, _EQUALITY_DELETES))
        self.counts: Counter[int] = Counter()
        """How many entries there were of each status."""

    def moved(self, records: list[Pieces]) -> list[Pieces]:
        """The entries as they must be."""
        status_at, content_at, path_at, reference_at = map(self.layout.place, (STATUS, CONTENT, PATH, REFERENCED))
        statuses = [self._statuses[record[status_at]] for record in records]
        contents = {self._contents[content] for content in {record[content_at] for record in records}}
        references = {record[reference_at] for record in records}
        self.counts.update(statuses)
        if _POSITION_DELETES in contents or references != {self.layout.form(REFERENCED).null}:
            return list(map(self._with_more, records, statuses))
        paths = self._moved_texts(PATH, [record[path_at] for record in records], statuses)
        after = path_at + 1
        return [record[:path_at] + (path,) + record[after:] for record, path in zip(records, paths, strict=True)]

    def _with_more(self, record: Pieces, status: int) -> Pieces:
        """A position delete, or what else may refer to a data file."""
        new = list(record)
        for id_ in (PATH, REFERENCED):
            if id_ == PATH or self.layout.value(record, id_) is not None:
                place = self.layout.place(id_)
                (new[place],) = self._moved_texts(id_, [record[place]], [status])
        if status != DELETED and self._contents[record[self.layout.place(CONTENT)]] == _POSITION_DELETES:
            path = text_of(self.layout.value(record, PATH) or b"")
            made = self._rewritten.get(path)
            if made is None:
                raise BergungError(f"{path} holds position deletes that were not made anew", FAULT)
            say_anew(self.layout, new, made, self.moving.moves)
        return tuple(new)

    def _moved_texts(self, id_: int, pieces: list[bytes], statuses: list[int]) -> list[bytes]:
        form = self.layout.form(id_)
        paths = [text_of(form.value(piece) or b"") for piece in pieces]
        moved = self.moving.many(paths, [status != DELETED for status in statuses])
        return [form.before + text_bytes(path.encode()) for path in moved]

    def _known(self, id_: int, values: Iterable[int]) -> dict[bytes, int]:
        """Numbers by how they are encoded; null, and a field that is not there, stand for the first."""
        form = self.layout.form(id_)
        known = {form.before + long_bytes(value): value for value in values}
        return known if form.null is None else known | {form.null: 0}
