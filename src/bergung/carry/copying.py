"""The acts of a copy: a blob into the second vault, and the receipts that name it after it."""

from functools import partial

from bergung.carry.effects import Effects
from bergung.carry.engine import Batches, Map, Shuffle
from bergung.carry.job import Durable, Job
from bergung.carry.rows import LISTED, Row, batched, each, error_text
from bergung.carry.slices import Outcome
from bergung.carry.walking import BY_FILE, parts_for
from bergung.errors import DamageFound, MissingObject
from bergung.iceberg.columns import rows_of, table_of
from bergung.model.files import FileKind
from bergung.vault.layout import receipts_key
from bergung.vault.objects import bring
from bergung.vault.receipts import HELD, LEFT, MISSING

ABSENT = "absent"
Content = tuple[str | None, str | None]


def copy_blob(job: Job, rows: list[Row]) -> Outcome:
    """Held: it lies in the second vault with its digest; missing: no version in the first has these bytes."""
    found = {content: _copied(job, row) for content, row in _contents(rows).items()}
    moved = [bytes_ for _, bytes_ in found.values() if bytes_ is not None]
    # What lay there may have been left by a killed run that had not come to make it durable.
    keys = [_key(job, row) for content, row in _contents(rows).items() if found[content][0]["state"] == HELD]
    job.target().make_durable(keys[1:])
    durable = (job.target(), keys[0]) if keys else None
    states = {content: state for content, (state, _) in found.items()}
    return Outcome(_worst_first(rows, states), sum(moved) if moved else None, durable)


def _copied(job: Job, row: Row) -> tuple[Row, int | None]:
    if row["blob_key"] is None:
        return {"state": LEFT}, None
    trusted = row["size_bytes"] if job.trust_size else None
    try:
        return {"state": HELD}, bring((job.vault(), job.target()), _key(job, row), row["digest"], trusted)
    except DamageFound as error:
        return {"state": MISSING, "error": error_text(error)}, None


def _key(job: Job, row: Row) -> str:
    return f"{job.tables[row['table']].folder}{row['blob_key']}"


def look(job: Job, rows: list[Row]) -> Outcome:
    """Which of the blobs the second vault has not; for a dry run, which reads none of them."""
    states = {content: {"state": _seen(job, row)} for content, row in _contents(rows).items()}
    return Outcome(_worst_first(rows, states))


def _seen(job: Job, row: Row) -> str:
    if row["blob_key"] is None:
        return LEFT
    try:
        job.target().head(_key(job, row))
    except MissingObject:
        return ABSENT
    return HELD


def _contents(rows: list[Row]) -> dict[Content, Row]:
    """One path may be held with several contents."""
    return {(row["digest"], row["blob_key"]): row for row in rows}


def _worst_first(rows: list[Row], states: dict[Content, Row]) -> list[Row]:
    """The first is what the tally counts and names."""
    told = [{**row, **states[row["digest"], row["blob_key"]]} for row in rows]
    return sorted(told, key=lambda row: row["state"] in (HELD, LEFT))


def copy_receipts(effects: Effects, job: Job, rows: list[Row]) -> None:
    """Of manifests first, then of manifest lists, then of metadata files (format.md R2); their blobs are durable."""
    lists = [row for row in rows if row["kind"] == FileKind.MANIFEST_LIST]
    roots = [row for row in rows if row["kind"] == FileKind.METADATA]
    for level in ([row for row in rows if row["kind"] == FileKind.MANIFEST], lists, roots):
        if level:
            steps = Shuffle(BY_FILE, parts_for(effects, level)), Map(partial(bring_receipts, job), LISTED)
            rows_of(effects.run(table_of(LISTED, level), *steps))


def bring_receipts(job: Job, batches: Batches) -> Batches:
    """Those that the first vault has lost are passed over: the walk has named them."""
    durable = Durable()
    return durable.after(batched(LISTED, (row for row in each(batches) if not _bring_receipts(job, durable, row))))


def _bring_receipts(job: Job, durable: Durable, row: Row) -> bool:
    key = job.tables[row["table"]].folder + receipts_key(row["digest"], row["receipts"])
    try:
        bring((job.vault(), job.target()), key, row["receipts"])
    except DamageFound:
        return False
    durable.add(job.target(), key)
    return True
