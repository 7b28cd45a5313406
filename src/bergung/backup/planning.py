"""A dry run: where the tables stand, what changed since the vault saw them, and how much that is; nothing is written."""

from collections.abc import Sequence

from bergung.backup.entry import summed
from bergung.backup.known import Known, Predecessor, predecessors
from bergung.backup.locating import Located, locate_all
from bergung.backup.request import BackupRequest
from bergung.backup.surveying import Survey, begin
from bergung.backup.unchanged import is_unchanged
from bergung.carry.effects import Effects
from bergung.catalogs.select import Selected
from bergung.clock import to_text
from bergung.iceberg.metadata import Snapshot
from bergung.iceberg.survey import allowed_prefixes
from bergung.plan.backup import BackupPlan, TablePlan
from bergung.vault.vault import Vault, read_state

FILES = ("added-data-files", "added-delete-files")
BYTES = ("added-files-size",)


def plan_backup(effects: Effects, vault: Vault, request: BackupRequest, selected: Sequence[Selected]) -> BackupPlan:
    """Pointers and metadata files are read, manifests are not: so the numbers of files are those of the summaries."""
    cut = locate_all(effects, selected)
    state = read_state(vault)
    known = predecessors(vault, state, cut.tables, request.captured)
    tables = tuple(_table(vault, request, each, known.get(each.name)) for each in cut.tables)
    return BackupPlan(to_text(cut.at), tables, {name: error.message for name, error in cut.failed.items()})


def _table(vault: Vault, request: BackupRequest, located: Located, before: Predecessor | None) -> TablePlan:
    prefixes = allowed_prefixes(located.metadata, located.metadata_location, request.allow_prefixes)
    changed = not is_unchanged(located, before)
    survey = begin(located, 0, Known(vault, before.entry if before else None), prefixes)
    new = survey.new_snapshots() if changed else []
    return TablePlan(
        table=survey.name,
        metadata_location=located.metadata_location,
        cut=located.cut,
        changed=changed,
        new_snapshots=len(new),
        new_files=_sum(survey, new, FILES, "total-data-files"),
        new_bytes=_sum(survey, new, BYTES, "total-files-size"),
        prefixes=prefixes,
    )


def _sum(survey: Survey, new: Sequence[Snapshot], names: Sequence[str], total: str) -> int | None:
    """What the snapshots added; the oldest one kept holds what earlier, expired ones added as well."""
    if not new:
        return 0
    oldest = new[-1]
    by_total = oldest.parent_id is not None and not any(survey.known.lists())
    counts = [summed(oldest.summary, (total,) if by_total else names)]
    counts += [summed(snapshot.summary, names) or 0 for snapshot in new[:-1]]
    return None if counts[0] is None else sum(count or 0 for count in counts)
