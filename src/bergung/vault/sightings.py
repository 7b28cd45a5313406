"""The tables of all points: records are read one by one, when they are asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bergung.clock import from_text, to_ms
from bergung.errors import DamageFound
from bergung.model.names import TableName, TablePattern, name_in_record
from bergung.model.record import Record, TableEntry
from bergung.plan.same_table import seen_in_point
from bergung.vault.vault import Point, State, Vault, read_record, seen_mark


@dataclass(frozen=True)
class Seen:
    """A table in the record of a point."""

    name: TableName
    entry: TableEntry

    def is_of(self, other: "Seen") -> bool:
        """True for the same table, under whatever name."""
        one, two = (seen_in_point(str(each.name), each.entry) for each in (self, other))
        return one.is_of(two)


Tables = Mapping[str, list[Seen]]
"""By identity: there may be copies of a table."""


class Sightings:
    """Points in the order of their seals; a record that is lost holds nothing any more, and verify names it."""

    def __init__(self, vault: Vault, state: State, points: Sequence[Point]) -> None:
        self.vault = vault
        self.points = points
        self._state = state
        self._records: dict[int, Record | None] = {}
        self._tables: dict[int, Tables] = {}

    def record(self, place: int) -> Record | None:
        """That of the point at this place; None when it is lost."""
        if place not in self._records:
            try:
                self._records[place] = read_record(self.vault, self.points[place])
            except DamageFound:
                self._records[place] = None
        return self._records[place]

    def matching(self, place: int, pattern: TablePattern | None) -> list[Seen]:
        """The tables of a point that are meant; all without a pattern."""
        tables = (seen for found in self._at(place).values() for seen in found)
        return [seen for seen in tables if pattern is None or pattern.matches(seen.name)]

    def again(self, seen: Seen, place: int) -> Seen | None:
        """The same table in another point; of several the one of that very name."""
        found = [other for other in self._at(place).get(seen.entry.identity, []) if other.is_of(seen)]
        return next((other for other in found if other.name == seen.name), found[0] if found else None)

    def newest_name(self, seen: Seen) -> TableName:
        """As the newest point calls it of those that have been read."""
        found = (self.again(seen, place) for place in sorted(self._tables, reverse=True))
        return next((other.name for other in found if other), seen.name)

    def sealed_from(self, at_ms: int) -> int:
        """The place of the first point that can know the instant: no pointer was read after the seal."""
        return next((place for place, point in enumerate(self.points) if to_ms(from_text(point.at)) >= at_ms), len(self.points))

    def first_place(self, seen: Seen) -> int:
        """Before it no point has the table."""
        born = self._firsts.get(seen_mark(seen.entry.identity))
        return next((place for place, point in enumerate(self.points) if point.id == born), 0)

    @cached_property
    def _firsts(self) -> Mapping[str, str]:
        seals = [entry.body for entry in self._state.chain.entries if entry.kind == "seal"]
        return {str(mark): str(body["point"]) for body in seals for mark in body.get("first_seen", ())}

    def _at(self, place: int) -> Tables:
        if place not in self._tables:
            found: dict[str, list[Seen]] = {}
            record = self.record(place)
            for key, entry in record.tables.items() if record else ():
                found.setdefault(entry.identity, []).append(Seen(name_in_record(key), entry))
            self._tables[place] = found
        return self._tables[place]
