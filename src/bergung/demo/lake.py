"""A small lake of several tables: every format version, deletes of both kinds, evolved schemas, odd names."""

from collections.abc import Callable
from dataclasses import dataclass

from bergung.demo import history, tables
from bergung.demo.sql import Sql, run

SHOP = "shop"
NORTH = "shop.eu.north"
ROW_COUNT = 2000


@dataclass(frozen=True)
class DemoTable:
    """One table of the lake: its name below the catalog, how it is made, and how its second day goes."""

    name: str
    make: Callable[[Sql, str, int], None]
    go_on: Callable[[Sql, str, int], None]


TABLES = (
    DemoTable(f"{SHOP}.visits", tables.visits, history.visits),
    DemoTable(f"{SHOP}.orders", tables.orders, history.orders),
    DemoTable(f"{SHOP}.payments", tables.payments, history.payments),
    DemoTable(f"{SHOP}.places", tables.places, history.places),
    DemoTable(f"{SHOP}.products", tables.products, history.products),
    DemoTable(f"{SHOP}.customers", tables.customers, history.customers),
    DemoTable(f"{SHOP}.wishes", tables.wishes, history.nothing),
    DemoTable(f"{NORTH}.stock", tables.stock, history.nothing),
)


def make_lake(spark: Sql, catalog: str, rows: int = ROW_COUNT) -> list[str]:
    """Make the namespaces and all tables, each with some history; the full names of the tables."""
    run(
        spark,
        f"CREATE NAMESPACE {catalog}.{SHOP} WITH DBPROPERTIES ('team' = 'sales', 'comment' = 'all of the shop')",
        f"CREATE NAMESPACE {catalog}.{SHOP}.eu",
        f"CREATE NAMESPACE {catalog}.{NORTH} WITH DBPROPERTIES ('team' = 'logistics')",
    )
    for table in TABLES:
        table.make(spark, f"{catalog}.{table.name}", rows)
    return [f"{catalog}.{table.name}" for table in TABLES]


def commit_more(spark: Sql, catalog: str, rows: int = ROW_COUNT) -> None:
    """The second day: appends, deletes, merges, compaction, rewritten manifests, an expired snapshot.

    `wishes` and `stock` stay as they are.
    """
    for table in TABLES:
        table.go_on(spark, f"{catalog}.{table.name}", rows)
