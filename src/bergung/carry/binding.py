"""The outcomes of a backup's slices become receipts: manifests' first, then manifest lists'."""

from collections.abc import Iterator
from itertools import groupby

from bergung.carry.engine import Batches
from bergung.carry.job import Durable, Job, read_part
from bergung.carry.opening import bind, manifest_part
from bergung.carry.rows import LISTED, Row, batched, each, error_text, listed
from bergung.carry.slices import done_part
from bergung.errors import BergungError
from bergung.iceberg.columns import rows_of
from bergung.iceberg.manifest_list import read_manifest_list
from bergung.model.files import FileKind
from bergung.stores.digest import read_verified
from bergung.vault.receipts import DAMAGED, HELD, LEFT, MISSING

NAMED = 100
"""So many lost files of one manifest come back by name; all of them are counted."""


def read_outcomes(job: Job, batches: Batches) -> Batches:
    """The stored outcome of each slice, row by row."""
    parts = (done_part(slice_["part"], slice_["start"]) for slice_ in each(batches))
    return batched(LISTED, (row for part in parts for row in rows_of(read_part(job, part))))


def bind_manifests(job: Job, batches: Batches) -> Batches:
    """Write the receipts of each manifest whose files have been carried; yield its own row and what is lost below it.

    All rows of one manifest must be in one call: the rows come shuffled by table and parent.
    """
    durable = Durable()
    groups = groupby(sorted(each(batches), key=_parent), key=_parent)
    return durable.after(batched(LISTED, (row for _, group in groups for row in _bound(job, durable, list(group)))))


def _parent(row: Row) -> tuple[int, str]:
    return row["table"], row["parent"]


def _bound(job: Job, durable: Durable, carried: list[Row]) -> Iterator[Row]:
    failed = next((row for row in carried if row["error"] is not None), None)
    if failed is not None:
        yield failed
    elif carried[0]["parent"] == "":
        yield from carried
    else:
        yield from _bind(job, durable, {row["path"]: row for row in carried})


def _bind(job: Job, durable: Durable, carried: dict[str, Row]) -> Iterator[Row]:
    table, parent = _parent(next(iter(carried.values())))
    known = rows_of(read_part(job, manifest_part(table, parent)))
    own = next(listed(row, table) for row in known if row["kind"] == FileKind.MANIFEST)
    rows = [row if row["state"] else carried[row["path"]] for row in known if row["path"] != parent]
    lost = [row for row in rows if row["state"] in (MISSING, DAMAGED)]
    receipts = bind(job, durable, own, rows)
    state = DAMAGED if lost else own["state"]
    new = {name: sum(row[name] or 0 for row in carried.values()) for name in ("new_files", "new_bytes")}
    yield {**own, **new, "receipts": receipts, "state": state, "lost": len(lost)}
    for row in lost[:NAMED]:
        yield listed(row, table, parent)


def manifests_part(table: int) -> str:
    """Where a run keeps the rows of all manifests that a table's new manifest lists name."""
    return f"bound/{table:06d}.parquet"


def bind_lists(job: Job, batches: Batches) -> Batches:
    """Write the receipts of each manifest list from the rows of its manifests; yield its own row."""
    durable = Durable()
    return durable.after(batched(LISTED, _bound_lists(job, durable, each(batches))))


def _bound_lists(job: Job, durable: Durable, wanted: Iterator[Row]) -> Iterator[Row]:
    for table, lists in groupby(wanted, key=lambda row: row["table"]):
        manifests = {row["path"]: row for row in rows_of(read_part(job, manifests_part(table)))}
        for own in lists:
            yield _bind_list(job, durable, own, manifests)


def _bind_list(job: Job, durable: Durable, own: Row, manifests: dict[str, Row]) -> Row:
    try:
        data = read_verified(job.vault(), job.tables[own["table"]].folder + own["blob_key"], own["digest"])
        rows = [manifests[manifest.path] for manifest in read_manifest_list(data, own["path"])]
        receipts = bind(job, durable, own, _unique(rows))
    except BergungError as error:
        return {**own, "state": None, "error": error_text(error)}
    state = HELD if all(row["state"] in (HELD, LEFT) for row in rows) and own["state"] == HELD else DAMAGED
    return {**own, "receipts": receipts, "state": state}


def _unique(rows: list[Row]) -> list[Row]:
    return list({row["path"]: row for row in rows}.values())
