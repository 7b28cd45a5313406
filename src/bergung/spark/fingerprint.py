"""The fingerprint of a DataFrame's rows, summed up on the executors."""

from collections.abc import Sequence
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from bergung.carry.fields import Field
from bergung.carry.fingerprint import PARTIAL, Fingerprint, combine, partial_fingerprints


def fingerprint_of(frame: DataFrame, fields: Sequence[Field]) -> Fingerprint:
    """One action; a row per partition comes back."""
    parts = frame.mapInArrow(partial(partial_fingerprints, fields=fields), from_arrow_schema(PARTIAL))
    return combine(Fingerprint(row["row_count"], row["digest"]) for row in parts.collect())
