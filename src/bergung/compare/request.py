"""What a user asks of a comparison."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CompareRequest:
    """The words of the command, without the tables."""

    snapshot_a: str | None = None
    """An id, a branch or a tag; None is the table as it is now."""
    snapshot_b: str | None = None
    at_ms: int | None = None
    every_snapshot: bool = False
    """Every one that both tables retain, by its id."""
    by_name: bool = False
    """Columns are the same when their names are, whatever their field ids."""
    lineage: bool = False
    rows_only: bool = False
    """Differences of schema, partitioning and sort order are told, and do not count."""
