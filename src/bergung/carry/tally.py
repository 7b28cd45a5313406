"""How many files of each table came to which state, and the first of those that need a word."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from bergung.carry.rows import Row
from bergung.model.record import Count
from bergung.vault.receipts import HELD, LEFT

UNREMARKABLE = frozenset({HELD, LEFT, "absent", "anew"})
NAMED = 100
"""So many files are named; all are counted."""


@dataclass
class Tally:
    """Counts by table and state; small however many files there are."""

    counts: dict[int, dict[str, Count]] = field(default_factory=dict)
    named: list[Row] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """One file."""
        state = row["state"] or "failed"
        self._count(row["table"], state, Count(1, row["size_bytes"] or row["declared_bytes"] or 0))
        if state not in UNREMARKABLE:
            self.named = [*self.named, row][:NAMED]

    def merge(self, other: "Tally") -> None:
        """With another tally."""
        for table, states in other.counts.items():
            for state, count in states.items():
                self._count(table, state, count)
        self.named = [*self.named, *other.named][:NAMED]

    def count(self, state: str, tables: Iterable[int] | None = None) -> Count:
        """All files that came to this state."""
        wanted = self.counts if tables is None else tables
        return sum((self.counts.get(table, {}).get(state, Count()) for table in wanted), Count())

    def _count(self, table: int, state: str, count: Count) -> None:
        states = self.counts.setdefault(table, {})
        states[state] = states.get(state, Count()) + count

    def to_text(self) -> str:
        """One JSON text, for a column."""
        return msgspec.json.encode(self).decode()


def tally_of(text: str) -> Tally:
    """Read what `to_text` wrote."""
    return msgspec.json.decode(text, type=Tally)
