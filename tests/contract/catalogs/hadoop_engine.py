"""Iceberg's Java HadoopCatalog, through Spark, as the other program."""

from itertools import count

from pyspark.sql import SparkSession

from tests.contract.catalogs.java_engine import JavaEngine

_NUMBERS = count()


class HadoopEngine(JavaEngine):
    """A warehouse folder, which is the catalog; a name of its own, for Spark keeps catalogs open."""

    def __init__(self, spark: SparkSession, warehouse: str, more: dict[str, str] | None = None) -> None:
        self.name = f"folder{next(_NUMBERS)}"
        self._spark = spark
        catalog = f"spark.sql.catalog.{self.name}"
        settings = {"type": "hadoop", "warehouse": warehouse, "cache-enabled": "false", **(more or {})}
        spark.conf.set(catalog, "org.apache.iceberg.spark.SparkCatalog")
        for key, value in settings.items():
            spark.conf.set(f"{catalog}.{key}", value)
