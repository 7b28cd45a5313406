"""The two tables of every SQL catalog, as statements.

Column for column what PyIceberg's SqlCatalog makes. Iceberg's Java JdbcCatalog makes the same without iceberg_type
(schema V0, its default) or with it (V1). With it, views stand beside the tables, and no type means a table.
"""

from dataclasses import dataclass

from bergung.catalogs.database import Connection

_TABLES = """CREATE TABLE IF NOT EXISTS iceberg_tables (
    catalog_name VARCHAR(255) NOT NULL,
    table_namespace VARCHAR(255) NOT NULL,
    table_name VARCHAR(255) NOT NULL,
    metadata_location VARCHAR(1000),
    previous_metadata_location VARCHAR(1000),
    iceberg_type VARCHAR(5),
    PRIMARY KEY (catalog_name, table_namespace, table_name)
)"""
_PROPERTIES = """CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
    catalog_name VARCHAR(255) NOT NULL,
    namespace VARCHAR(255) NOT NULL,
    property_key VARCHAR(255) NOT NULL,
    property_value VARCHAR(1000) NOT NULL,
    PRIMARY KEY (catalog_name, namespace, property_key)
)"""
_MARKER = "exists"
"""Java reserves this property: by it a namespace without any other, and without tables, is there at all."""


@dataclass(frozen=True)
class Entry:
    """A row of iceberg_tables; the namespace as its one text."""

    namespace: str
    name: str
    metadata_location: str
    """Empty when the row names no file."""
    previous_location: str | None
    kind: str | None

    @property
    def is_table(self) -> bool:
        """False for a view."""
        return self.kind in (None, "TABLE")


class Entries:
    """What one catalog has in an open database; in a database without these tables it has nothing."""

    def __init__(self, connection: Connection, catalog: str) -> None:
        self._connection = connection
        self._catalog = catalog
        self._look()

    def _look(self) -> None:
        columns = self._connection.columns("iceberg_tables")
        self.has_tables = bool(columns)
        self._has_kinds = "iceberg_type" in columns
        self._has_properties = bool(self._connection.columns("iceberg_namespace_properties"))

    def create_schema(self) -> None:
        """Make the tables that are missing."""
        if not (self.has_tables and self._has_properties):
            self._connection.execute(_TABLES)
            self._connection.execute(_PROPERTIES)
            self._look()

    def all(self) -> list[Entry]:
        """Every row of this catalog."""
        return self._select("")

    def find(self, namespace: str, name: str) -> list[Entry]:
        """The one row of that name, or none."""
        return self._select(" AND table_namespace = :namespace AND table_name = :name", namespace=namespace, name=name)

    def _select(self, condition: str, **values: str) -> list[Entry]:
        if not self.has_tables:
            return []
        kind = "iceberg_type" if self._has_kinds else "NULL"
        rows = self._connection.execute(
            f"SELECT table_namespace, table_name, COALESCE(metadata_location, ''), previous_metadata_location, {kind}"
            f" FROM iceberg_tables WHERE catalog_name = :catalog{condition}",
            {"catalog": self._catalog, **values},
        )
        return [Entry(*row) for row in rows]

    def add(self, namespace: str, name: str, metadata_location: str) -> bool:
        """False when a row of that name, be it a view, is there."""
        kind = (", iceberg_type", ", 'TABLE'") if self._has_kinds else ("", "")
        done = self._connection.execute(
            f"INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location{kind[0]})"
            f" VALUES (:catalog, :namespace, :name, :location{kind[1]}) ON CONFLICT DO NOTHING",
            {"catalog": self._catalog, "namespace": namespace, "name": name, "location": metadata_location},
        )
        return done.rowcount == 1

    def swap(self, entry: Entry, metadata_location: str) -> bool:
        """Point the row that was read somewhere else; False when it is not as it was any more."""
        done = self._connection.execute(
            "UPDATE iceberg_tables SET metadata_location = :location, previous_metadata_location = :expected"
            " WHERE catalog_name = :catalog AND table_namespace = :namespace AND table_name = :name"
            " AND metadata_location = :expected",
            {
                "location": metadata_location,
                "expected": entry.metadata_location,
                "catalog": self._catalog,
                "namespace": entry.namespace,
                "name": entry.name,
            },
        )
        return done.rowcount == 1

    def properties(self) -> dict[str, dict[str, str]]:
        """Of every namespace that has some; without the marker."""
        found: dict[str, dict[str, str]] = {}
        if self._has_properties:
            for namespace, key, value in self._connection.execute(
                "SELECT namespace, property_key, property_value FROM iceberg_namespace_properties WHERE catalog_name = :catalog",
                {"catalog": self._catalog},
            ):
                own = found.setdefault(namespace, {})
                if key != _MARKER:
                    own[key] = value
        return found

    def add_properties(self, namespace: str, properties: dict[str, str]) -> None:
        """Make a namespace, as Java does: with the marker, so that it stays when its last property goes."""
        for key, value in {**properties, _MARKER: "true"}.items():
            self._connection.execute(
                "INSERT INTO iceberg_namespace_properties (catalog_name, namespace, property_key, property_value)"
                " VALUES (:catalog, :namespace, :key, :value)",
                {"catalog": self._catalog, "namespace": namespace, "key": key, "value": value},
            )

    def has_namespace(self, namespace: str) -> bool:
        """By a property of its own, or by anything that is in it or below it."""
        return (self.has_tables and self._is_used("iceberg_tables", "table_namespace", namespace)) or (
            self._has_properties and self._is_used("iceberg_namespace_properties", "namespace", namespace)
        )

    def _is_used(self, table: str, column: str, namespace: str) -> bool:
        # Not LIKE: names may contain its wildcards.
        rows = self._connection.execute(
            f"SELECT 1 FROM {table} WHERE catalog_name = :catalog"
            f" AND ({column} = :namespace OR substr({column}, 1, length(:inside)) = :inside) LIMIT 1",
            {"catalog": self._catalog, "namespace": namespace, "inside": f"{namespace}."},
        )
        return any(rows)

    def other_catalogs(self) -> list[str]:
        """Names of the other catalogs with entries in this database."""
        if not self.has_tables:
            return []
        rows = self._connection.execute(
            "SELECT DISTINCT catalog_name FROM iceberg_tables WHERE catalog_name <> :catalog ORDER BY 1",
            {"catalog": self._catalog},
        )
        return [name for (name,) in rows]
