"""Readers of Iceberg tables that are not ours: PyIceberg, DuckDB (C++), and Spark's runtime (Java).

PyIceberg and DuckDB are given a metadata file, so no catalog is asked; each read starts cold, without caches that could
hide a lost or changed file.
"""

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import duckdb_extension_avro
import duckdb_extension_iceberg
import pyarrow as pa
from pyiceberg.manifest import clear_manifest_cache
from pyiceberg.table import StaticTable

from bergung.carry.fields import Field, fields_of_iceberg
from bergung.carry.fingerprint import Fingerprint, fingerprint

LINEAGE = (Field(2147483539, "_last_updated_sequence_number", "integer"), Field(2147483540, "_row_id", "integer"))
COLD = {"spark.sql.iceberg.executor-cache.enabled": "false"}
"""Without it Spark keeps delete files in memory, by their paths, for the next read."""


@dataclass(frozen=True)
class TableFile:
    """A metadata file, and what a reader needs of it."""

    location: str
    metadata: dict[str, Any]

    @property
    def snapshot_ids(self) -> list[int]:
        return [each["snapshot-id"] for each in self.metadata.get("snapshots") or []]

    @property
    def moments(self) -> list[int]:
        """The milliseconds at which a snapshot became current, as the log has them."""
        return sorted({each["timestamp-ms"] for each in self.metadata.get("snapshot-log") or []})

    @property
    def has_lineage(self) -> bool:
        return bool(self.metadata["format-version"] >= 3)

    def has_equality_deletes(self, snapshot_id: int) -> bool:
        """Then PyIceberg (0.12) refuses to read it."""
        summary = next(each["summary"] for each in self.metadata["snapshots"] if each["snapshot-id"] == snapshot_id)
        return int(summary.get("total-equality-deletes", 0)) > 0

    def current_at(self, moment: int) -> int:
        """The snapshot that was current at this millisecond."""
        log = [each for each in self.metadata["snapshot-log"] if each["timestamp-ms"] <= moment]
        return int(max(enumerate(log), key=lambda pair: (pair[1]["timestamp-ms"], pair[0]))[1]["snapshot-id"])

    def fields(self, snapshot_id: int) -> tuple[Field, ...]:
        """The columns under the schema that the snapshot was written with."""
        schemas = {each["schema-id"]: each for each in self.metadata.get("schemas") or []}
        found = {each["snapshot-id"]: each.get("schema-id") for each in self.metadata["snapshots"]}[snapshot_id]
        return fields_of_iceberg(schemas[self.metadata["current-schema-id"] if found is None else found])


def table_file(location: str) -> TableFile:
    content = Path(plain_path(location)).read_bytes()
    text = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    return TableFile(location, json.loads(text))


def all_snapshots(metadata_location: str) -> list[int]:
    """Every snapshot that the metadata file retains, also those of branches."""
    return table_file(metadata_location).snapshot_ids


def rows_by_pyiceberg(metadata_location: str, snapshot_id: int) -> pa.Table:
    clear_manifest_cache()
    return StaticTable.from_metadata(metadata_location).scan(snapshot_id=snapshot_id).to_arrow()


def rows_by_pyiceberg_at(metadata_location: str, moment: int) -> pa.Table:
    clear_manifest_cache()
    table = StaticTable.from_metadata(metadata_location)
    snapshot = table.snapshot_as_of_timestamp(moment)
    assert snapshot is not None, f"PyIceberg knows no snapshot at {as_text(moment)}"
    return table.scan(snapshot_id=snapshot.snapshot_id).to_arrow()


def rows_by_duckdb(metadata_location: str, snapshot_id: int) -> pa.Table:
    return _duckdb_scan(metadata_location, f"snapshot_from_id => {snapshot_id}::UBIGINT")


def rows_by_duckdb_at(metadata_location: str, moment: int) -> pa.Table:
    return _duckdb_scan(metadata_location, f"snapshot_from_timestamp => TIMESTAMP '{as_text(moment)}'")


def rows_by_duckdb_in(folder: str) -> pa.Table:
    """Of a Hadoop table by its folder: DuckDB believes the hint."""
    return _duckdb().cursor().execute(f"SELECT * FROM iceberg_scan('{folder}')").to_arrow_table()


def rows_by_spark(spark: Any, table: str, snapshot_id: int, more: Sequence[str] = ()) -> pa.Table:
    return spark.sql(f"SELECT {', '.join(['*', *more])} FROM {table} VERSION AS OF {snapshot_id}").toArrow()


def rows_by_spark_at(spark: Any, table: str, moment: int) -> pa.Table:
    return spark.sql(f"SELECT * FROM {table} TIMESTAMP AS OF '{as_text(moment)}'").toArrow()


def print_of(rows: pa.Table, fields: Sequence[Field]) -> Fingerprint:
    return fingerprint(rows.to_batches(), fields)


def plain_path(location: str) -> str:
    """`file:/a` and `file:///a` as `/a`."""
    return "/" + location.removeprefix("file:").lstrip("/")


def as_text(moment: int) -> str:
    """Milliseconds as SQL writes them."""
    return datetime.fromtimestamp(moment // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S") + f".{moment % 1000:03}"


def _duckdb_scan(metadata_location: str, moment: str) -> pa.Table:
    connection = _duckdb().cursor()
    return connection.execute(f"SELECT * FROM iceberg_scan('{plain_path(metadata_location)}', {moment})").to_arrow_table()


@cache
def _duckdb() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    for module in (duckdb_extension_avro, duckdb_extension_iceberg):
        extension = next(Path(module.__file__).parent.glob(f"extensions/v{duckdb.__version__}/*.duckdb_extension"))
        connection.execute(f"LOAD '{extension}'")
    return connection.execute("SET GLOBAL TimeZone = 'UTC'; SET GLOBAL enable_external_file_cache = false")
