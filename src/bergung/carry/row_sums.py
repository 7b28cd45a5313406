"""Rows of two sides summed up in buckets by their digests: where two sums differ, and only there, rows differ."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from bergung.carry.fields import Field
from bergung.carry.fingerprint import Fingerprint, digested, made
from bergung.carry.totals import LIMBS, Numbers, number

BUCKETS = 4096
_COLUMNS = ("row_count", *(f"limb{place}" for place in range(LIMBS)))
SUMS = pa.schema([("side", pa.int64()), ("bucket", pa.int64()), *((name, pa.int64()) for name in _COLUMNS)])
"""A row for each bucket of a partition in which there is something; rows of several partitions are added up."""


@dataclass(frozen=True)
class BucketSums:
    """The sums of one side, all partitions together: counts and limbs, by bucket."""

    sums: Numbers

    def fingerprint(self) -> Fingerprint:
        """Of all rows."""
        digest = sum(number(map(int, limbs)) for limbs in self.sums[:, 1:])
        return made(int(self.sums[:, 0].sum()), digest)

    def differing(self, other: "BucketSums") -> Numbers:
        """For each bucket whether the two sides hold other rows in it."""
        pairs = zip(self.sums, other.sums, strict=True)
        return np.array([_carried(one) != _carried(two) for one, two in pairs], np.bool_)


def bucket_sums(batches: Iterable[pa.RecordBatch], fields: Sequence[Field], side: int) -> Iterator[pa.RecordBatch]:
    """For mapInArrow: the sums of a partition."""
    sums = np.zeros((BUCKETS, 1 + LIMBS), np.int64)
    for _, digests in digested(batches, fields):
        buckets = buckets_of(digests)
        sums[:, 0] += np.bincount(buckets, minlength=BUCKETS)
        for place in range(LIMBS):
            # Floats of 53 bits are exact here: a block has fewer than 2^21 rows, a limb 32 bits.
            sums[:, 1 + place] += np.bincount(buckets, digests[:, place], BUCKETS).astype(np.int64)
    used = np.flatnonzero(sums[:, 0])
    columns = [np.full(len(used), side, np.int64), used.astype(np.int64), *(sums[used, place] for place in range(1 + LIMBS))]
    yield pa.RecordBatch.from_arrays([numbers(column) for column in columns], schema=SUMS)


def buckets_of(digests: Numbers) -> Numbers:
    """Where each row belongs."""
    return digests[:, 0] % BUCKETS


def added_up(rows: Iterable[Sequence[Any]], side: int) -> BucketSums:
    """From rows of the form of SUMS."""
    sums = np.zeros((BUCKETS, 1 + LIMBS), np.int64)
    for row in rows:
        if row[0] == side:
            sums[row[1]] += np.array(row[2:], np.int64)
    return BucketSums(sums)


def numbers(column: Numbers) -> pa.Array:
    """Without pandas, which pyarrow's own way from numpy imports."""
    return pa.Array.from_buffers(pa.int64(), len(column), [None, pa.py_buffer(np.ascontiguousarray(column, np.int64))])


def _carried(sums: Numbers) -> tuple[int, int]:
    return int(sums[0]), number(map(int, sums[1:])) % (1 << (32 * LIMBS))
