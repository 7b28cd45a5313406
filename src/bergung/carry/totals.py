"""Sums of row digests modulo 2^128: free of order, sensitive to duplicates."""

from collections.abc import Iterable
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

Numbers = np.ndarray[Any, np.dtype[Any]]
LIMBS = 4
"""A total is a number of 4 × 32 bits, lowest first."""


def total(digests: Numbers) -> int:
    """Of all rows; the caller adds up modulo 2^128."""
    return number(digests.sum(axis=0, dtype=np.uint64))


def number(limbs: Iterable[int]) -> int:
    """A sum as one number; its limbs need not be carried."""
    return sum(int(limb) << (32 * place) for place, limb in enumerate(limbs))


def per_group(rows: pa.Array, ends: Numbers) -> Numbers:
    """Of the rows between each two neighbours in `ends`: 16 bytes each, lowest first."""
    running = np.zeros((len(rows) + 1, LIMBS), np.uint64)
    np.cumsum(row_digests(rows), axis=0, dtype=np.uint64, out=running[1:])
    return _carried(running[ends[1:]] - running[ends[:-1]])


def row_digests(rows: pa.Array) -> Numbers:
    """The first 128 bits of each row's SHA-256, as limbs."""
    content = memoryview(rows.buffers()[2] or b"")
    ends = np.frombuffer(rows.buffers()[1], np.int64)[: len(rows) + 1].tolist()
    digests = b"".join([sha256(content[start:end]).digest() for start, end in pairwise(ends)])
    return np.frombuffer(digests, "<u4").reshape(-1, 8)[:, :LIMBS]


def _carried(sums: Numbers) -> Numbers:
    limbs = np.empty((len(sums), LIMBS), "<u4")
    carry = np.zeros(len(sums), np.uint64)
    for place in range(LIMBS):
        carry += sums[:, place]
        limbs[:, place] = carry & np.uint64(0xFFFFFFFF)
        carry >>= np.uint64(32)
    return limbs.view("V16")[:, 0]
