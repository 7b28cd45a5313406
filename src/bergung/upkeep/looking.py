"""Points looked through: record, metadata, receipts, blobs; what of them is there, and what is damaged."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from bergung.carry.checking import check
from bergung.carry.effects import Effects
from bergung.carry.job import Job, TableJob
from bergung.carry.rows import Row
from bergung.carry.walking import NoSkips, Root, Skips, Walk, children_of, walk_down
from bergung.carry.waves import Totals, run_waves
from bergung.errors import DamageFound
from bergung.iceberg.metadata import TableMetadata, read_metadata
from bergung.model.record import Count, TableEntry
from bergung.stores.digest import read_verified
from bergung.upkeep.damage import Damage, Version, named, of_point, of_version
from bergung.vault.receipts import HELD, LEFT
from bergung.vault.vault import Point, Vault, read_record


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
    below = [row for version in book.versions for row in children_of(job, version.root)]
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
    book = _Book()
    for point in points:
        try:
            record = read_record(vault, point)
        except DamageFound as error:
            book.damages.append(of_point(point, error))
            continue
        for name, entry in record.tables.items():
            if known.has(entry):
                continue
            number = known.numbers.setdefault(entry.location, len(known.numbers))
            try:
                root = Root(number, entry, _metadata(vault, entry))
            except DamageFound as error:
                book.damages.append(of_version(point, name, entry, error))
                continue
            book.versions.append(Version(point.id, name, root))
    return book


def _metadata(vault: Vault, entry: TableEntry) -> TableMetadata:
    key = entry.location + entry.metadata_file.blob_key
    return read_metadata(read_verified(vault.store, key, entry.metadata_file.digest), entry.metadata_location)


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
