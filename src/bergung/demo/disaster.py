"""What goes wrong in the demo: one table is purged, another loses files and has one cut short."""

from collections.abc import Iterator
from pathlib import Path

from bergung.demo.sql import Sql


def purge(spark: Sql, table: str) -> None:
    """The table and all its files."""
    spark.sql(f"DROP TABLE {table} PURGE")


def damage(folder: Path) -> int:
    """Every third data file goes, and the newest manifest list is cut in half; the number of files hit."""
    lost = list(_every_third(sorted((folder / "data").rglob("*.parquet"))))
    for path in lost:
        path.unlink()
    newest = max((folder / "metadata").glob("snap-*.avro"), key=lambda path: path.stat().st_mtime_ns)
    newest.write_bytes(newest.read_bytes()[: newest.stat().st_size // 2])
    return len(lost) + 1


def _every_third(paths: list[Path]) -> Iterator[Path]:
    yield from paths[::3]
