"""What a user asks of a restore."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RestoreRequest:
    """The words of the command."""

    point: str
    words: tuple[str, ...] = ()
    allow_prefixes: tuple[str, ...] = ()
    trust_size: bool = False
    over: bool = False
    """Files that differ may be replaced, and a living table's pointer moved."""
    confirmed_plan: str | None = None
    """The token of the only plan that may be carried out."""
    dry_run: bool = False
