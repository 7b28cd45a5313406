"""Points looked through: record, metadata, receipts, blobs; what of them is there, and what is damaged."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial

from bergung.carry.checking import check
from bergung.carry.effects import Effects
from bergung.carry.job import Job, TableJob
from bergung.carry.rows import Row
from bergung.carry.walking import NoSkips, Root, Skips, Walk, children_of_all, walk_down
from bergung.carry.waves import Totals, run_waves
from bergung.errors import DamageFound
from bergung.iceberg.metadata import TableMetadata, read_metadata
from bergung.model.record import Count, MetadataFile, TableEntry
from bergung.stores.digest import read_verified
from bergung.stores.together import at_once, together
from bergung.upkeep.damage import Damage, Version, named, of_point, of_version
from bergung.vault.receipts import HELD, LEFT
from bergung.vault.vault import Point, Vault, records

File = tuple[str, str, MetadataFile]
"""What a metadata file is known by."""


@dataclass(frozen=True)
class Depth:
    """How much of the data is read: a share of the files, or about so many bytes."""

    share: float = 1.0
    budget_bytes: int | None = None


@dataclass(frozen=True)
class Known:
    """What need not be looked at again; tables have these numbers."""

    skips: Skips = field(default_factory=NoSkips)
    numbers: dict[str, int] = field(default_factory=dict)
    has: Callable[[TableEntry], bool] = lambda entry: False


@dataclass(frozen=True)
class Seen:
    """What was looked at, and what is wrong."""

    checked: Count
    read: Count
    roots: Count
    """Metadata files of the points, which are always read; without those that a later one names as its past."""
    damages: tuple[Damage, ...]
    damaged_count: int


@dataclass
class _Book:
    """The table versions of the points, and what of them cannot even be opened."""

    versions: list[Version] = field(default_factory=list)
    damages: list[Damage] = field(default_factory=list)


def look_through(
    effects: Effects, vault: Vault, run: str, points: Iterable[Point], depth: Depth, known: Known | None = None
) -> Seen:
    """In the order in which a restore would need them."""
    known = known or Known()
    effects.watch.step("records")
    book = _open(vault, points, known)
    effects.watch.step("receipts")
    job = _job(effects, vault, run, book, depth)
    below = children_of_all(job, [version.root for version in book.versions])
    found = walk_down(effects, job, below, known.skips)
    job = _with_share(job, depth, found)
    effects.watch.step("data")
    totals = run_waves(effects, job, check, found.slices) if found.slices else Totals()
    return Seen(
        checked=totals.tally.count(HELD),
        read=Count(totals.moved_files, totals.moved_bytes),
        roots=_roots(book, below),
        damages=(*book.damages, *named(job, book.versions, [*found.unreadable, *bad(totals)])),
        damaged_count=len(book.damages) + len(found.unreadable) + bad_count(totals),
    )


def _roots(book: _Book, below: Iterable[Row]) -> Count:
    named = {(row["table"], row["digest"]) for row in below}
    roots = {(version.root.number, version.root.entry.metadata_file) for version in book.versions}
    sizes = [file.size_bytes for number, file in roots if (number, file.digest) not in named]
    return Count(len(sizes), sum(sizes))


def _open(vault: Vault, points: Iterable[Point], known: Known) -> _Book:
    book, wanted = _Book(), list[tuple[Point, str, TableEntry]]()
    for point, record in records(vault, points):
        if isinstance(record, DamageFound):
            book.damages.append(of_point(point, record))
        else:
            wanted += [(point, name, entry) for name, entry in record.tables.items() if not known.has(entry)]
    opened = _all_metadata(vault, [entry for _, _, entry in wanted])
    for point, name, entry in wanted:
        number, metadata = known.numbers.setdefault(entry.location, len(known.numbers)), opened[_file(entry)]
        if isinstance(metadata, DamageFound):
            book.damages.append(of_version(point, name, entry, metadata))
        else:
            book.versions.append(Version(point.id, name, Root(number, entry, metadata)))
    return book


def _all_metadata(vault: Vault, entries: Iterable[TableEntry]) -> dict[File, TableMetadata | DamageFound]:
    """Each file once: a table that does not change has the same in many points."""
    files = {_file(entry): entry for entry in entries}
    return dict(zip(files, together(at_once(vault.url), partial(_metadata, vault), files.values()), strict=True))


def _file(entry: TableEntry) -> File:
    return entry.location, entry.metadata_location, entry.metadata_file


def _metadata(vault: Vault, entry: TableEntry) -> TableMetadata | DamageFound:
    key = entry.location + entry.metadata_file.blob_key
    try:
        return read_metadata(read_verified(vault.store, key, entry.metadata_file.digest), entry.metadata_location)
    except DamageFound as error:
        return error


def _job(effects: Effects, vault: Vault, run: str, book: _Book, depth: Depth) -> Job:
    tables = {
        version.root.number: TableJob(version.table, version.root.entry.location, version.root.entry.original_location)
        for version in book.versions
    }
    return Job(vault.url, run, tables, share=depth.share, open=effects.open_store)


def _with_share(job: Job, depth: Depth, found: Walk) -> Job:
    """A budget is a share of what there is."""
    total = sum(slice_.bytes for slice_ in found.slices)
    if depth.budget_bytes is None or not total:
        return job
    return replace(job, share=min(1.0, depth.budget_bytes / total))


def bad(totals: Totals) -> list[Row]:
    """The files that are not as they should be, as far as they are named."""
    return [row for row in totals.tally.named if row["state"] not in (HELD, LEFT)]


def bad_count(totals: Totals) -> int:
    """All of them."""
    states = {state for counts in totals.tally.counts.values() for state in counts} - {HELD, LEFT}
    return sum(totals.tally.count(state).files for state in states)
