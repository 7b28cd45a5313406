"""What lies at each file's place now, and so what a restore has to do: read only."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, partial

from bergung.carry.effects import Effects
from bergung.carry.giving import ABSENT, DIFFERENT, OUTSIDE, SUPERSEDED
from bergung.carry.job import Job, TableJob
from bergung.carry.moving import look_there
from bergung.carry.rows import Row, error_of, listed
from bergung.carry.slices import done_part
from bergung.carry.walking import Root, Walk, walk
from bergung.carry.waves import Totals, run_waves
from bergung.catalogs.base import Catalog, UnreadableEntry
from bergung.errors import Busy, DamageFound, Refused, UnknownTable, UnmappedPath
from bergung.iceberg.metadata import read_metadata
from bergung.iceberg.survey import allowed_prefixes, refuse
from bergung.model.files import NOTED_KINDS, FileKind
from bergung.model.names import TableName
from bergung.model.record import Count, Record, TableEntry
from bergung.plan.restore import CatalogAction, RestorePlan, TablePlan, catalog_action
from bergung.plan.waves import Slice
from bergung.restore.choosing import choose, not_held
from bergung.restore.destination import Destination, destinations, lives, uuid_of
from bergung.restore.elsewhere import refuse_place
from bergung.restore.request import RestoreRequest
from bergung.stores.digest import read_verified
from bergung.stores.together import at_once, together
from bergung.vault.journal import Run
from bergung.vault.receipts import HELD, LEFT
from bergung.vault.vault import Vault

OpenCatalog = Callable[[str], Catalog]


@dataclass(frozen=True)
class Target:
    """A chosen table: its root, its metadata file at the target, and what the catalog there says now of its name there."""

    name: TableName
    root: Root
    destination: Destination
    metadata_row: Row
    catalog: Catalog
    current: str | None


@dataclass(frozen=True)
class Planned:
    """The plan, and what doing it takes."""

    plan: RestorePlan
    job: Job
    targets: tuple[Target, ...]
    slices: tuple[Slice, ...]
    """The outcomes of the looks, as the task lists of the giving."""
    named: tuple[Row, ...]
    """Manifest lists and manifests."""
    protected_days: int


def plan_restore(
    effects: Effects, vault: Vault, run: Run, request: RestoreRequest, record: Record, open_catalog: OpenCatalog
) -> Planned:
    """Walk the chosen tables and look at every target; nothing is written there."""
    chosen = choose(record.tables, request.words)
    found_roots = together(at_once(vault.url), lambda each: _root(vault, *each), enumerate(chosen.values()))
    roots = dict(zip(chosen, found_roots, strict=True))
    opened = cache(open_catalog)
    there = destinations(request, {name: root.metadata for name, root in roots.items()}, partial(_catalog_of, open_catalog=opened))
    catalogs = {name: _catalog_of(each.name, opened) for name, each in there.items()}
    tables = {root.number: _table_job(name, root, request, there[name], catalogs[name]) for name, root in roots.items()}
    for name, root in roots.items():
        if there[name].moves is not None:
            is_living = lives(partial(_catalog_of, name, opened), name, root.metadata, effects.open_store)
            own = uuid_of(request, there[name].name, root.metadata, is_living)
            tables[root.number] = replace(tables[root.number], moves=there[name].moves, uuid=own)
    job = Job(vault.url, run.id, tables, trust_size=request.trust_size, over=request.over, open=effects.open_store)
    for root in roots.values():
        refuse_place(job, root)
    found = walk(effects, job, list(roots.values()))
    _refuse_unreadable(found)
    _refuse_unmakeable(job, found)
    totals = run_waves(effects, job, look_there, found.slices)
    _refuse_outside(job, totals)
    targets = [_target(job, name, root, there[name], catalogs[name]) for name, root in roots.items()]
    plans = tuple(_table_plan(job, target, found, totals) for target in targets)
    named = tuple(str(row["path"]) for row in (*totals.tally.named, *_lost(found)))[:100]
    metadata = record.backup_metadata
    plan = RestorePlan(metadata.backup_id, plans, named, not_held(metadata.failed, request.words))
    return Planned(plan, job, tuple(targets), tuple(_second_pass(found.slices)), tuple(found.named), request.protected_days)


def _root(vault: Vault, number: int, entry: TableEntry) -> Root:
    key = entry.location + entry.metadata_file.blob_key
    data = read_verified(vault.store, key, entry.metadata_file.digest)
    return Root(number, entry, read_metadata(data, key))


def _catalog_of(name: TableName, open_catalog: OpenCatalog) -> Catalog:
    return open_catalog(str(name) if name.namespace == () else name.catalog)


def _table_job(name: TableName, root: Root, request: RestoreRequest, there: Destination, catalog: Catalog) -> TableJob:
    maps = (source for source, _ in request.maps)
    prefixes = allowed_prefixes(root.metadata, root.entry.metadata_location, (*request.allow_prefixes, *maps))
    return TableJob(str(name), root.entry.location, root.metadata.location, prefixes, access=catalog.access(there.name))


def _refuse_unreadable(found: Walk) -> None:
    if found.unreadable:
        first = error_of(found.unreadable[0]["error"])
        raise DamageFound(f"the vault has lost part of this point: {first.message}", "try an older point; run bergung verify")


def _refuse_unmakeable(job: Job, found: Walk) -> None:
    """A manifest list cannot be made anew without all that it names."""
    for row in found.unopened:
        table = job.tables[row["table"]]
        if table.moves is not None:
            fact = f"{table.name} cannot get other paths: {row['path']} was lost or unreadable when this point was made"
            raise DamageFound(fact, "restore it to its own place, or choose an older point: bergung points")


def _refuse_outside(job: Job, totals: Totals) -> None:
    outside = [row for row in totals.tally.named if row["state"] == OUTSIDE]
    if outside:
        table = job.tables[outside[0]["table"]]
        if table.moves is not None:
            _refuse_unmapped([row["path"] for row in outside], totals.tally.count(OUTSIDE).files, table)
        refuse([row["path"] for row in outside], table.prefixes, table.name)
    if totals.tally.count(OUTSIDE).files:
        raise Refused("the point names files outside its tables' own folders", "look at them: bergung show POINT --files")


def _refuse_unmapped(paths: list[str], count: int, table: TableJob) -> None:
    shown = ", ".join(paths[:3]) + (f" and {count - 3} more" if count > 3 else "")
    folder = paths[0].rpartition("/")[0]
    raise UnmappedPath(
        f"{table.name} has files that lie below no folder that moves: {shown}", f"say where they go: --map {folder}=NEW"
    )


def _target(job: Job, name: TableName, root: Root, there: Destination, catalog: Catalog) -> Target:
    file = root.entry.metadata_file
    row = {
        "path": root.entry.metadata_location,
        "kind": FileKind.METADATA,
        "digest": file.digest,
        "blob_key": file.blob_key,
        "size_bytes": file.size_bytes,
    }
    looked = look_there(job, [listed(row, root.number)]).rows[0]
    if looked["state"] == OUTSIDE:
        refuse([looked["path"]], job.tables[root.number].prefixes, str(name))
    found = current(catalog, there.name)
    if (there.name != name or there.moves is not None) and found is not None:
        raise Busy(f"the catalog has a table {there.name} already", "choose another name: --to; or drop that one first")
    return Target(name, root, there, looked, catalog, found)


def current(catalog: Catalog, name: TableName) -> str | None:
    """What the entry names now; empty when it is there and nobody can tell."""
    try:
        return catalog.locate(name).metadata_location
    except UnknownTable:
        return None
    except UnreadableEntry:
        return ""


def _table_plan(job: Job, target: Target, found: Walk, totals: Totals) -> TablePlan:
    number, row = target.root.number, target.metadata_row
    counts = {state: totals.tally.count(state, [number]) for state in (ABSENT, HELD, DIFFERENT, LEFT)}
    counts[row["state"]] += Count(1, row["size_bytes"])
    lost = [lost for lost in _lost(found) if lost["table"] == number]
    return TablePlan(
        table=str(target.name),
        metadata_location=row["path"],
        absent=counts[ABSENT],
        intact=counts[HELD],
        different=counts[DIFFERENT],
        not_captured=counts[LEFT],
        lost=Count(len(lost), sum(row["declared_bytes"] or 0 for row in lost)),
        superseded=totals.tally.count(SUPERSEDED, [number]).files,
        action=_action(target),
        current=target.current,
        to=str(target.destination.name),
        location=job.tables[number].place,
        moves=() if target.destination.moves is None else target.destination.moves.pairs,
        uuid=job.tables[number].uuid,
    )


def _lost(found: Walk) -> list[Row]:
    """Without statistics: every snapshot reads the same without them."""
    return [row for row in found.lost if row["kind"] not in NOTED_KINDS]


def _action(target: Target) -> CatalogAction:
    has_catalog = target.destination.name.namespace != ()
    return catalog_action(target.root.entry.metadata_location, target.current, has_catalog)


def _second_pass(slices: Iterable[Slice]) -> Iterable[Slice]:
    """The stored looks have a row per file."""
    return (Slice(done_part(each.part, each.start), 0, each.count, each.bytes) for each in slices)


def refuse_metadata_only(plan: RestorePlan) -> None:
    """A point without data can bring back a table only where the data still lies."""
    for table in plan.tables:
        if table.not_captured.files:
            missing = f"{table.not_captured.files} of its files are gone or have another length"
            fact = f"this point has the metadata of {table.table} only, and {missing}"
            raise Refused(fact, "choose a point that was made without --metadata-only: bergung points")
