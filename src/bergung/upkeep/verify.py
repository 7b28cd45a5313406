"""Is everything that the sealed points need there, and is it what it was."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from bergung.carry.checking import check
from bergung.carry.effects import Effects
from bergung.carry.job import Job, TableJob
from bergung.carry.rows import Row
from bergung.carry.walking import Root, Walk, walk
from bergung.carry.waves import Totals, run_waves
from bergung.errors import BergungError, DamageFound, Refused
from bergung.iceberg.metadata import TableMetadata, read_metadata
from bergung.model.record import Count, TableEntry
from bergung.stores.digest import read_verified
from bergung.upkeep.damage import Damage, Version, named, of_point, of_version
from bergung.vault.journal import Run, begin
from bergung.vault.layout import VAULT_DOCUMENT
from bergung.vault.receipts import HELD, LEFT
from bergung.vault.vault import Point, State, Vault, read_record, read_state


@dataclass(frozen=True)
class VerifyRequest:
    """The words of the command: one point or all, and how much of the data is read."""

    point: str | None = None
    share: float = 1.0
    budget_bytes: int | None = None
    expect_head: str | None = None


@dataclass(frozen=True)
class VerifyResult:
    """What was looked at, and what is wrong."""

    run: str
    points: int
    checked: Count
    """Files that are there with the length that the receipts name."""
    read: Count
    """Those of them whose bytes were read and have their digest."""
    damages: tuple[Damage, ...]
    damaged_count: int
    void_slots: tuple[int, ...]
    head: str


@dataclass
class _Book:
    """The table versions of the points, and what of them cannot even be opened."""

    versions: list[Version] = field(default_factory=list)
    damages: list[Damage] = field(default_factory=list)


def run_verify(effects: Effects, vault: Vault, request: VerifyRequest) -> VerifyResult:
    """Log, records, receipts, blobs, in the order in which a restore would need them."""
    run = begin(vault.store, effects.ids.new(effects.clock.now()), effects.clock, verb="verify", point=request.point)
    try:
        result = _run(effects, vault, request, run)
    except BergungError as error:
        run.fail(error)
        raise
    except KeyboardInterrupt:
        run.step("end", status="interrupted")
        raise
    run.step("end", status="damaged" if result.damages else "complete", files=result.checked.files)
    return result


def _run(effects: Effects, vault: Vault, request: VerifyRequest, run: Run) -> VerifyResult:
    state = read_state(vault)
    _expect(state, request.expect_head)
    points = [state.find(request.point)] if request.point else list(state.points)
    effects.watch.step("records")
    book = _open(vault, points)
    book.damages += _first_words(vault, state)
    effects.watch.step("receipts")
    job = _job(effects, vault, run, book, request)
    found = walk(effects, job, [version.root for version in book.versions])
    job = _with_share(job, request, found)
    effects.watch.step("data")
    totals = run_waves(effects, job, check, found.slices)
    damages = (*book.damages, *named(job, book.versions, [*found.unreadable, *_bad(totals)]))
    return VerifyResult(
        run=run.id,
        points=len(points),
        checked=totals.tally.count(HELD),
        read=Count(totals.moved_files, totals.moved_bytes),
        damages=damages,
        damaged_count=len(book.damages) + len(found.unreadable) + _bad_count(totals),
        void_slots=state.chain.void,
        head=state.head,
    )


def _expect(state: State, head: str | None) -> None:
    if head is not None and all(entry.digest != head for entry in state.chain.entries):
        raise DamageFound(f"the log does not hold {head}: its end was cut off or another log was put in its place",
                          "compare with a copy of the vault; do not forget or prune anything")  # fmt: skip


def _first_words(vault: Vault, state: State) -> list[Damage]:
    """vault.json has no parent but the first slot, which names its digest (format.md L1)."""
    first = state.chain.entries[0]
    try:
        read_verified(vault.store, VAULT_DOCUMENT, str(first.body.get("vault")))
    except (DamageFound, Refused) as error:
        return [Damage(VAULT_DOCUMENT, error.message, (), (), ())]
    return []


def _open(vault: Vault, points: Iterable[Point]) -> _Book:
    book = _Book()
    numbers: dict[str, int] = {}
    for point in points:
        try:
            record = read_record(vault, point)
        except DamageFound as error:
            book.damages.append(of_point(point, error))
            continue
        for name, entry in record.tables.items():
            number = numbers.setdefault(entry.location, len(numbers))
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


def _job(effects: Effects, vault: Vault, run: Run, book: _Book, request: VerifyRequest) -> Job:
    tables = {
        version.root.number: TableJob(version.table, version.root.entry.location, version.root.entry.original_location)
        for version in book.versions
    }
    return Job(vault.url, run.id, tables, share=request.share, open=effects.open_store)


def _with_share(job: Job, request: VerifyRequest, found: Walk) -> Job:
    """A budget is a share of what there is."""
    total = sum(slice_.bytes for slice_ in found.slices)
    if request.budget_bytes is None or not total:
        return job
    return replace(job, share=min(1.0, request.budget_bytes / total))


def _bad(totals: Totals) -> list[Row]:
    return [row for row in totals.tally.named if row["state"] not in (HELD, LEFT)]


def _bad_count(totals: Totals) -> int:
    states = {state for counts in totals.tally.counts.values() for state in counts} - {HELD, LEFT}
    return sum(totals.tally.count(state).files for state in states)
