"""Errors of decoders, told as what they mean."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from bergung.errors import UnsupportedTable
from bergung.iceberg.avro import BROKEN, corrupt


@contextmanager
def reading(where: str) -> Iterator[None]:
    """Around what reads bytes of others: CorruptFile, or UnsupportedTable where a decoder says that it does not know such."""
    try:
        yield
    except pa.ArrowNotImplementedError as error:
        raise UnsupportedTable(f"{where} holds what cannot be read: {error}", "restore this table to its own place") from error
    except BROKEN as error:
        raise corrupt(where, f"it does not hold what it says ({error})") from error
