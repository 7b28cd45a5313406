"""The second day of each table of the demo lake."""

from bergung.demo.sql import Sql, call, first_snapshot, run


def visits(spark: Sql, table: str, rows: int) -> None:
    """More visits."""
    new = f"range({rows}, {rows} + {rows} / 10)"
    run(spark, f"INSERT INTO {table} SELECT id, '/home', timestamp '2025-03-04' FROM {new}")


def orders(spark: Sql, table: str, rows: int) -> None:
    """New orders, cancelled orders, then compaction: old data and delete files leave the current snapshot."""
    run(
        spark,
        f"INSERT INTO {table} SELECT id, int(id % 100), id / 4, 'DE' FROM range({rows}, {rows} + {rows} / 10)",
        f"DELETE FROM {table} WHERE order_id % 40 = 9",
    )
    call(spark, table, "rewrite_data_files", ", options => map('rewrite-all', 'true')")


def payments(spark: Sql, table: str, rows: int) -> None:
    """A merge that updates, deletes and inserts: deletion vectors are replaced."""
    run(
        spark,
        f"""MERGE INTO {table} t USING (SELECT id * 30 AS id FROM range({rows} / 25)) s ON t.payment_id = s.id
            WHEN MATCHED AND s.id % 60 = 0 THEN DELETE
            WHEN MATCHED THEN UPDATE SET note = 'refunded', amount = 0
            WHEN NOT MATCHED THEN INSERT (payment_id, amount, note) VALUES (s.id, 1, 'late')""",
    )


def places(spark: Sql, table: str, rows: int) -> None:
    """A new place; manifests are merged into one."""
    run(spark, f"INSERT INTO {table} SELECT id, 'new place', date '2025-03-01' FROM range({rows}, {rows} + 10)")
    call(spark, table, "rewrite_manifests")


def products(spark: Sql, table: str, rows: int) -> None:
    """The schema goes on changing."""
    run(
        spark,
        f"ALTER TABLE {table} ADD COLUMN colour STRING AFTER title",
        f"INSERT INTO {table} (id, title, colour) VALUES ({rows}, 'zebra', 'black'), ({rows} + 1, 'zebra', 'white')",
        f"DELETE FROM {table} WHERE id % 10 = 1",
    )


def customers(spark: Sql, table: str, rows: int) -> None:
    """A third commit, and the first snapshots that no branch or tag keeps are expired."""
    run(spark, f"ALTER TABLE {table} DROP TAG opening", f"INSERT INTO {table} VALUES (-3, 'somebody', 'FR')")
    call(spark, table, "expire_snapshots", f", snapshot_ids => array({first_snapshot(spark, table)})")


def nothing(spark: Sql, table: str, rows: int) -> None:
    """A day off."""
