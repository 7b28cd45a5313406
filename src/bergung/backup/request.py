"""What a user asks of a backup."""

from dataclasses import dataclass

ALL, METADATA = "all", "metadata"


@dataclass(frozen=True)
class BackupRequest:
    """The words of the command."""

    words: tuple[str, ...]
    exclude: tuple[str, ...] = ()
    allow_prefixes: tuple[str, ...] = ()
    captured: str = ALL
    keep_days: int | None = None
    lock_days: int | None = None
    """So long nobody shall be able to delete what the point needs."""
