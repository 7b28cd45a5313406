"""What the second vault holds of each table already: its newest entry there, and what that reaches."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from bergung.carry.job import Replaced
from bergung.carry.rows import Row
from bergung.carry.skipping import Key, Known, key_of
from bergung.errors import DamageFound
from bergung.iceberg.columns import rows_of
from bergung.iceberg.metadata import read_metadata
from bergung.model.files import FileKind
from bergung.model.record import TableEntry
from bergung.stores.digest import read_verified
from bergung.vault.receipts import read_receipts
from bergung.vault.vault import Point, Vault, read_record

LOOK_BACK = 32
"""So many records are read for tables that the newest point does not hold; what is not found is asked for bit by bit."""
THREADS = 16


@dataclass
class Ledger:
    """Tables by their folders: a number for each in this run, and the newest entry that the second vault has."""

    vault: Vault
    points: tuple[Point, ...]
    asks: bool
    numbers: dict[str, int] = field(default_factory=dict)
    entries: dict[str, TableEntry] = field(default_factory=dict)
    _looked: int = 0

    def number(self, folder: str) -> int:
        """The table's number in the jobs of this run."""
        return self.numbers.setdefault(folder, len(self.numbers))

    def has(self, entry: TableEntry) -> bool:
        """Whether the newest entry there is just this version of the table."""
        known = self.entries.get(entry.location)
        return known is not None and _version(known) == _version(entry)

    def meet(self, folders: set[str]) -> None:
        """Look for these tables in the points that are there, newest first, as far as it needs."""
        while self._looked < min(LOOK_BACK, len(self.points)) and folders - self.entries.keys():
            self._looked += 1
            try:
                record = read_record(self.vault, self.points[-self._looked])
            except DamageFound:
                continue
            self.take(entry for entry in record.tables.values() if entry.location not in self.entries)

    def take(self, entries: Iterable[TableEntry]) -> None:
        """These lie there now."""
        self.entries |= {entry.location: entry for entry in entries}

    def known(self, folders: Iterable[str]) -> Known:
        """What need not be walked below those tables."""
        wanted = [self.entries[folder] for folder in sorted(set(folders)) if folder in self.entries]
        with ThreadPoolExecutor(THREADS) as pool:
            found = list(pool.map(lambda entry: _reached(self.vault, self.number(entry.location), entry), wanted))
        rows = frozenset(key for keys, _ in found for key in keys)
        manifests = {self.number(entry.location): own for entry, (_, own) in zip(wanted, found, strict=True)}
        return Known(rows, manifests, self.asks)


def _version(entry: TableEntry) -> tuple[str, str]:
    return entry.metadata_file.digest, entry.receipts


def _reached(vault: Vault, number: int, entry: TableEntry) -> tuple[set[Key], tuple[Replaced, ...]]:
    """The files below a metadata file, and the manifests of its current snapshot; nothing of what is lost there."""
    file = entry.metadata_file
    own = number, file.blob_key, file.digest, None
    try:
        below = _rows(vault, number, entry, (file.digest, entry.receipts))
        data = read_verified(vault.store, entry.location + file.blob_key, file.digest)
        metadata = read_metadata(data, entry.metadata_location)
        current = {each.manifest_list for each in metadata.snapshots if each.snapshot_id == metadata.current_snapshot_id}
        lists = [row for row in below if row["path"] in current and row["receipts"] is not None]
        manifests = [row for row in lists for row in _rows(vault, number, entry, (row["digest"], row["receipts"]))]
    except DamageFound:
        return set(), ()
    manifests += [row for row in below if row["kind"] == FileKind.MANIFEST]
    replaced = tuple(Replaced(row["digest"], row["receipts"]) for row in manifests if row["receipts"] is not None)
    return {own, *map(key_of, below), *map(key_of, manifests)}, replaced


def _rows(vault: Vault, number: int, entry: TableEntry, receipts: tuple[str, str]) -> list[Row]:
    return [{**row, "table": number} for row in rows_of(read_receipts(vault.store, entry.location, *receipts))]
