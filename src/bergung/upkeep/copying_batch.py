"""Some points into the second vault: their blobs, then receipts, then records; what the first has lost is named."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bergung.carry.copying import ABSENT, copy_blob, copy_receipts, look
from bergung.carry.effects import Effects
from bergung.carry.job import Job, TableJob
from bergung.carry.rows import Row, listed
from bergung.carry.skipping import Known
from bergung.carry.tree import children
from bergung.carry.walking import Walk, walk_down
from bergung.carry.waves import Totals, run_waves
from bergung.errors import DamageFound
from bergung.model.files import FileKind
from bergung.model.record import Count, Record, TableEntry
from bergung.upkeep.copying_known import Ledger
from bergung.upkeep.damage import file_of
from bergung.upkeep.looking import bad, bad_count
from bergung.vault.layout import point_key
from bergung.vault.objects import bring
from bergung.vault.vault import Point, Vault


@dataclass
class Batch:
    """Points with their records; None where the first vault has lost the record."""

    points: list[tuple[Point, Record | None]] = field(default_factory=list)
    new: Count = Count()

    def add(self, point: Point, record: Record | None) -> None:
        """One more."""
        self.points.append((point, record))
        if record is not None:
            self.new += Count(record.statistics.new_file_count, record.statistics.new_size_bytes)

    def entries(self) -> Iterator[tuple[str, TableEntry]]:
        """Every table of every point, by its name there."""
        for _, record in self.points:
            yield from () if record is None else record.tables.items()


@dataclass
class Brought:
    """What was carried; `lost` names the first files that the first vault has not any more."""

    moved: Count = Count()
    lost: set[str] = field(default_factory=set)
    lost_count: int = 0

    def take(self, totals: Totals) -> None:
        """Sums of waves."""
        self.moved += Count(totals.moved_files, totals.moved_bytes)
        self.lost_count += bad_count(totals)

    def lose(self, names: Iterable[str], count: int = 0) -> None:
        """Some that are lost; `count` of them are not counted yet."""
        self.lost |= set(names)
        self.lost_count += count


@dataclass(frozen=True)
class Copying:
    """From one vault into the other, within one run; its lists lie in the store of `runs_url`."""

    effects: Effects
    source: Vault
    target_url: str
    runs_url: str
    run: str
    trust_size: bool

    def job(self, ledger: Ledger, entries: Iterable[tuple[str, TableEntry]]) -> Job:
        """What the functions of a batch must know."""
        tables = {ledger.number(entry.location): TableJob(name, entry.location, entry.original_location) for name, entry in entries}
        return Job(
            self.source.url,
            self.run,
            tables,
            trust_size=self.trust_size,
            open=self.effects.open_store,
            runs_url=self.runs_url,
            target_url=self.target_url,
        )


@dataclass(frozen=True)
class Planned:
    """The roots of a batch that the second vault has not, and the files below them."""

    job: Job
    roots: list[Row]
    found: Walk
    new: list[TableEntry]


def plan_batch(copying: Copying, ledger: Ledger, batch: Batch) -> Planned:
    """Walk down from what is new, as far as it is new."""
    copying.effects.watch.step("receipts")
    ledger.meet({entry.location for _, entry in batch.entries()})
    new = [(name, entry) for name, entry in batch.entries() if not ledger.has(entry)]
    job = copying.job(ledger, new)
    roots = list({_identity(row): row for row in (_root(ledger, entry) for _, entry in new)}.values())
    below = [row for root in roots for row in _below(job, root)]
    known: Known = ledger.known(entry.location for _, entry in new)
    return Planned(job, roots, walk_down(copying.effects, job, below, known), [entry for _, entry in new])


def _identity(row: Row) -> tuple[object, ...]:
    return row["table"], row["digest"], row["receipts"]


def _root(ledger: Ledger, entry: TableEntry) -> Row:
    file = entry.metadata_file
    own = {"path": entry.metadata_location, "kind": FileKind.METADATA, "digest": file.digest, "blob_key": file.blob_key}
    return listed({**own, "size_bytes": file.size_bytes, "receipts": entry.receipts}, ledger.number(entry.location))


def _below(job: Job, root: Row) -> Iterator[Row]:
    """The metadata file itself is named by the record; receipts name what it reaches."""
    yield {**root, "receipts": None}
    yield from children(job, {**root, "kind": None, "blob_key": None, "rank": 0})


def look_batch(copying: Copying, planned: Planned) -> Count:
    """What would be carried."""
    copying.effects.watch.step("look")
    totals = run_waves(copying.effects, planned.job, look, planned.found.slices) if planned.found.slices else Totals()
    return totals.tally.count(ABSENT)


def bring_batch(copying: Copying, planned: Planned, batch: Batch, brought: Brought) -> None:
    """Blobs, receipts from the manifests up, records; each durable before the next (format.md R2)."""
    effects, job, found = copying.effects, planned.job, planned.found
    effects.watch.step("data")
    totals = run_waves(effects, job, copy_blob, found.slices) if found.slices else Totals()
    brought.take(totals)
    lost = [*found.unreadable, *bad(totals)]
    brought.lose((file_of(job, row) for row in lost), len(found.unreadable))
    effects.watch.step("books")
    copy_receipts(effects, job, [*found.named, *planned.roots])
    brought.lose(*_bring_records(copying, batch))


def _bring_records(copying: Copying, batch: Batch) -> tuple[list[str], int]:
    stores = copying.source.store, copying.effects.open_store(copying.target_url)
    kept, lost = [], []
    for point, _ in batch.points:
        key = point_key(point.id)
        try:
            bring(stores, key, point.record)
            kept.append(key)
        except DamageFound:
            lost.append(key)
    stores[1].make_durable(kept)
    return lost, len(lost)
