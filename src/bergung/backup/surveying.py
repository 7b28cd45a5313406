"""What of each table the vault has not: new manifest lists, then new manifests, and what the metadata file itself names."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from bergung.backup.known import Known
from bergung.backup.locating import Located
from bergung.carry.effects import Effects
from bergung.carry.engine import Map
from bergung.carry.job import Job, Replaced, TableJob
from bergung.carry.opening import open_lists
from bergung.carry.rows import LISTED, Row, error_of, listed
from bergung.errors import BergungError
from bergung.iceberg.columns import rows_of, table_of
from bergung.iceberg.metadata import Snapshot
from bergung.iceberg.survey import check_allowed, reached_by
from bergung.model.files import FileKind, ReachedFile
from bergung.model.record import MetadataFile
from bergung.vault.receipts import DAMAGED, MISSING


@dataclass
class Survey:
    """One changed table: what is known of it, what is new, and what was found wrong on the way."""

    index: int
    located: Located
    known: Known
    children: list[ReachedFile] = field(default_factory=list)
    rows: dict[str, Row] = field(default_factory=dict)
    """Settled rows of the metadata file's own children, by path."""
    lists: list[Row] = field(default_factory=list)
    """New manifest lists, held in the vault."""
    named: dict[str, Row] = field(default_factory=dict)
    """Every manifest that a new list names, as the list has it."""
    named_by: dict[str, set[str]] = field(default_factory=dict)
    """By the path of a new list, the manifests that it names."""
    manifests: dict[str, Row] = field(default_factory=dict)
    """Settled rows of manifests, by path."""
    opened: list[Row] = field(default_factory=list)
    """Manifests that this run opened, and other files of the metadata file's own that it carried."""
    lost: list[Row] = field(default_factory=list)
    file: MetadataFile | None = None
    """The metadata file itself, once it is held in the vault."""
    error: BergungError | None = None

    @property
    def name(self) -> str:
        return self.located.name

    @property
    def can_be_opened(self) -> bool:
        """False where only the table's keys open its manifest lists."""
        return self.error is None and not self.located.metadata.encrypted

    def new_snapshots(self) -> list[Snapshot]:
        """Snapshots whose manifest list the vault has not, newest first."""
        old = set(self.known.lists())
        snapshots = reversed(self.located.metadata.snapshots)
        return [snapshot for snapshot in snapshots if snapshot.manifest_list not in old]

    def known_snapshots(self) -> list[Snapshot]:
        """The others."""
        new = {snapshot.snapshot_id for snapshot in self.new_snapshots()}
        return [snapshot for snapshot in self.located.metadata.snapshots if snapshot.snapshot_id not in new]

    def parents(self) -> list[str]:
        """The manifest lists of the snapshots that new ones came from."""
        by_id = {snapshot.snapshot_id: snapshot for snapshot in self.located.metadata.snapshots}
        found = (by_id.get(snapshot.parent_id) for snapshot in self.new_snapshots() if snapshot.parent_id is not None)
        return [parent.manifest_list for parent in found if parent is not None and parent.manifest_list is not None]

    def replaced(self) -> tuple[Replaced, ...]:
        """Known manifests that a new snapshot dropped and its parent had: their files may live on in new manifests."""
        by_id = {snapshot.snapshot_id: snapshot for snapshot in self.located.metadata.snapshots}
        known: dict[str, Row] = {}
        dropped: set[str] = set()
        for snapshot in self.new_snapshots():
            parent = by_id.get(snapshot.parent_id) if snapshot.parent_id is not None else None
            before = parent.manifest_list if parent else None
            own = self.known.manifests_of(before)
            known |= own
            dropped |= (own.keys() | self._names(before)) - self._names(snapshot.manifest_list)
        gone = (row for path, row in known.items() if path in dropped)
        return tuple(Replaced(row["digest"], row["receipts"]) for row in gone if row["receipts"])

    def _names(self, new_list: str | None) -> set[str]:
        return self.named_by.get(new_list or "", set())


