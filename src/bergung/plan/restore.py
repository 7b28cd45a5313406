"""What a restore would do, and what it needs the user's word for."""

from dataclasses import dataclass
from enum import StrEnum

from bergung.iceberg.paths import normal
from bergung.model.record import Count


class CatalogAction(StrEnum):
    """What happens to the catalog's entry, after every file lies in its place."""

    NOTHING = "nothing"
    REGISTER = "register"
    REPLACE = "replace"
    NO_CATALOG = "no catalog"


@dataclass(frozen=True)
class TablePlan:
    """One table: files by what lies at their place now, and the step in the catalog."""

    table: str
    metadata_location: str
    absent: Count
    intact: Count
    different: Count
    not_captured: Count
    """Files that a point of metadata only has not, and that are gone or have another length."""
    lost: Count
    """Files that were lost already when the point was made."""
    superseded: int
    """Paths that the point holds with another content too; the one that the newest snapshot sees is restored."""
    action: CatalogAction
    current: str | None
    """What the catalog's entry names now; empty when its own server cannot tell."""
    to: str = ""
    """The name that it gets."""
    location: str = ""
    """Its folder there."""
    moves: tuple[tuple[str, str], ...] = ()
    """Folders whose files go elsewhere, and where to; none when every file goes back to its place."""
    uuid: str | None = None
    """That of a copy, which is a table of its own."""


@dataclass(frozen=True)
class RestorePlan:
    """All tables; `named` are files that differ or are lost, the first hundred."""

    point: str
    tables: tuple[TablePlan, ...]
    named: tuple[str, ...]
    not_held: tuple[str, ...] = ()
    """Tables that are meant too, and whose backup failed when the point was made."""

    @property
    def bytes(self) -> int:
        return sum(table.absent.bytes + table.different.bytes for table in self.tables)

    def needs_word(self) -> list[str]:
        """What exists and would change or go: each as a sentence."""
        said = []
        for table in self.tables:
            if table.different.files:
                files = "1 file" if table.different.files == 1 else f"{table.different.files} files"
                said.append(f"there with other bytes: {files} of {table.table}")
            if table.action == CatalogAction.REPLACE:
                state = f"another state: {table.current}" if table.current else "a state that cannot be read"
                said.append(f"{table.table} is in the catalog with {state}")
        return said


def catalog_action(metadata_location: str, current: str | None, has_catalog: bool = True) -> CatalogAction:
    """A missing entry is made, an equal one left, any other one needs the user's word."""
    if not has_catalog:
        return CatalogAction.NO_CATALOG
    if current is None:
        return CatalogAction.REGISTER
    return CatalogAction.NOTHING if normal(current) == normal(metadata_location) else CatalogAction.REPLACE
