"""From tables of points to stored task lists of every file that they reach."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from bergung.carry.effects import Effects
from bergung.carry.engine import Map, Shuffle
from bergung.carry.job import Job
from bergung.carry.rows import LISTED, SLICE, Row, error_text, listed
from bergung.carry.tasks import plan_parts
from bergung.carry.tree import children, open_lists, reach, refuse_gaps, unique
from bergung.carry.waves import slices_of
from bergung.errors import DamageFound
from bergung.iceberg.columns import rows_of, table_of
from bergung.iceberg.metadata import TableMetadata
from bergung.iceberg.survey import reached_by
from bergung.model.files import FileKind
from bergung.model.record import TableEntry
from bergung.plan.waves import PARTS_PER_WORKER, Slice
from bergung.vault.receipts import MISSING

BY_FILE = ("table", "path")


@dataclass(frozen=True)
class Root:
    """A table version of a point: the number of its table in the job, its entry, its metadata."""

    number: int
    entry: TableEntry
    metadata: TableMetadata


@dataclass
class Walk:
    """What was found below the roots."""

    slices: list[Slice] = field(default_factory=list)
    lost: list[Row] = field(default_factory=list)
    """Files that the point has not."""
    unreadable: list[Row] = field(default_factory=list)
    """Receipts that the vault has lost: what is below them is not known."""


def walk(effects: Effects, job: Job, roots: list[Root]) -> Walk:
    """Root, manifest lists, manifests, files: each level is read once, however many snapshots share it."""
    found = Walk()
    top = list({_key(row): row for root in roots for row in _children(job, root)}.values())
    manifests = _level(effects, job, [row for row in top if row["kind"] == FileKind.MANIFEST_LIST and row["error"] is None])
    rows = [row for row in (*top, *manifests) if row["error"] is None]
    found.unreadable = [row for row in (*top, *manifests) if row["error"] is not None]
    for row in _plan(effects, job, rows):
        _sort(found, row)
    return found


def _key(row: Row) -> tuple[object, ...]:
    """Points share what they share: the same file with the same receipts is one."""
    return tuple(row[name] for name in ("table", "path", "digest", "receipts", "error"))


def _children(job: Job, root: Root) -> list[Row]:
    file = root.entry.metadata_file
    own = listed({"path": root.entry.metadata_location, "digest": file.digest}, root.number)
    ranks = ranks_of(root.metadata)
    rows = [
        {**row, "rank": ranks.get(row["path"], len(ranks))}
        for row in children(job, {**own, "receipts": root.entry.receipts, "rank": 0})
    ]
    # Older metadata files that were gone at the first look have no row (format.md, Receipts).
    named = [file.path for file in reached_by(root.metadata) if file.kind != FileKind.METADATA]
    try:
        refuse_gaps(root.entry.metadata_location, named, [row["path"] for row in rows if row["error"] is None])
    except DamageFound as error:
        rows = [row for row in rows if row["error"] is not None] or [{**own, "error": error_text(error)}]
    return rows


def ranks_of(metadata: TableMetadata) -> Mapping[str, int]:
    """Manifest lists, the current snapshot's first, then the newest."""
    current = metadata.current_snapshot_id
    newest = sorted(metadata.snapshots, key=lambda each: (each.snapshot_id != current, -each.timestamp_ms))
    return {snapshot.manifest_list or "": rank for rank, snapshot in enumerate(newest)}


def _level(effects: Effects, job: Job, lists: list[Row]) -> list[Row]:
    steps = (
        Map(partial(open_lists, job), LISTED),
        Shuffle(BY_FILE, _parts(effects, lists)),
        Map(unique, LISTED),
    )
    return rows_of(effects.run(table_of(LISTED, lists), *steps)) if lists else []


def _plan(effects: Effects, job: Job, rows: list[Row]) -> list[Row]:
    parts = _parts(effects, rows)
    steps = (
        Shuffle(BY_FILE, parts),
        Map(partial(reach, job), LISTED),
        Shuffle(BY_FILE, parts),
        Map(partial(plan_parts, job), SLICE),
    )
    return rows_of(effects.run(table_of(LISTED, rows), *steps)) if rows else []


def _parts(effects: Effects, rows: list[Row]) -> int:
    return 1 if len(rows) < 8 else min(len(rows), effects.engine().parallelism * PARTS_PER_WORKER)


def _sort(found: Walk, row: Row) -> None:
    if row["part"] is not None:
        found.slices += slices_of([row])
    elif row["error"] is not None:
        found.unreadable.append(row)
    elif row["state"] == MISSING:
        found.lost.append(row)
