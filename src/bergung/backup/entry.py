"""A table's entry in the record, from what its survey came to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bergung.backup.capturing import is_complete, loss_count, losses, noted
from bergung.backup.known import Predecessor
from bergung.backup.locating import Located
from bergung.backup.surveying import Survey
from bergung.clock import from_ms, to_text
from bergung.model.record import Count, MetadataFile, Missing, TableEntry

NAMED_FILES = 100
COMPLETE, DAMAGED = "complete", "damaged"


@dataclass(frozen=True)
class Stored:
    """Where and how a table was stored: what its survey does not know."""

    folder: str
    captured: str
    file: MetadataFile
    receipts: str
    new_files: dict[str, Count]


def entry_of(survey: Survey, stored: Stored) -> TableEntry:
    """The entry of a table that was surveyed and carried."""
    located, metadata = survey.located, survey.located.metadata
    sums = totals(located)
    return TableEntry(
        uuid=metadata.uuid,
        identity=metadata.identity,
        table_format_version=metadata.format_version,
        location=stored.folder,
        original_location=metadata.location,
        metadata_location=located.metadata_location,
        metadata_file=stored.file,
        snapshot_id=metadata.current_snapshot_id,
        schema_version=metadata.schema_id,
        captured=stored.captured,
        status=COMPLETE if is_complete(survey) else DAMAGED,
        cut=located.cut,
        answers=answers(located),
        located_at=to_text(located.located_at),
        changed=True,
        new_files=stored.new_files,
        deleted_files=_deleted_files(survey),
        receipts=stored.receipts,
        missing=_missing(survey),
        noted=tuple(noted(survey)),
        total_files=sums["total_files"],
        total_size_bytes=sums["total_size_bytes"],
        total_rows=sums["total_rows"],
        encrypted=metadata.encrypted,
        served=located.served,
    )


def unchanged_entry(before: Predecessor, located: Located) -> TableEntry:
    """The same bytes as in an earlier complete point: its tree serves this one too, up to this look."""
    none = {"metadata": Count(), "data": Count()}
    return replace(
        before.entry,
        metadata_location=located.metadata_location,
        cut=located.cut,
        answers={**before.entry.answers, "to": to_text(located.located_at)},
        located_at=to_text(located.located_at),
        changed=False,
        new_files=none,
        deleted_files=0,
    )


def answers(located: Located) -> dict[str, str]:
    """From the oldest change that is known without a gap, to the moment when the pointer was read."""
    return {"from": to_text(from_ms(located.metadata.answers())), "to": to_text(located.located_at)}


def totals(located: Located) -> dict[str, int | None]:
    """Of the current snapshot, as its own summary says; None where it says nothing."""
    current = located.metadata.current_snapshot
    if current is None:
        return {"total_files": 0, "total_size_bytes": 0, "total_rows": 0}
    summary = current.summary
    return {
        "total_files": summed(summary, ("total-data-files", "total-delete-files")),
        "total_size_bytes": summed(summary, ("total-files-size",)),
        "total_rows": summed(summary, ("total-records",)),
    }


def summed(summary: Mapping[str, str], names: Iterable[str]) -> int | None:
    """The sum of those entries of a snapshot's summary that are there; None when none is."""
    found = [int(summary[name]) for name in names if summary.get(name, "").isdigit()]
    return sum(found) if found else None


def _deleted_files(survey: Survey) -> int:
    names = ("deleted-data-files", "removed-delete-files")
    return sum(summed(snapshot.summary, names) or 0 for snapshot in survey.new_snapshots())


def _missing(survey: Survey) -> Missing:
    return Missing(loss_count(survey), tuple(str(row["path"]) for row in losses(survey) if not row["lost"])[:NAMED_FILES])
