"""The tables of the demo lake, one function each; `rows` is about how many rows a table gets."""

from bergung.demo.sql import Sql, call, run

MERGE_ON_READ = ", ".join(f"'write.{verb}.mode' = 'merge-on-read'" for verb in ("delete", "update", "merge"))
ODD_NAMES = ("São Paulo", "50% off", "1+1", "x, y", "a/b", "k=v", "%2F", "東京", "dot.", "it''s", "")


def visits(spark: Sql, table: str, rows: int) -> None:
    """Format version 1, partitioned by day."""
    run(
        spark,
        f"""CREATE TABLE {table} (visit_id BIGINT, page STRING, at TIMESTAMP) USING iceberg
            PARTITIONED BY (days(at)) TBLPROPERTIES ('format-version' = '1')""",
        f"""INSERT INTO {table} SELECT id, concat('/page/', id % 50),
            timestamp '2025-03-01' + make_interval(0, 0, 0, 0, id % 72) FROM range({rows})""",
        f"DELETE FROM {table} WHERE visit_id % 10 = 3",
    )


def orders(spark: Sql, table: str, rows: int) -> None:
    """Format version 2 with position deletes: rows are taken away when the table is read."""
    run(
        spark,
        f"""CREATE TABLE {table} (order_id BIGINT, customer_id INT, total DECIMAL(12, 2), country STRING) USING iceberg
            PARTITIONED BY (country) TBLPROPERTIES ('format-version' = '2', {MERGE_ON_READ})""",
        f"""INSERT INTO {table} SELECT id, int(id % 100), id / 4, element_at(array('DE', 'FR', 'IT'), int(id % 3) + 1)
            FROM range({rows})""",
        f"DELETE FROM {table} WHERE order_id % 20 = 7",
        f"UPDATE {table} SET total = total + 1 WHERE order_id % 25 = 4 AND country = 'FR'",
    )


def payments(spark: Sql, table: str, rows: int) -> None:
    """Format version 3: deletion vectors, and rows that keep their ids."""
    run(
        spark,
        f"""CREATE TABLE {table} (payment_id BIGINT, amount DOUBLE, paid_at TIMESTAMP_NTZ, note STRING) USING iceberg
            PARTITIONED BY (bucket(2, payment_id)) TBLPROPERTIES ('format-version' = '3', {MERGE_ON_READ})""",
        f"""INSERT INTO {table} SELECT id, id / 8, timestamp_ntz '2025-01-01' + make_interval(0, 0, 0, 0, 0, id), NULL
            FROM range({rows})""",
        f"DELETE FROM {table} WHERE payment_id % 30 = 11",
        f"""MERGE INTO {table} t USING (SELECT id * 50 AS id FROM range({rows} / 25)) s ON t.payment_id = s.id
            WHEN MATCHED THEN UPDATE SET note = 'checked'
            WHEN NOT MATCHED THEN INSERT (payment_id, amount) VALUES (s.id, 0)""",
    )


def places(spark: Sql, table: str, rows: int) -> None:
    """Partition values that make trouble in paths."""
    names = ", ".join(f"'{name}'" for name in ODD_NAMES)
    run(
        spark,
        f"""CREATE TABLE {table} (id BIGINT, place STRING, opened DATE) USING iceberg
            PARTITIONED BY (place, months(opened))""",
        f"""INSERT INTO {table} SELECT id, element_at(array({names}, NULL), int(id % {len(ODD_NAMES) + 1}) + 1),
            date '2025-02-01' FROM range({rows} / 4)""",
        f"DELETE FROM {table} WHERE place = 'k=v'",
    )


