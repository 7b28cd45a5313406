"""The lake is written in SQL, so this is all that it needs of Spark."""

from typing import Any, Protocol


class Sql(Protocol):
    """A Spark session, classic or Connect."""

    def sql(self, text: str, /) -> Any:
        """Carry out one statement."""
        ...


def run(spark: Sql, *statements: str) -> None:
    """One statement after the other."""
    for statement in statements:
        spark.sql(statement)


def call(spark: Sql, table: str, procedure: str, arguments: str = "") -> None:
    """One of Iceberg's procedures on a table given by its full name."""
    catalog, _, name = table.partition(".")
    spark.sql(f"CALL {catalog}.system.{procedure}(table => '{name}'{arguments})")


def first_snapshot(spark: Sql, table: str) -> int:
    """The id of the oldest snapshot that the table still has."""
    return int(spark.sql(f"SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at LIMIT 1").collect()[0][0])
