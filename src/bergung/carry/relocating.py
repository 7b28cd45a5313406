"""Manifests and manifest lists of tables that move, made anew once all that they name lies at its new place."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from bergung.carry.effects import Effects
from bergung.carry.engine import Batches, Map, Shuffle
from bergung.carry.job import Job, read_part, write_part
from bergung.carry.moving import GiveLists, GiveManifests, Key
from bergung.carry.rows import LISTED, SLICE, Row, batched, each
from bergung.carry.slices import done_part
from bergung.carry.walking import parts_for
from bergung.carry.waves import Totals, run_waves
from bergung.iceberg.columns import rows_of, table_of
from bergung.model.files import FileKind
from bergung.plan.waves import Slice
from bergung.vault.receipts import MISSING

SLICE_BYTES = 8 * 1024 * 1024
"""A manifest costs many times what copying its bytes does."""


def make_manifests(effects: Effects, job: Job, named: Iterable[Row], given: Sequence[Slice]) -> Totals:
    """`named` are the manifests and lists of the walk, `given` the stored outcomes for the files below them.

    A table that has lost a manifest gets no lists: they could not say how long it is.
    """
    moving = [row for row in named if job.tables[row["table"]].moves is not None]
    if not moving:
        return Totals()
    manifests = [{**row, "state": None} for row in moving if row["kind"] == FileKind.MANIFEST]
    slices = _planned(job, manifests)
    totals = run_waves(effects, job, GiveManifests(_facts(effects, job, given)), slices)
    lengths = write_part(job, "lengths", pa.concat_tables([LISTED.empty_table(), *_outcomes(job, slices)]))
    lists = [
        row for row in moving if row["kind"] == FileKind.MANIFEST_LIST and not totals.tally.count(MISSING, [row["table"]]).files
    ]
    totals.merge(run_waves(effects, job, GiveLists(lengths), _planned(job, lists)))
    return totals


def _planned(job: Job, rows: Sequence[Row]) -> list[Slice]:
    if not rows:
        return []
    part = write_part(job, "tasks", table_of(LISTED, rows))
    return list(_stretches(part, [row["size_bytes"] or 0 for row in rows]))


def _stretches(part: str, sizes: Sequence[int]) -> Iterator[Slice]:
    start, weight = 0, 0
    for end, size in enumerate(sizes, 1):
        weight += size
        if weight >= SLICE_BYTES or end == len(sizes):
            yield Slice(part, start, end - start, weight)
            start, weight = end, 0


def _outcomes(job: Job, slices: Iterable[Slice]) -> Iterator[pa.Table]:
    return (read_part(job, done_part(each.part, each.start)) for each in slices)


def _facts(effects: Effects, job: Job, given: Sequence[Slice]) -> Mapping[Key, str]:
    """By manifest, the list of what became of the delete files in it."""
    rows = [{"path": done_part(slice_.part, slice_.start)} for slice_ in given]
    steps = (
        Map(partial(made_anew, job), LISTED),
        Shuffle(("table", "parent"), parts_for(effects, rows)),
        Map(partial(store_facts, job), SLICE),
    )
    found = rows_of(effects.run(table_of(LISTED, rows), *steps)) if rows else []
    return {(row["table"], row["path"]): row["part"] for row in found}


def made_anew(job: Job, batches: Batches) -> Batches:
    """The delete files in stored outcomes, a row for each manifest that names one."""
    for row in each(batches):
        done = read_part(job, row["path"])
        yield from done.filter(pc.is_valid(done.column("rewritten"))).to_batches()


def store_facts(job: Job, batches: Batches) -> Batches:
    """A list for each manifest; all rows of one must be in one call."""
    return batched(SLICE, _stored(job, each(batches)))


def _stored(job: Job, rows: Iterator[Row]) -> Iterator[Row]:
    of: dict[tuple[int, str], list[Row]] = {}
    for row in rows:
        of.setdefault((row["table"], row["parent"]), []).append(row)
    for (table, manifest), files in of.items():
        part = write_part(job, "facts", table_of(LISTED, sorted(files, key=lambda row: row["path"])))
        yield {**dict.fromkeys(SLICE.names), "table": table, "path": manifest, "part": part}
