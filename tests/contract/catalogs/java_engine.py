"""A catalog of Iceberg's Java library, through Spark, as the other program."""

from collections.abc import Mapping
from itertools import count
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from bergung.model.names import TableName
from tests.servers.postgres import PASSWORD, Postgres
from tests.servers.process import HOST

EXTENSIONS = {"spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"}
"""A process has one session, so whoever opens it first opens it so for all."""
_NUMBERS = count()
_JDBC = {"catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog"}


class JavaEngine:
    """A catalog by its settings; a name of its own, for Spark keeps catalogs open."""

    def __init__(self, spark: SparkSession, settings: Mapping[str, str]) -> None:
        self.name = f"lake{next(_NUMBERS)}"
        self._spark = spark
        catalog = f"spark.sql.catalog.{self.name}"
        spark.conf.set(catalog, "org.apache.iceberg.spark.SparkCatalog")
        for key, value in {"cache-enabled": "false", **settings}.items():
            spark.conf.set(f"{catalog}.{key}", value)

    def called(self) -> str:
        return self.name

    def create_namespace(self, levels: tuple[str, ...], properties: dict[str, str]) -> None:
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        with_properties = f" WITH DBPROPERTIES ({pairs})" if pairs else ""
        self.sql(f"CREATE NAMESPACE {self._quoted(*levels)}{with_properties}")

    def properties(self, levels: tuple[str, ...]) -> dict[str, str]:
        rows = self.sql(f"DESCRIBE NAMESPACE EXTENDED {self._quoted(*levels)}")
        told = {row.info_name: row.info_value for row in rows}
        pairs = told["Properties"].removeprefix("((").removesuffix("))").split("), (")
        # Spark tells one property beside the others.
        comment = {"comment": told["Comment"]} if told.get("Comment") else {}
        return {**comment, **{key: value for key, _, value in (pair.partition(",") for pair in pairs)}}

    def create_table(self, table: TableName) -> None:
        self.sql(f"CREATE TABLE {self._of(table)} (value BIGINT) USING iceberg")

    def append(self, table: TableName, value: int) -> None:
        self.sql(f"INSERT INTO {self._of(table)} VALUES ({value})")

    def pointer(self, table: TableName) -> str:
        files = self.sql(f"SELECT file FROM {self._of(table)}.metadata_log_entries ORDER BY timestamp")
        return str(files[-1].file)

    def rows(self, table: TableName) -> list[int]:
        return [row.value for row in self.sql(f"SELECT value FROM {self._of(table)} ORDER BY value")]

    def tables(self, levels: tuple[str, ...]) -> set[str]:
        return {row.tableName for row in self.sql(f"SHOW TABLES IN {self._quoted(*levels)}")}

    def sql(self, statement: str) -> list[Row]:
        return self._spark.sql(statement).collect()

    def refused(self, statement: str) -> str:
        """What Spark says instead of doing it."""
        with pytest.raises(PySparkException) as told:
            self.sql(statement)
        return str(told.value)

    def _of(self, table: TableName) -> str:
        return self._quoted(*table.namespace, table.name)

    def _quoted(self, *levels: str) -> str:
        return ".".join("`" + level.replace("`", "``") + "`" for level in (self.name, *levels))


def on_sqlite(database: Path, warehouse: Path, schema_version: str) -> dict[str, str]:
    """A warehouse in a folder, its JdbcCatalog in one SQLite file."""
    return {**_JDBC, "uri": f"jdbc:sqlite:file:{database}", "warehouse": warehouse.as_uri(), "jdbc.schema-version": schema_version}


def on_postgres(server: Postgres, warehouse: Path, schema_version: str) -> dict[str, str]:
    """The same in a database of PostgreSQL."""
    uri = f"jdbc:postgresql://{HOST}:{server.port}/{server.database}"
    enter = {"jdbc.user": server.user, "jdbc.password": PASSWORD, "jdbc.schema-version": schema_version}
    return {**_JDBC, "uri": uri, "warehouse": warehouse.as_uri(), **enter}
