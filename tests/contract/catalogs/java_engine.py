"""Iceberg's Java JdbcCatalog, through Spark, as the other program."""

from itertools import count
from pathlib import Path

from pyspark.sql import Row, SparkSession

from bergung.model.names import TableName
from bergung.spark.session import iceberg_catalog_conf

_NUMBERS = count()


class JavaEngine:
    """A warehouse in a folder, its catalog in one SQLite file; a name of its own, for Spark keeps catalogs open."""

    def __init__(self, spark: SparkSession, database: Path, warehouse: Path, schema_version: str) -> None:
        self.name = f"lake{next(_NUMBERS)}"
        self._spark = spark
        settings = iceberg_catalog_conf(self.name, warehouse, database)
        settings[f"spark.sql.catalog.{self.name}.jdbc.schema-version"] = schema_version
        for key, value in settings.items():
            if key.startswith("spark.sql.catalog."):
                spark.conf.set(key, value)

    def create_namespace(self, levels: tuple[str, ...], properties: dict[str, str]) -> None:
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        with_properties = f" WITH DBPROPERTIES ({pairs})" if pairs else ""
        self.sql(f"CREATE NAMESPACE {self._quoted(*levels)}{with_properties}")

    def properties(self, levels: tuple[str, ...]) -> dict[str, str]:
        rows = self.sql(f"DESCRIBE NAMESPACE EXTENDED {self._quoted(*levels)}")
        text = next(row.info_value for row in rows if row.info_name == "Properties")
        pairs = text.removeprefix("((").removesuffix("))").split("), (")
        return {key: value for key, _, value in (pair.partition(",") for pair in pairs)}

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

    def _of(self, table: TableName) -> str:
        return self._quoted(*table.namespace, table.name)

    def _quoted(self, *levels: str) -> str:
        return ".".join("`" + level.replace("`", "``") + "`" for level in (self.name, *levels))
