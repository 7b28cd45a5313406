"""From tables of points to stored task lists of every file that they reach."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from bergung.carry.effects import Effects
from bergung.carry.engine import Map, Shuffle, Step
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
from bergung.stores.together import together
from bergung.vault.receipts import MISSING

BY_FILE = ("table", "path")
_OPENED = (FileKind.MANIFEST_LIST, FileKind.MANIFEST)


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
    unopened: list[Row] = field(default_factory=list)
    """Manifest lists and manifests that the point has not, or that could not be read: what is below them is not in it."""
    named: list[Row] = field(default_factory=list)
    """Manifest lists and manifests that were gone through, with the digests of their receipts."""


class Skips(Protocol):
    """What a walk need not go through."""

    def wanted(self, effects: Effects, job: Job, rows: list[Row]) -> list[Row]:
        """Of the rows of one level those that are to be gone through."""
        ...

    def files(self, job: Job, manifests: list[Row]) -> tuple[Step, ...]:
        """What the files below pass; `manifests` are all that the lists name, also those that are skipped."""
        ...


class NoSkips:
    """Everything is gone through."""

    def wanted(self, effects: Effects, job: Job, rows: list[Row]) -> list[Row]:
        """All of them."""
        return rows

    def files(self, job: Job, manifests: list[Row]) -> tuple[Step, ...]:
        """All of them."""
        return ()


def walk(effects: Effects, job: Job, roots: list[Root]) -> Walk:
    """Root, manifest lists, manifests, files: each level is read once, however many snapshots share it."""
    return walk_down(effects, job, children_of_all(job, roots))


def walk_down(effects: Effects, job: Job, children_of_roots: Iterable[Row], skips: Skips | None = None) -> Walk:
    """The same from the rows below the roots on; what is to be skipped is neither opened nor planned."""
    skips = skips or NoSkips()
    found = Walk()
    top = skips.wanted(effects, job, list({_key(row): row for row in children_of_roots}.values()))
    manifests = _level(effects, job, [row for row in top if row["kind"] == FileKind.MANIFEST_LIST and row["error"] is None])
    manifests, named = skips.wanted(effects, job, manifests), manifests
    rows = [row for row in (*top, *manifests) if row["error"] is None]
    found.named = [row for row in rows if row["receipts"] is not None]
    found.unopened = [row for row in rows if row["receipts"] is None and row["kind"] in _OPENED]
    found.unreadable = [row for row in (*top, *manifests) if row["error"] is not None]
    for row in _plan(effects, job, rows, skips.files(job, named)):
        _sort(found, row)
    return found


def _key(row: Row) -> tuple[object, ...]:
    """Points share what they share: the same file with the same receipts is one."""
    return tuple(row[name] for name in ("table", "path", "digest", "receipts", "error"))


def children_of_all(job: Job, roots: Iterable[Root]) -> list[Row]:
    """The rows of all roots' receipts; those of roots that are alike once."""
    alike = {(root.number, root.entry.metadata_file, root.entry.metadata_location, root.entry.receipts): root for root in roots}
    return [row for rows in together(job.files_at_once, partial(children_of, job), alike.values()) for row in rows]


def children_of(job: Job, root: Root) -> list[Row]:
    """The rows of a root's receipts, ranked; what they leave out of its metadata is an error."""
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
        Shuffle(BY_FILE, parts_for(effects, lists)),
        Map(unique, LISTED),
    )
    return rows_of(effects.run(table_of(LISTED, lists), *steps)) if lists else []


def _plan(effects: Effects, job: Job, rows: list[Row], passed: Sequence[Step]) -> list[Row]:
    parts = parts_for(effects, rows)
    steps = (
        Shuffle(BY_FILE, parts),
        Map(partial(reach, job), LISTED),
        *passed,
        Shuffle(BY_FILE, parts),
        Map(partial(plan_parts, job), SLICE),
    )
    return rows_of(effects.run(table_of(LISTED, rows), *steps)) if rows else []


def parts_for(effects: Effects, rows: list[Row]) -> int:
    """Several for each worker; one for little work."""
    return 1 if len(rows) < 8 else min(len(rows), effects.engine().parallelism * PARTS_PER_WORKER)


def _sort(found: Walk, row: Row) -> None:
    if row["part"] is not None:
        found.slices += slices_of([row])
    elif row["error"] is not None:
        found.unreadable.append(row)
    elif row["state"] == MISSING:
        found.lost.append(row)