def begin(located: Located, index: int, known: Known, prefixes: Sequence[str], more: Sequence[ReachedFile] = ()) -> Survey:
    """Split the metadata file's children, and `more` that are captured as such, into those that are held and those that are not."""
    survey = Survey(index, located, known, [*_children(located), *more])
    try:
        check_allowed(survey.children, prefixes, survey.name)
    except BergungError as error:
        survey.error = error
    for child in survey.children:
        row = None if _recurs(child) else known.child(child.path)
        if row is not None and child.declared_bytes in (None, row["declared_bytes"], row["size_bytes"]):
            survey.rows[child.path] = listed(row, index)
    return survey


def _children(located: Located) -> list[ReachedFile]:
    children = reached_by(located.metadata)
    named = located.named_file
    return children if named is None or named.path in {child.path for child in children} else [*children, named]


def _recurs(child: ReachedFile) -> bool:
    """`v<N>.metadata.json` comes again when a Hadoop table is made anew: such a name says nothing of the bytes."""
    return child.kind == FileKind.METADATA and child.path.rsplit("/", 1)[-1].startswith("v")


def read_lists(effects: Effects, job: Job, surveys: Sequence[Survey]) -> None:
    """Hold every new manifest list and note the manifests that it names."""
    by_index = {survey.index: survey for survey in surveys}
    wanted = [row for survey in surveys if survey.can_be_opened for row in _unsettled(survey, FileKind.MANIFEST_LIST)]
    for row in rows_of(effects.run(table_of(LISTED, wanted), Map(partial(open_lists, job), LISTED))):
        _note(by_index[row["table"]], row)


def _note(survey: Survey, row: Row) -> None:
    if row["error"] is not None and row["state"] is None:
        survey.error = error_of(row["error"])
    elif row["kind"] == FileKind.MANIFEST:
        survey.named[row["path"]] = row
        survey.named_by.setdefault(row["parent"], set()).add(row["path"])
    elif row["state"] == MISSING or row["error"] is not None:
        survey.lost.append(row)
        survey.rows[row["path"]] = row
    else:
        survey.lists.append(row)
        survey.lost += [row] if row["state"] == DAMAGED else []


def settle_manifests(survey: Survey) -> None:
    """Take over the manifests that the vault holds; those that the new snapshots added are not looked for."""
    fresh = {snapshot.snapshot_id for snapshot in survey.new_snapshots()}
    old = {path for path, row in survey.named.items() if row["rank"] not in fresh}
    parents = survey.parents()
    others = (snapshot.manifest_list for snapshot in reversed(survey.located.metadata.snapshots))
    found = survey.known.manifests(old, parents, [path for path in others if path is not None and path not in parents])
    survey.manifests = {
        path: listed(row, survey.index)
        for path, row in found.items()
        if row["declared_bytes"] == survey.named[path]["declared_bytes"]
    }


def still_to_open(survey: Survey) -> list[Row]:
    """New manifests, and other files that the metadata file names and the vault has not."""
    new = [{**row, "parent": "", "rank": None} for path, row in survey.named.items() if path not in survey.manifests]
    others = [row for row in _unsettled(survey) if row["kind"] != FileKind.MANIFEST_LIST or not survey.can_be_opened]
    return new + [row for row in others if row["path"] not in survey.named]


def _unsettled(survey: Survey, kind: FileKind | None = None) -> list[Row]:
    return [
        {
            "table": survey.index,
            "parent": "",
            "path": child.path,
            "kind": child.kind,
            "declared_bytes": child.declared_bytes,
            "row_count": child.row_count,
        }
        for child in survey.children
        if child.path not in survey.rows and kind in (None, child.kind)
    ]


def table_job(survey: Survey, folder: str, prefixes: Sequence[str]) -> TableJob:
    """The table as executors see it, but for the manifests that new lists have no more."""
    known = survey.known_snapshots()
    return TableJob(
        name=survey.name,
        folder=folder,
        location=survey.located.metadata.location,
        prefixes=tuple(prefixes),
        known_snapshots=frozenset(snapshot.snapshot_id for snapshot in known),
        known_until=max((snapshot.sequence_number for snapshot in known), default=0),
        access=survey.located.access,
    )
