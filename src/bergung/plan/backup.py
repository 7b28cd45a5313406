"""What a backup would do, told from metadata files alone."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TablePlan:
    """One table. New files and bytes are what its new snapshots say they added: None where one says nothing."""

    table: str
    metadata_location: str
    cut: str
    changed: bool
    new_snapshots: int
    new_files: int | None
    new_bytes: int | None
    prefixes: tuple[str, ...]
    """Where the table's files may be read."""


@dataclass(frozen=True)
class BackupPlan:
    """All tables at one instant, and those that cannot be read."""

    cut_at: str
    tables: tuple[TablePlan, ...]
    failed: dict[str, str]
