"""Rows of an Iceberg table by its metadata file: no catalog of the user's is asked, and what is read stays the same.

Spark reads a path directly, by Hadoop's file systems. For S3 it has none: there a passing catalog of Iceberg's own, in memory,
holds the one entry, and Iceberg's own S3 client reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from bergung.stores.access import Access
from bergung.stores.open import is_far

LINEAGE = ("_last_updated_sequence_number", "_row_id")
_ENTRY = "bergung.entry"


@dataclass(frozen=True)
class TableAt:
    """A table by its metadata file, and how its files are reached."""

    metadata_location: str
    access: Access | None = field(default=None, repr=False)


class OpenTable:
    """A table that this session can read."""

    def __init__(self, session: SparkSession, table: TableAt) -> None:
        self._session = session
        self._named = _registered(session, table) if _needs_entry(table.metadata_location) else ""
        self._path = table.metadata_location

    def frame(self, snapshot_id: int | None, *, lineage: bool = False) -> DataFrame:
        """All rows of a snapshot under the schema that it was written with; without one, of the table as it is now."""
        reader = self._session.read.format("iceberg")
        if snapshot_id is not None:
            reader = reader.option("versionAsOf", snapshot_id)
        found = reader.table(self._named) if self._named else reader.load(self._path)
        return found.select("*", *LINEAGE) if lineage else found


def _needs_entry(path: str) -> bool:
    """What follows a # in a path is, to Iceberg, the name of a metadata table."""
    return is_far(path) or "#" in path


def _registered(session: SparkSession, table: TableAt) -> str:
    """The full name of the entry. Keys are settings of Spark's only until the catalog is there, and no job runs meanwhile."""
    name = f"bergung_{uuid4().hex[:12]}"
    settings = {f"spark.sql.catalog.{name}{key}": value for key, value in _settings(name, table.access).items()}
    for key, value in settings.items():
        session.conf.set(key, value)
    try:
        session.sql(f"CREATE NAMESPACE {name}.bergung")
    finally:
        for key in settings:
            session.conf.unset(key)
    call = f"CALL {name}.system.register_table(table => '{_ENTRY}', metadata_file => :location)"
    try:
        session.sql(call, {"location": table.metadata_location})
    except PySparkException:
        # When the entry is made the procedure counts its rows, by a summary that old writers left out.
        if not session.catalog.tableExists(f"{name}.{_ENTRY}"):
            raise
    return f"{name}.{_ENTRY}"


def _settings(name: str, access: Access | None) -> Mapping[str, str]:
    return {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
        ".uri": f"jdbc:sqlite:file:{name}?mode=memory&cache=shared",
        ".jdbc.schema-version": "V1",
        ".warehouse": "file:/nowhere",
        ".io-impl": "org.apache.iceberg.io.ResolvingFileIO",
        ".cache-enabled": "false",
        **({} if access is None else {f".{key}": value for key, value in _of_s3(access).items()}),
    }


def _of_s3(access: Access) -> dict[str, Any]:
    """In the words of Iceberg's S3FileIO."""
    found = {
        "s3.endpoint": access.endpoint,
        "client.region": access.region,
        "s3.access-key-id": access.key_id,
        "s3.secret-access-key": access.secret,
        "s3.session-token": access.token,
        "s3.path-style-access": "true" if access.endpoint and not access.virtual_hosts else "",
        "client.credentials-provider": "software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider"
        if access.anonymous
        else "",
    }
    return {key: value for key, value in found.items() if value}
