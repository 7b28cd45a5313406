"""What a table's snapshots held, told by readers that are not ours: taken before a disaster, compared after it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

import readers
from bergung.carry.fingerprint import Fingerprint
from readers import TableFile, print_of

Readings = Mapping[str, Fingerprint]
"""Reader → what it read."""
Reads = dict[str, Callable[[], Fingerprint]]


@dataclass(frozen=True)
class Truth:
    """By snapshot id, and by the moments at which a snapshot became current."""

    snapshots: Mapping[int, Readings]
    moments: Mapping[int, Readings]

    def only(self, snapshot_ids: Iterable[int]) -> "Truth":
        """What was promised by id, without the moments: maintenance may cut the log."""
        return Truth({each: self.snapshots[each] for each in snapshot_ids}, {})


def truth_of(metadata_location: str, spark: Any = None, table: str = "") -> Truth:
    """Read every retained snapshot by every reader; by Spark too when it is given, with the table's name in its catalog."""
    file = readers.table_file(metadata_location, readers.reach(spark, table))
    return Truth(
        {each: _readings(_by_id(file, each, spark, table)) for each in file.snapshot_ids},
        {each: _readings(_by_time(file, each, spark, table)) for each in file.moments},
    )


def truth_again(before: Truth, metadata_location: str, spark: Any = None, table: str = "") -> Truth:
    """Only what was read before, as far as it is still there."""
    file = readers.table_file(metadata_location, readers.reach(spark, table))
    retained = set(file.snapshot_ids)
    first = min(file.moments, default=0)
    return Truth(
        {each: _readings(_by_id(file, each, spark, table)) for each in before.snapshots if each in retained},
        {each: _readings(_by_time(file, each, spark, table)) for each in before.moments if each >= first},
    )


def compare_all(before: Truth, after: Truth) -> None:
    """Everything that was readable before reads equal now, in each reader; there may be more now."""
    found = differences(before, after)
    assert not found, "\n".join(found)


def differences(before: Truth, after: Truth) -> list[str]:
    """One line for each reader and snapshot or moment that is gone or reads otherwise."""
    by_id = _differences("snapshot", before.snapshots, after.snapshots)
    return by_id + _differences("moment", before.moments, after.moments)


def readers_agree(truth: Truth) -> None:
    """All readers see the same rows (row lineage apart, which only Spark reads)."""
    for kind, each in [("snapshot", truth.snapshots), ("moment", truth.moments)]:
        for key, readings in each.items():
            prints = {reader: print for reader, print in readings.items() if reader != "spark lineage"}
            assert len(set(prints.values())) == 1, f"{kind} {key}: {prints}"


def _by_id(file: TableFile, snapshot_id: int, spark: Any, table: str) -> Reads:
    fields = file.fields(snapshot_id)
    reads: Reads = {}
    if file.is_local:
        reads["duckdb"] = lambda: print_of(readers.rows_by_duckdb(file.location, snapshot_id), fields)
    if not file.has_equality_deletes(snapshot_id):
        reads["pyiceberg"] = lambda: print_of(readers.rows_by_pyiceberg(file.location, snapshot_id, file.reach), fields)
    if spark is not None:
        reads["spark"] = lambda: print_of(readers.rows_by_spark(spark, table, snapshot_id), fields)
    if spark is not None and file.has_lineage:
        reads["spark lineage"] = lambda: print_of(_with_lineage(spark, table, snapshot_id), (*fields, *readers.LINEAGE))
    return reads


def _by_time(file: TableFile, moment: int, spark: Any, table: str) -> Reads:
    current = file.current_at(moment)
    fields = file.fields(current)
    reads: Reads = {}
    if file.is_local:
        reads["duckdb"] = lambda: print_of(readers.rows_by_duckdb_at(file.location, moment), fields)
    if not file.has_equality_deletes(current):
        reads["pyiceberg"] = lambda: print_of(readers.rows_by_pyiceberg_at(file.location, moment, file.reach), fields)
    if spark is not None:
        reads["spark"] = lambda: print_of(readers.rows_by_spark_at(spark, table, moment), fields)
    return reads


def _with_lineage(spark: Any, table: str, snapshot_id: int) -> pa.Table:
    return readers.rows_by_spark(spark, table, snapshot_id, [field.name for field in readers.LINEAGE])


def _readings(reads: Reads) -> Readings:
    return {reader: read() for reader, read in reads.items()}


def _differences(kind: str, before: Mapping[int, Readings], after: Mapping[int, Readings]) -> list[str]:
    found = []
    for key, readings in before.items():
        for reader, was in readings.items():
            now = after.get(key, {}).get(reader)
            if now != was:
                found.append(f"{kind} {key} by {reader}: was {was}, is {now or 'gone'}")
    return found
