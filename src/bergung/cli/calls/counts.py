"""Counts and moments of records, for programs and for people."""

from collections.abc import Iterable, Mapping
from typing import Any

from bergung.cli import words
from bergung.model.record import Count, TableEntry

SHOWN_FILES = 20


def facts(count: Count) -> dict[str, int]:
    """A count for programs."""
    return {"files": count.files, "bytes": count.bytes}


def both(counts: Mapping[str, Count]) -> Count:
    """Metadata and data together."""
    return sum(counts.values(), Count())


def told(count: Count) -> str:
    """A count for people; nothing is a dash."""
    return f"{words.many(count.files, 'file')}, {words.size(count.bytes)}" if count.files else "-"


def answers(entries: Iterable[TableEntry]) -> tuple[str, str] | None:
    """The span for which all these tables are known; None when there is no such span."""
    spans = [entry.answers for entry in entries]
    start, end = max(span["from"] for span in spans), min(span["to"] for span in spans)
    return (start, end) if start <= end else None


def span(found: tuple[str, str] | None) -> str:
    """A span for people."""
    return f"{words.time(found[0])} to {words.time(found[1])}" if found else "-"


def named_files(files: Iterable[str], count: int) -> list[str]:
    """The first twenty, and how many more there are."""
    shown = list(files)[:SHOWN_FILES]
    more = [f"  … and {words.number(count - len(shown))} more"] if count > len(shown) else []
    return [*(f"  {name}" for name in shown), *more]


def missing_facts(entry: TableEntry) -> dict[str, Any]:
    """What a table lacks, for programs."""
    return {"count": entry.missing.count, "files": list(entry.missing.files)}
