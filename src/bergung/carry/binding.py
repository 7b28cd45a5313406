"""The outcomes of a backup's slices become receipts: manifests' first, then manifest lists'."""

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from threading import Lock

from bergung.carry.engine import Batches
from bergung.carry.job import Durable, Job, read_part
from bergung.carry.opening import bind, manifest_part
from bergung.carry.rows import LISTED, Row, batched, each, error_text, listed
from bergung.carry.slices import done_part
from bergung.errors import BergungError
from bergung.iceberg.columns import rows_of, table_of
from bergung.iceberg.manifest_list import read_manifest_list
from bergung.model.files import FileKind
from bergung.stores.digest import read_verified
from bergung.stores.together import together
from bergung.vault.receipts import DAMAGED, HELD, LEFT, MISSING, RECEIPT

NAMED = 100
"""So many lost files of one manifest come back by name; all of them are counted."""


def read_outcomes(job: Job, batches: Batches) -> Batches:
    """The stored outcome of each slice, row by row."""
    parts = (done_part(slice_["part"], slice_["start"]) for slice_ in each(batches))
    found = together(job.files_at_once, partial(read_part, job), parts)
    return batched(LISTED, (row for part in found for row in rows_of(part)))


def bind_manifests(job: Job, batches: Batches) -> Batches:
    """Write the receipts of each manifest whose files have been carried; yield its own row and what is lost below it.

    All rows of one manifest must be in one call: the rows come shuffled by table and parent.
    """
    binding = _Binding(job)
    groups = (list(group) for _, group in groupby(sorted(each(batches), key=_parent), key=_parent))
    bound = together(job.files_at_once, binding.bound, groups)
    return binding.durable.after(batched(LISTED, (row for rows in bound for row in rows)))


def _parent(row: Row) -> tuple[int, str]:
    return row["table"], row["parent"]


class _Binding:
    """Manifests several at once: they wait for the vault, and one after another for the memory that many files take."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.durable = Durable()
        self._room = Lock()

    def bound(self, carried: list[Row]) -> list[Row]:
        """What the rows of one manifest come to; files that the metadata file itself names are what they are."""
        failed = next((row for row in carried if row["error"] is not None), None)
        if failed is not None:
            return [failed]
        return carried if carried[0]["parent"] == "" else self._bind({row["path"]: row for row in carried})

    def _bind(self, carried: dict[str, Row]) -> list[Row]:
        table, parent = _parent(next(iter(carried.values())))
        part = read_part(self.job, manifest_part(table, parent))
        with self._room:
            known = rows_of(part)
            own = next(listed(row, table) for row in known if row["kind"] == FileKind.MANIFEST)
            rows = [row if row["state"] else carried[row["path"]] for row in known if row["path"] != parent]
            lost = [row for row in rows if row["state"] in (MISSING, DAMAGED)]
            named = [listed(row, table, parent) for row in lost[:NAMED]]
            children = table_of(RECEIPT, rows)
            del known, rows
        receipts = bind(self.job, self.durable, own, children)
        state = DAMAGED if lost else own["state"]
        new = {name: sum(row[name] or 0 for row in carried.values()) for name in ("new_files", "new_bytes")}
        return [{**own, **new, "receipts": receipts, "state": state, "lost": len(lost)}, *named]


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
        yield from together(job.files_at_once, partial(_bind_list, job, durable, manifests), lists)


def _bind_list(job: Job, durable: Durable, manifests: dict[str, Row], own: Row) -> Row:
    try:
        rows = [manifests[manifest.path] for manifest in read_manifest_list(_data_of(job, own), own["path"])]
        receipts = bind(job, durable, own, table_of(RECEIPT, _unique(rows)))
    except BergungError as error:
        return {**own, "state": None, "error": error_text(error)}
    state = HELD if all(row["state"] in (HELD, LEFT) for row in rows) and own["state"] == HELD else DAMAGED
    return {**own, "receipts": receipts, "state": state}


def _data_of(job: Job, own: Row) -> bytes:
    data = job.at_hand.get(own["digest"])
    return read_verified(job.vault(), job.tables[own["table"]].folder + own["blob_key"], own["digest"]) if data is None else data


def _unique(rows: list[Row]) -> list[Row]:
    return list({row["path"]: row for row in rows}.values())
