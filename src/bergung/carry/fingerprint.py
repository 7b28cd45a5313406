"""What a set of rows is, in one line: free of order, sensitive to duplicates (docs/fingerprint.md)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
import pyarrow as pa

from bergung.carry.canonical import pick, rows_as_bytes
from bergung.carry.fields import Field, described
from bergung.carry.totals import Numbers, row_digests, total

TAG = "rows1"
BLOCK_ROWS = 16_384
"""Rows encoded at once: the bytes of a block stay in the processor's cache."""

PARTIAL = pa.schema([pa.field("row_count", pa.int64(), False), pa.field("digest", pa.string(), False)])
"""What `partial_fingerprints` yields, one row per partition."""


@dataclass(frozen=True)
class Fingerprint:
    """Equal for equal multisets of rows under the same columns."""

    row_count: int
    digest: str

    def __str__(self) -> str:
        return f"{self.row_count} rows {self.digest}"


def fingerprint(batches: Iterable[pa.RecordBatch], fields: Sequence[Field]) -> Fingerprint:
    """Of all rows of the batches; columns are found by Iceberg's field id, or by name where Arrow carries none."""
    row_count = sum_of_rows = 0
    for _, digests in digested(batches, fields):
        sum_of_rows += total(digests)
        row_count += len(digests)
    return made(row_count, sum_of_rows)


def digested(batches: Iterable[pa.RecordBatch], fields: Sequence[Field]) -> Iterator[tuple[list[pa.Array], Numbers]]:
    """The columns of each block of rows, in the order of the fields, and the digests of its rows."""
    prefix = sha256(described(fields).encode()).digest()[:16]
    for batch in batches:
        columns = [batch.column(place) for place in pick(batch.schema, fields)]
        for start in range(0, batch.num_rows, BLOCK_ROWS):
            block = [column.slice(start, BLOCK_ROWS) for column in columns]
            yield block, row_digests(rows_as_bytes(block, fields, prefix))


def combine(parts: Iterable[Fingerprint]) -> Fingerprint:
    """Of the rows of all parts together."""
    row_count = sum_of_rows = 0
    for part in parts:
        row_count += part.row_count
        sum_of_rows += int(part.digest.removeprefix(f"{TAG}:"), 16)
    return made(row_count, sum_of_rows)


def partial_fingerprints(batches: Iterable[pa.RecordBatch], fields: Sequence[Field]) -> Iterator[pa.RecordBatch]:
    """For mapInArrow: one row for all batches of a partition, to be combined by the caller."""
    made = fingerprint(batches, fields)
    text = made.digest.encode()
    counts = pa.Array.from_buffers(pa.int64(), 1, [None, pa.py_buffer(np.array([made.row_count], np.int64))])
    ends = pa.py_buffer(np.array([0, len(text)], np.int32))
    digests = pa.Array.from_buffers(pa.string(), 1, [None, ends, pa.py_buffer(text)])
    yield pa.RecordBatch.from_arrays([counts, digests], schema=PARTIAL)


def made(row_count: int, sum_of_rows: int) -> Fingerprint:
    """From a count and a sum that may be larger than the modulus."""
    return Fingerprint(row_count, f"{TAG}:{sum_of_rows % (1 << 128):032x}")
