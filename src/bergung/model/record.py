"""The record of a recovery point, as `docs/format.md` has it, key for key."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Count:
    """Some files and their bytes."""

    files: int = 0
    bytes: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.files + other.files, self.bytes + other.bytes)


@dataclass(frozen=True)
class MetadataFile:
    """The table's own metadata.json in the vault: the root that everything else hangs from."""

    blob_key: str
    digest: str
    size_bytes: int
    source_version: str


@dataclass(frozen=True)
class Missing:
    """How many files are lost or damaged, and the first of them."""

    count: int = 0
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableEntry:
    """One table in a recovery point."""

    uuid: str | None
    identity: str
    table_format_version: int
    location: str
    original_location: str
    metadata_location: str
    metadata_file: MetadataFile
    snapshot_id: int | None
    schema_version: int | None
    captured: str
    status: str
    cut: str
    answers: dict[str, str]
    """`from` and `to`: the span of time for which the point knows the whole history of the table."""
    located_at: str
    changed: bool
    new_files: dict[str, Count]
    deleted_files: int
    receipts: str
    missing: Missing = Missing()
    noted: tuple[str, ...] = ()
    total_files: int | None = None
    total_size_bytes: int | None = None
    total_rows: int | None = None
    locked_until: str | None = None
    encrypted: bool = False
    """With table keys: what lies below its folders was captured, since nobody could read which files it has."""
    served: str | None = None
    """`only` or `differs`: the catalog gives out metadata that no file has, and that is what was captured."""


@dataclass(frozen=True)
class Cut:
    """The one instant that the point stands for, and how many tables hold it in which way."""

    at: str
    exact: int
    clock: int
    later: int


@dataclass(frozen=True)
class BackupMetadata:
    """Who made the point, when, how, and what it does not hold."""

    backup_id: str
    run_id: str
    backup_type: str
    base_backup_id: str | None
    timestamp: str
    databases: tuple[str, ...]
    retention_days: int | None
    tool_version: str
    status: str
    failed: dict[str, str]
    cut: Cut
    compression: str = "none"
    format_version: int = 1
    not_captured: tuple[str, ...] = ("grants", "views")


@dataclass(frozen=True)
class Statistics:
    """Sums over the tables of a point."""

    total_tables: int
    total_files: int
    total_size_bytes: int
    total_rows: int
    new_file_count: int
    new_size_bytes: int
    stored_bytes: int


@dataclass(frozen=True)
class Record:
    """The whole document."""

    backup_metadata: BackupMetadata
    tables: dict[str, TableEntry]
    namespaces: dict[str, dict[str, str]]
    statistics: Statistics
    views: dict[str, object] = field(default_factory=dict)
