"""The recovery points of a vault."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bergung.cli import words
from bergung.cli.calls import counts
from bergung.cli.calls.finding import meant
from bergung.cli.door import Door
from bergung.cli.telling import Grid, Part, Result
from bergung.cli.work import open_vault
from bergung.errors import BergungError, DamageFound, UnknownTable
from bergung.model.record import Count, Record, TableEntry
from bergung.vault.vault import Point, read_state, records

Facts = Mapping[str, Any]


def points(door: Door, word: str | None) -> Result:
    """All points, or those that hold a table; one whose record is lost is shown as damaged."""
    vault = open_vault(door)
    found: list[Facts] = []
    errors: list[BergungError] = []
    for point, record in records(vault, read_state(vault).points):
        if isinstance(record, DamageFound):
            fact = f"the record of point {point.id} is lost: {record.message}"
            errors.append(DamageFound(fact, f"bergung verify{door.vault_words()}"))
            continue
        entries = meant(record, [word] if word else [])
        if entries:
            found.append(_facts(point, record, list(entries.values())))
    if word is not None and not found and not errors:
        raise UnknownTable(f"no point of this vault holds {word}", f"bergung points{door.vault_words()}")
    facts = {"vault": vault.url, "points": found}
    return Result("damaged" if errors else "complete", facts, list(_parts(found, door)), tuple(errors))


def _facts(point: Point, record: Record, entries: Sequence[TableEntry]) -> Facts:
    metadata = record.backup_metadata
    new = sum((counts.both(entry.new_files) for entry in entries), Count())
    span = counts.answers(entries)
    return {
        "point": point.id,
        "at": metadata.cut.at,
        "sealed_at": point.at,
        "status": metadata.status,
        "backup_type": metadata.backup_type,
        "captured": sorted({entry.captured for entry in entries}),
        "tables": len(entries),
        "failed": len(metadata.failed),
        "new_files": new.files,
        "new_bytes": new.bytes,
        "answers": {"from": span[0], "to": span[1]} if span else None,
        "retention_days": metadata.retention_days,
        "pinned": point.pinned,
    }


def _parts(found: Sequence[Facts], door: Door) -> Iterator[Part]:
    if not found:
        yield f"no points yet: bergung backup CATALOG.NAMESPACE.TABLE{door.vault_words()}"
        return
    head = ("point", "at (UTC)", "status", "tables", "new files", "new bytes", "answers from (UTC)", "to")
    yield Grid(head, [_row(facts) for facts in found], frozenset({3, 4, 5}))


def _row(facts: Facts) -> tuple[str, ...]:
    span = facts["answers"]
    return (
        facts["point"],
        words.time(facts["at"]),
        facts["status"],
        words.number(facts["tables"]) + (" (metadata)" if facts["captured"] == ["metadata"] else ""),
        words.number(facts["new_files"]),
        words.size(facts["new_bytes"]),
        words.time(span["from"]) if span else "-",
        words.time(span["to"]) if span else "-",
    )
