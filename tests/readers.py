"""Readers of Iceberg tables that are not ours: PyIceberg, DuckDB (C++), and Spark's runtime (Java).

PyIceberg and DuckDB are given a metadata file, so no catalog is asked; each read starts cold, without caches that could
hide a lost or changed file.
"""

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import duckdb_extension_avro
import duckdb_extension_iceberg
import pyarrow as pa
from pyiceberg.io import load_file_io
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
    reach: Mapping[str, str] = field(default_factory=dict, repr=False)
    """How PyIceberg comes to its files, by PyIceberg's properties."""

    @property
    def is_local(self) -> bool:
        """Then DuckDB reads it too: for object stores it would have to fetch an extension."""
        return is_local(self.location)

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


def table_file(location: str, reach: Mapping[str, str] | None = None) -> TableFile:
    content = Path(plain_path(location)).read_bytes() if is_local(location) else _content(location, reach or {})
    text = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    return TableFile(location, json.loads(text), reach or {})


def reach(spark: Any, table: str) -> dict[str, str]:
    """How Spark's catalog of this table comes to its files; PyIceberg knows these properties by the same names."""
    prefix = f"spark.sql.catalog.{table.partition('.')[0]}."
    declared = spark.conf.getAll if spark is not None else {}
    own = {key.removeprefix(prefix): value for key, value in declared.items() if key.startswith(prefix)}
    return {key: value for key, value in own.items() if key.startswith(("s3.", "client."))}


def all_snapshots(metadata_location: str) -> list[int]:
    """Every snapshot that the metadata file retains, also those of branches."""
    return table_file(metadata_location).snapshot_ids


def rows_by_pyiceberg(metadata_location: str, snapshot_id: int, reach: Mapping[str, str] | None = None) -> pa.Table:
    clear_manifest_cache()
    return StaticTable.from_metadata(metadata_location, dict(reach or {})).scan(snapshot_id=snapshot_id).to_arrow()


def rows_by_pyiceberg_at(metadata_location: str, moment: int, reach: Mapping[str, str] | None = None) -> pa.Table:
    clear_manifest_cache()
    table = StaticTable.from_metadata(metadata_location, dict(reach or {}))
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


def is_local(location: str) -> bool:
    return location.startswith(("/", "file:"))


def plain_path(location: str) -> str:
    """`file:/a` and `file:///a` as `/a`."""
    return "/" + location.removeprefix("file:").lstrip("/")


def as_text(moment: int) -> str:
    """Milliseconds as SQL writes them."""
    return datetime.fromtimestamp(moment // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S") + f".{moment % 1000:03}"


def _content(location: str, reach: Mapping[str, str]) -> bytes:
    with load_file_io(dict(reach), location).new_input(location).open() as stream:
        return stream.read()


def _duckdb_scan(metadata_location: str, moment: str) -> pa.Table:
    connection = _duckdb().cursor()
    path = plain_path(metadata_location).replace("'", "''")
    return connection.execute(f"SELECT * FROM iceberg_scan('{path}', {moment})").to_arrow_table()


@cache
def _duckdb() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    for module in (duckdb_extension_avro, duckdb_extension_iceberg):
        extension = next(Path(module.__file__).parent.glob(f"extensions/v{duckdb.__version__}/*.duckdb_extension"))
        connection.execute(f"LOAD '{extension}'")
    return connection.execute("SET GLOBAL TimeZone = 'UTC'; SET GLOBAL enable_external_file_cache = false")