def products(spark: Sql, table: str, rows: int) -> None:
    """Columns added, renamed, dropped, promoted and moved; partitioned in two ways."""
    numbers, names = f"range({rows} / 2)", "concat(char(97 + id % 3), id)"
    tags, shelves = "array('new', NULL, concat('tag', id % 5))", "map('shelf', int(id % 11), 'store', NULL)"
    run(
        spark,
        f"""CREATE TABLE {table} (id INT, name STRING, weight FLOAT, price DECIMAL(9, 2), old STRING,
            size STRUCT<width: INT, height: INT>, tags ARRAY<STRING>, stock MAP<STRING, INT>) USING iceberg
            PARTITIONED BY (truncate(1, name))""",
        f"""INSERT INTO {table} SELECT int(id), {names}, float(id) / 3, decimal(id) / 8, 'gone',
            named_struct('width', int(id), 'height', int(id % 7)), {tags}, {shelves} FROM {numbers}""",
        f"ALTER TABLE {table} ALTER COLUMN id TYPE BIGINT",
        f"ALTER TABLE {table} ALTER COLUMN weight TYPE DOUBLE",
        f"ALTER TABLE {table} ALTER COLUMN price TYPE DECIMAL(18, 2)",
        f"ALTER TABLE {table} RENAME COLUMN name TO title",
        f"ALTER TABLE {table} DROP COLUMN old",
        f"ALTER TABLE {table} ADD COLUMN old DATE",
        f"ALTER TABLE {table} ADD COLUMN size.depth INT FIRST",
        f"ALTER TABLE {table} REPLACE PARTITION FIELD truncate(1, title) WITH bucket(3, id)",
        f"""INSERT INTO {table} SELECT id, {names}, float(id) / 3, decimal(id) / 8,
            named_struct('depth', 1, 'width', int(id), 'height', NULL), {tags}, {shelves}, date '2025-05-01'
            FROM {numbers}""",
    )


def customers(spark: Sql, table: str, rows: int) -> None:
    """With statistics of its columns and of its partitions, a branch and a tag."""
    run(
        spark,
        f"""CREATE TABLE {table} (customer_id BIGINT, name STRING, country STRING) USING iceberg
            PARTITIONED BY (country) TBLPROPERTIES ('format-version' = '2')""",
        f"""INSERT INTO {table} SELECT id, concat('customer ', id), element_at(array('DE', 'FR'), int(id % 2) + 1)
            FROM range({rows})""",
        f"ALTER TABLE {table} CREATE TAG opening RETAIN 365 DAYS",
        f"INSERT INTO {table} VALUES (-1, NULL, NULL)",
        f"ALTER TABLE {table} CREATE BRANCH trial",
        f"INSERT INTO {table}.branch_trial VALUES (-2, 'nobody', 'DE')",
    )
    call(spark, table, "compute_table_stats")
    call(spark, table, "compute_partition_stats")


def wishes(spark: Sql, table: str, rows: int) -> None:
    """Nothing was ever written: no snapshot."""
    run(spark, f"CREATE TABLE {table} (id BIGINT, wish STRING) USING iceberg")


def stock(spark: Sql, table: str, rows: int) -> None:
    """In a namespace of three levels, with a column of every simple type, nulls and odd numbers."""
    run(
        spark,
        f"""CREATE TABLE {table} (id BIGINT, yes BOOLEAN, ratio FLOAT, share DOUBLE, code BINARY, day DATE,
            seen TIMESTAMP, local TIMESTAMP_NTZ, price DECIMAL(20, 6), words STRING) USING iceberg
            TBLPROPERTIES ('write.metadata.compression-codec' = 'gzip')""",
        f"""INSERT INTO {table} SELECT id, id % 2 = 0, float(id) / 7, id / 7, cast(string(id) AS BINARY),
            date '1969-12-30' + int(id % 9), timestamp '1969-12-31 23:59:59.999999' + make_interval(0, 0, 0, 0, id),
            timestamp_ntz '0001-01-01 00:00:00.000001', -id / 3, repeat('ä', int(id % 5)) FROM range({rows} / 2)""",
        f"""INSERT INTO {table} VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
            (-1, true, float('NaN'), double('-Infinity'), X'', date '9999-12-31',
             timestamp '9999-12-31 23:59:59', NULL, 0, ''),
            (-2, false, float('-0.0'), double('-0.0'), X'00FF', date '0001-01-01',
             NULL, NULL, -0.000001, 'line\\nbreak')""",
    )
