"""What the vault holds of a table already: its newest point that can be built on, and what that reaches."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from bergung.backup.locating import Located
from bergung.backup.request import ALL
from bergung.errors import DamageFound
from bergung.iceberg.columns import rows_of
from bergung.model.files import FileKind
from bergung.model.record import TableEntry
from bergung.plan.same_table import Sighting, seen_in_point
from bergung.stores.together import at_once, together
from bergung.vault.receipts import HELD, RECEIPT, read_receipts
from bergung.vault.vault import Point, State, Vault, read_record, seen_mark

Row = dict[str, object]


@dataclass(frozen=True)
class Predecessor:
    """A table's entry in an earlier point."""

    point: Point
    entry: TableEntry


def predecessors(vault: Vault, state: State, tables: Iterable[Located], captured: str) -> dict[str, Predecessor]:
    """By name, the newest entry of each table that a capture of this kind can build on; records are read newest first."""
    wanted = {each.name: each for each in tables if seen_mark(each.metadata.identity) in state.seen}
    found: dict[str, Predecessor] = {}
    for point in reversed(state.points):
        if not wanted.keys() - found.keys():
            break
        entries = [(name, entry) for name, entry in _entries(vault, point).items() if entry.captured in (ALL, captured)]
        for table in wanted.keys() - found.keys():
            here = Sighting(table, wanted[table].metadata.identity, wanted[table].metadata.location)
            same = next((entry for name, entry in entries if here.is_of(seen_in_point(name, entry))), None)
            if same is not None:
                found[table] = Predecessor(point, same)
    return found


def _entries(vault: Vault, point: Point) -> dict[str, TableEntry]:
    try:
        return read_record(vault, point).tables
    except DamageFound:
        # A lost record makes this run copy more, not less; verify names it.
        return {}


@dataclass
class Known:
    """The predecessor's tree, read only as far as it is asked for. Only what is wholly held counts."""

    vault: Vault
    entry: TableEntry | None
    _root: dict[str, dict[str, object]] = field(init=False)
    _lists: dict[str, dict[str, dict[str, object]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        if self.entry is None:
            self._root = {}
        else:
            self._root = self._read(self.entry.metadata_file.digest, self.entry.receipts) | _own(self.entry)

    def child(self, path: str) -> Row | None:
        """The row of a file that the metadata file itself names."""
        return self._root.get(path)

    def manifests_of(self, list_path: str | None) -> dict[str, Row]:
        """The manifests that a known manifest list names; none when the list is not known."""
        row = self._root.get(list_path or "")
        if row is None or row["kind"] != FileKind.MANIFEST_LIST or row["receipts"] is None:
            return {}
        if list_path not in self._lists:
            self._lists[str(list_path)] = self._read(str(row["digest"]), str(row["receipts"]))
        return self._lists[str(list_path)]

    def manifests(self, wanted: set[str], parents: Sequence[str], others: Sequence[str]) -> dict[str, Row]:
        """Rows of those manifests, looked for in these lists until all are found: most are in the first."""
        found = {path: row for path, row in self._root.items() if path in wanted and row["kind"] == FileKind.MANIFEST}
        lists = chain(map(self.manifests_of, parents), self._several(others))
        while wanted - found.keys() and (rows := next(lists, None)) is not None:
            found |= {path: row for path, row in rows.items() if path in wanted}
        return found

    def read_ahead(self, lists: Sequence[str]) -> None:
        """What will be asked for of these."""
        for _ in self._several(lists):
            pass

    def _several(self, lists: Sequence[str]) -> Iterator[dict[str, Row]]:
        return together(at_once(self.vault.url), self.manifests_of, lists)

    def lists(self) -> Iterator[str]:
        """The paths of all known manifest lists."""
        return (path for path, row in self._root.items() if row["kind"] == FileKind.MANIFEST_LIST)

    def _read(self, of: str, own: str) -> dict[str, dict[str, object]]:
        folder = self.entry.location if self.entry else ""
        try:
            rows = rows_of(read_receipts(self.vault.store, folder, of, own))
        except DamageFound:
            return {}
        return {row["path"]: row for row in rows if row["state"] == HELD}


def _own(entry: TableEntry) -> dict[str, Row]:
    """The predecessor's own metadata file, which is an older one by now."""
    file = entry.metadata_file
    row = {"path": entry.metadata_location, "kind": FileKind.METADATA, "state": HELD, "size_bytes": file.size_bytes}
    return {
        entry.metadata_location: {
            **dict.fromkeys(RECEIPT.names),
            **row,
            "digest": file.digest,
            "blob_key": file.blob_key,
            "source_version": file.source_version,
        }
    }
