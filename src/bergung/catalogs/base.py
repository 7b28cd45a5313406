"""The seam: what every catalog must do."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from bergung.errors import DamageFound
from bergung.model.names import TableName
from bergung.stores.access import Access


class UnreadableEntry(DamageFound):
    """The catalog has an entry of that name, and whoever runs it cannot read its metadata file: nobody knows the pointer."""


@dataclass(frozen=True)
class Pointer:
    """What a catalog says of a table, read raw: the file is not opened."""

    table: TableName
    metadata_location: str
    previous_location: str | None
    read_at: datetime
    """Just before the catalog was asked: what it says is this old or younger."""
    served: bytes | None = field(default=None, repr=False)
    """The metadata as the catalog itself gives it out, where it gives out more than a pointer. Engines read this."""


@dataclass(frozen=True)
class Namespace:
    """A namespace with its own properties."""

    levels: tuple[str, ...]
    properties: dict[str, str]


class Catalog(Protocol):
    """Raises UnknownTable, Busy, NotAllowed, SourceChanged, UsageError or BergungError, and nothing else."""

    name: str

    def namespaces(self) -> list[Namespace]:
        """All namespaces, nested ones too, sorted."""
        ...

    def tables(self) -> list[TableName]:
        """All tables of the catalog, sorted; views are no tables."""
        ...

    def views(self) -> list[TableName]:
        """All views of the catalog, sorted; none where it cannot hold any."""
        ...

    def locate(self, table: TableName) -> Pointer:
        """The raw pointer; UnknownTable when there is no such entry, UnreadableEntry when it cannot be told."""
        ...

    def locate_all(self, tables: list[TableName]) -> dict[TableName, Pointer]:
        """The pointers of many tables in as few questions as the catalog allows.

        A table that is gone, or whose entry names no file, is absent: `locate` tells why.
        """
        ...

    def access(self, table: TableName) -> tuple[Access, ...]:
        """How the table's files are reached, as far as the catalog says; nothing when it does not."""
        ...

    def home(self, table: TableName) -> str | None:
        """The folder that a table of that name must have; None where any will do."""
        ...

    def register(self, table: TableName, metadata_location: str) -> None:
        """A new entry; Busy when one of that name is there. The namespace must exist."""
        ...

    def replace(self, table: TableName, metadata_location: str, *, expected: str) -> None:
        """Swap the pointer without opening what it names; SourceChanged when it is not `expected` any more.

        An entry that is unreadable is swapped whatever is expected: nobody can commit to it.
        """
        ...

    def create_namespace(self, namespace: Namespace) -> None:
        """Make it with its parents; nothing happens when it is there, so make parents with properties first."""
        ...
