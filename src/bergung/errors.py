"""Every error a user can meet, with its exit code and a hint.

BergungError                 1   failed
├── UsageError               2   the words of the command, or the settings, do not fit
│   └── UnknownTable         2   no such table, or a pattern that matches nothing
├── PartialResult            3   some tables done, others not; they are named
├── PolicyViolated           4   a policy or an RPO is not kept
├── DamageFound              5   bytes are missing or are not what they should be
│   └── CorruptFile          5   a file that cannot be read as what it should be
├── Different                6   compared, and not the same
├── NoVault                 10   there is no vault here
├── Busy                    11   somebody else holds it
│   └── ObjectExists        11   create-only write met an object of that name
├── NotAllowed              12   the store or the catalog says no
├── VaultTooNew             13   written by a newer Bergung
├── Refused                 14   a safety rule says no
│   ├── UnsupportedTable    14   a table of a kind that is not handled
│   └── UnmappedPath        14   a path that must move and has no place to go
├── SourceChanged           20   the world moved while we looked; retry
├── StoreError               1   the store failed
│   ├── MissingObject        1   no object of that name
│   └── StoreFull            1   no room left
└── Interrupted            130   stopped by the user; can be resumed
"""

from collections.abc import Iterator
from typing import Any


class BergungError(Exception):
    """The message is a lower-case fact without a full stop; the hint says what to do."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors cross process borders on their way back from executors.
        return type(self), (self.message, self.hint)


class UsageError(BergungError):
    """The words of the command, or the settings, do not fit."""

    exit_code = 2


class UnknownTable(UsageError):
    """No such table, or a pattern that matches nothing."""


class PartialResult(BergungError):
    """Some tables are done, others are not; the message names them."""

    exit_code = 3


class PolicyViolated(BergungError):
    """A policy or an RPO is not kept."""

    exit_code = 4


class DamageFound(BergungError):
    """Bytes are missing or are not what they should be."""

    exit_code = 5


class CorruptFile(DamageFound):
    """A file that cannot be read as what it should be."""


class Different(BergungError):
    """Compared, and not the same."""

    exit_code = 6


class NoVault(BergungError):
    """There is no vault at this address."""

    exit_code = 10


class Busy(BergungError):
    """Somebody else holds what this command needs."""

    exit_code = 11


class ObjectExists(Busy):
    """A create-only write met an object of that name."""


class NotAllowed(BergungError):
    """The store or the catalog says no."""

    exit_code = 12


class VaultTooNew(BergungError):
    """The vault was written by a newer Bergung."""

    exit_code = 13


class Refused(BergungError):
    """A safety rule says no."""

    exit_code = 14


class UnsupportedTable(Refused):
    """A table of a kind that this version does not handle."""


class UnmappedPath(Refused):
    """A path that must move and that no pair of folders covers."""

    def __init__(self, message: str, hint: str = "", paths: tuple[str, ...] = (), count: int = 0) -> None:
        super().__init__(message, hint)
        self.paths = paths
        """The first of them, at most a hundred."""
        self.count = count or len(paths)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.hint, self.paths, self.count)


class SourceChanged(BergungError):
    """The world moved while we looked; the same command can be tried again."""

    exit_code = 20


class StoreError(BergungError):
    """The store failed."""


class MissingObject(StoreError):
    """No object of that name."""


class StoreFull(StoreError):
    """No room left in the store."""


class Interrupted(BergungError):
    """Stopped by the user; the same command goes on where it stopped."""

    exit_code = 130


def error_class(name: str) -> type[BergungError]:
    """The class of that name in the tree; BergungError itself for a name that is not there."""
    return next((class_ for class_ in _tree(BergungError) if class_.__name__ == name), BergungError)


def _tree(root: type[BergungError]) -> Iterator[type[BergungError]]:
    yield root
    for child in root.__subclasses__():
        yield from _tree(child)
