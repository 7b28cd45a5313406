"""The act of locking: nobody deletes what a point needs before its time."""

from datetime import datetime

from bergung.carry.job import Job
from bergung.carry.rows import Row
from bergung.carry.slices import Outcome
from bergung.vault.layout import receipts_key
from bergung.vault.locking import lock_object
from bergung.vault.receipts import HELD


def lock_file(until: datetime, job: Job, rows: list[Row]) -> Outcome:
    """Each content of the path, and the receipts of a manifest or a manifest list."""
    for row in rows:
        folder = job.tables[row["table"]].folder
        if row["blob_key"] is not None:
            lock_object(job.vault(), folder + row["blob_key"], until, row["size_bytes"])
        if row["receipts"] is not None:
            lock_object(job.vault(), folder + receipts_key(row["digest"], row["receipts"]), until)
    return Outcome([{**row, "state": HELD} for row in rows])
