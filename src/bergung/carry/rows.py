"""The shapes of the batches that go between steps."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import pyarrow as pa

from bergung.carry.engine import Batches
from bergung.errors import BergungError, error_class
from bergung.iceberg.columns import batch_of, rows_of
from bergung.stores.together import together
from bergung.vault.receipts import RECEIPT

BATCH_ROWS = 4096
SMALL_BYTES = 256 * 1024
"""A manifest of that size names some two thousand files, whose rows fit into memory several times."""

LISTED = pa.schema(
    [
        ("table", pa.int32()),
        ("parent", pa.string()),
        *RECEIPT,
        ("rank", pa.int64()),
        ("lost", pa.int64()),
        ("new_files", pa.int64()),
        ("new_bytes", pa.int64()),
        ("error", pa.string()),
        ("rewritten", pa.string()),
    ]
)
"""A file that a table reaches: `parent` is the path of the manifest or manifest list that names it, "" for the
metadata file itself. A row with a state is settled, one without is still to be carried. Of two contents under one path the
one of the lowest `rank` is what the newest snapshot sees. `lost` counts the files below a manifest that are missing or
damaged, `new_files` and `new_bytes` those that this run brought. `rewritten` is JSON: what a manifest must say of a delete
file that was made anew.
An error with a state is damage of the table; an error without one means that the table could not be done."""

SLICE = pa.schema(
    [
        *LISTED,
        ("part", pa.string()),
        ("start", pa.int64()),
        ("count", pa.int64()),
        ("bytes", pa.int64()),
    ]
)
"""A stretch of a stored task list; or, without `part`, a LISTED row that passes through."""

DONE = pa.schema(
    [
        ("part", pa.string()),
        ("start", pa.int64()),
        ("files", pa.int64()),
        ("bytes", pa.int64()),
        ("moved_files", pa.int64()),
        ("moved_bytes", pa.int64()),
        ("tally", pa.string()),
        ("error", pa.string()),
    ]
)
"""What came of one slice; the rows themselves lie in its part. `tally` is JSON, see `tally.py`. `error` stops the run."""

Row = dict[str, Any]


def listed(row: Row, table: int, parent: str = "") -> Row:
    """A row of receipts as a row of a table."""
    return {**dict.fromkeys(LISTED.names), **row, "table": table, "parent": parent}


def each(batches: Batches) -> Iterator[Row]:
    """The rows of all batches."""
    for batch in batches:
        yield from rows_of(batch)


def several(most: int, act: Callable[[Row], Iterable[Row]], batches: Batches) -> Iterator[Row]:
    """What comes of each row, up to `most` worked on at once; those of large files one after another, and last."""
    rows = list(each(batches))
    small = [row for row in rows if _bytes(row) <= SMALL_BYTES]
    large = (act(row) for row in rows if _bytes(row) > SMALL_BYTES)
    for found in chain(together(most, lambda row: list(act(row)), small), large):
        yield from found


def _bytes(row: Row) -> int:
    return row["declared_bytes"] or row["size_bytes"] or 0


def batched(schema: pa.Schema, rows: Iterator[Row]) -> Batches:
    """Rows as batches of a size that keeps memory small."""
    waiting: list[Row] = []
    for row in rows:
        waiting.append(row)
        if len(waiting) == BATCH_ROWS:
            yield batch_of(schema, waiting)
            waiting = []
    if waiting:
        yield batch_of(schema, waiting)


def error_text(error: BergungError) -> str:
    """An error as one column: its class, message and hint."""
    return "\t".join((type(error).__name__, error.message, error.hint))


def error_of(text: str) -> BergungError:
    """The error again; its class by name from the tree of errors."""
    name, message, hint = (text.split("\t", 2) + ["", ""])[:3]
    return error_class(name)(message, hint)
