"""When two sightings are of one table."""

from dataclasses import dataclass

from bergung.iceberg.paths import normal
from bergung.model.record import TableEntry


@dataclass(frozen=True)
class Sighting:
    """A table as it was met once, in a catalog or in a point."""

    name: str
    identity: str
    location: str

    def is_of(self, other: "Sighting") -> bool:
        """A renamed table keeps its place, one that moved keeps its name: what shares the uuid only is a copy of it."""
        if self.identity != other.identity:
            return False
        return self.name == other.name or normal(self.location) == normal(other.location)


def seen_in_point(name: str, entry: TableEntry) -> Sighting:
    """As a record has it."""
    return Sighting(name, entry.identity, entry.original_location)
