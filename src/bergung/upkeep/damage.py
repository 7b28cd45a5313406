"""Damage told as a person needs it: which file, what is wrong, which tables, which snapshots."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bergung.carry.job import Job
from bergung.carry.rows import Row, error_of, listed
from bergung.carry.tree import children
from bergung.carry.walking import Root
from bergung.errors import BergungError
from bergung.model.files import FileKind
from bergung.model.record import TableEntry
from bergung.vault.layout import point_key
from bergung.vault.receipts import MISSING
from bergung.vault.vault import Point


@dataclass(frozen=True)
class Version:
    """One table as one point has it."""

    point: str
    table: str
    root: Root


@dataclass(frozen=True)
class Damage:
    """One file that is not as it was; `snapshots` are those that cannot be read as they were."""

    file: str
    problem: str
    tables: tuple[str, ...]
    points: tuple[str, ...]
    snapshots: tuple[int, ...]


def of_point(point: Point, error: BergungError) -> Damage:
    """A record that is lost takes the whole point with it."""
    return Damage(point_key(point.id), error.message, (), (point.id,), ())


def of_version(point: Point, table: str, entry: TableEntry, error: BergungError) -> Damage:
    """A table's own metadata file."""
    key = entry.location + entry.metadata_file.blob_key
    return Damage(key, error.message, (table,), (point.id,), (entry.snapshot_id,) if entry.snapshot_id else ())


def named(job: Job, versions: Sequence[Version], rows: Iterable[Row]) -> tuple[Damage, ...]:
    """What each damaged file harms, found by walking down again to the manifest that names it."""
    return tuple(_named(job, versions, row) for row in rows)


def _named(job: Job, versions: Sequence[Version], row: Row) -> Damage:
    harmed = [(version, set(_snapshots(job, version, row))) for version in versions if version.root.number == row["table"]]
    hit = [(version, snapshots) for version, snapshots in harmed if snapshots or row["parent"] == ""]
    return Damage(
        file=file_of(job, row),
        problem=_problem(row),
        tables=tuple(sorted({version.table for version, _ in hit})),
        points=tuple(sorted({version.point for version, _ in hit})),
        snapshots=tuple(sorted(set().union(*(snapshots for _, snapshots in hit)))),
    )


def file_of(job: Job, row: Row) -> str:
    """Its key in the vault; its path where it has none."""
    return str(job.tables[row["table"]].folder + row["blob_key"]) if row["blob_key"] else str(row["path"])


def _problem(row: Row) -> str:
    if row["error"] is not None:
        return error_of(row["error"]).message
    return "it is gone" if row["state"] == MISSING else "it has other bytes than when it was stored"


def _snapshots(job: Job, version: Version, row: Row) -> Iterator[int]:
    """The retained snapshots whose manifest list reaches the file."""
    by_list = {snapshot.manifest_list: snapshot.snapshot_id for snapshot in version.root.metadata.snapshots}
    for child in _lists(job, version):
        if child["path"] == row["path"] or (child["kind"] == FileKind.MANIFEST_LIST and _reaches(job, child, row)):
            snapshot = by_list.get(child["path"])
            if snapshot is not None:
                yield snapshot


def _lists(job: Job, version: Version) -> Iterator[Row]:
    entry = version.root.entry
    own = listed({"path": entry.metadata_location, "digest": entry.metadata_file.digest}, version.root.number)
    return children(job, {**own, "receipts": entry.receipts})


def _reaches(job: Job, manifest_list: Row, row: Row) -> bool:
    if manifest_list["error"] is not None:
        return False
    return any(child["path"] in (row["path"], row["parent"]) for child in children(job, manifest_list))
