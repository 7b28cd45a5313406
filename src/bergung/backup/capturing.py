"""Carry what is new, write receipts bottom-up (format.md R2), and end with the root of each table's tree."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from bergung.backup.surveying import Survey, still_to_open
from bergung.carry.binding import bind_lists, bind_manifests, manifests_part, read_outcomes
from bergung.carry.effects import Effects
from bergung.carry.engine import Map, Shuffle
from bergung.carry.job import Durable, Job, lend_part, write_named_part
from bergung.carry.keeping import keep_file
from bergung.carry.opening import bind, open_manifests
from bergung.carry.rows import LISTED, SLICE, Row, error_of
from bergung.carry.tasks import plan_parts
from bergung.carry.waves import WAVE, Totals, run_waves, slices_of
from bergung.iceberg.columns import rows_of, table, table_of
from bergung.model.files import NOTED_KINDS, FileKind
from bergung.plan.waves import PARTS_PER_WORKER, Slice
from bergung.stores.together import together
from bergung.vault.receipts import DAMAGED, MISSING, RECEIPT

BY_FILE = ("table", "path")
BY_MANIFEST = ("table", "parent")


@dataclass(frozen=True)
class Carried:
    """What the waves of this attempt did."""

    totals: Totals
    opened_manifests: int


def carry(effects: Effects, job: Job, surveys: Sequence[Survey], earlier: list[Row]) -> Carried:
    """Open new manifests, carry new files, write the receipts of manifests and manifest lists.

    `earlier` are outcomes of runs that were never sealed; what they carried need not be carried again.
    """
    by_index = {survey.index: survey for survey in surveys}
    wanted = [row for survey in surveys if survey.error is None for row in still_to_open(survey)]
    planned = _open(effects, job, wanted, earlier)
    for row in planned:
        if row["part"] is None:
            _take(by_index[row["table"]], row)
    slices = slices_of(planned)
    totals = run_waves(effects, job, keep_file, slices) if slices else Totals()
    for row in _bind(effects, job, slices):
        _take(by_index[row["table"]], row)
    _bind_lists(effects, job, [survey for survey in surveys if survey.error is None])
    return Carried(totals, sum(row["kind"] == FileKind.MANIFEST for row in wanted))


def _open(effects: Effects, job: Job, wanted: list[Row], earlier: list[Row]) -> list[Row]:
    if not wanted:
        return []
    parts = _parts(effects, len(wanted) + len(earlier))
    steps = (
        Shuffle(BY_FILE, parts),
        Map(partial(open_manifests, job), LISTED),
        Shuffle(BY_FILE, parts),
        Map(partial(plan_parts, job), SLICE),
    )
    return rows_of(effects.run(table_of(LISTED, [*wanted, *earlier]), *steps))


def _bind(effects: Effects, job: Job, slices: Sequence[Slice]) -> list[Row]:
    if not slices:
        return []
    names = ("part", "start", "count", "bytes")
    rows = table(WAVE, {name: [getattr(slice_, name) for slice_ in slices] for name in names})
    steps = (
        Map(partial(read_outcomes, job), LISTED),
        Shuffle(BY_MANIFEST, _parts(effects, len(slices))),
        Map(partial(bind_manifests, job), LISTED),
    )
    return rows_of(effects.run(rows, *steps))


def _parts(effects: Effects, rows: int) -> int:
    """Several for each worker, so that none holds too much; one for little work."""
    return 1 if rows < 8 else min(rows, effects.engine().parallelism * PARTS_PER_WORKER)


def _take(survey: Survey, row: Row) -> None:
    """Where a row belongs in its table's survey."""
    if row["error"] is not None and row["state"] is None:
        survey.error = error_of(row["error"])
        return
    if row["state"] in (MISSING, DAMAGED) and not _is_gone_history(row):
        survey.lost.append(row)
    if row["parent"] != "":
        return
    if row["kind"] == FileKind.MANIFEST:
        survey.manifests[row["path"]] = row
    survey.rows[row["path"]] = row
    if row["receipts"] is not None or row["kind"] != FileKind.MANIFEST:
        survey.opened.append(row)


def _is_gone_history(row: Row) -> bool:
    """An older metadata file that was gone at the first look has no row at all (format.md, Receipts)."""
    return bool(row["kind"] == FileKind.METADATA and row["state"] == MISSING)


def _bind_lists(effects: Effects, job: Job, surveys: Sequence[Survey]) -> None:
    by_index = {survey.index: survey for survey in surveys}
    lists = table_of(LISTED, [row for survey in surveys for row in survey.lists])
    give = lend_part if effects.is_little(lists) else write_named_part
    for _ in together(job.files_at_once, partial(_give_manifests, give, job), [survey for survey in surveys if survey.lists]):
        pass
    if lists.num_rows:
        for row in rows_of(effects.run(lists, Map(partial(bind_lists, job), LISTED))):
            survey = by_index[row["table"]]
            if row["error"] is not None:
                survey.error = error_of(row["error"])
            survey.rows[row["path"]] = row


def _give_manifests(give: Callable[[Job, str, pa.Table], None], job: Job, survey: Survey) -> None:
    named = [survey.manifests[path] for path in survey.named if path in survey.manifests]
    give(job, manifests_part(survey.index), table_of(LISTED, named))


def write_root(job: Job, survey: Survey, digest: str) -> str:
    """The receipts of the metadata file itself; their digest goes into the record."""
    rows = [survey.rows[child.path] for child in survey.children if child.path in survey.rows]
    kept = [row for row in rows if not _is_gone_history(row)]
    durable = Durable()
    receipts = bind(job, durable, {"table": survey.index, "digest": digest}, table_of(RECEIPT, kept))
    durable.settle()
    return receipts


def losses(survey: Survey) -> list[Row]:
    """What is really lost: without these some retained snapshot does not read as it should."""
    return [row for row in survey.lost if row["kind"] not in NOTED_KINDS]


def loss_count(survey: Survey) -> int:
    """All of them, also those that were not named one by one."""
    below = sum(row["lost"] or 0 for row in survey.manifests.values())
    return int(below + sum(row["parent"] == "" for row in losses(survey) if not row["lost"]))


def noted(survey: Survey) -> list[str]:
    """Lost statistics: worth a word, no damage."""
    return [row["path"] for row in survey.lost if row["kind"] in NOTED_KINDS]


def is_complete(survey: Survey) -> bool:
    """Everything that the retained snapshots reach is held."""
    return survey.error is None and not losses(survey)
