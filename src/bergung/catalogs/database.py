"""What a SQL catalog asks of the database that it is kept in."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol


class Rows(Protocol):
    """The answer to a statement."""

    @property
    def rowcount(self) -> int:
        """How many rows were changed."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """The rows that were found."""
        ...


class Connection(Protocol):
    """An open transaction. Values stand in a statement by name: `WHERE catalog_name = :catalog`."""

    def execute(self, statement: str, values: Mapping[str, str] = ..., /) -> Rows:
        """Carry out one statement."""
        ...

    def columns(self, table: str) -> list[str]:
        """The names of its columns; none when there is no such table."""
        ...


class Database(Protocol):
    """Nothing is asked before one of these is entered; what goes wrong inside is told as an error of ours."""

    def reading(self) -> AbstractContextManager[Connection]:
        """One read transaction: everything that is asked inside is of one instant."""
        ...

    def writing(self) -> AbstractContextManager[Connection]:
        """All that is done inside, or nothing when an error leaves it; our writers take turns."""
        ...
