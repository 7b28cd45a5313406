"""What a user asks of a restore."""

from dataclasses import dataclass

PROTECTED_DAYS = 7


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
    to: str | None = None
    """Another name, or a pattern like `other.*`."""
    location: str | None = None
    """Another place; the folder of them all when `to` is a pattern."""
    maps: tuple[tuple[str, str], ...] = ()
    """Where folders outside a table's own go."""
    new_uuid: bool | None = None
    """None: a copy beside its living original gets one."""
    protected_days: int = PROTECTED_DAYS
    """So long no expiry takes what a copy brought back."""
