"""Locks of a point: on all that its tables need before it is sealed, so that the record says what is true."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from bergung.backup.attempt import Captured
from bergung.carry.effects import Effects
from bergung.carry.job import Job, TableJob
from bergung.carry.locking import lock_file
from bergung.carry.rows import error_of
from bergung.carry.skipping import Key, Known, key_of
from bergung.carry.walking import Root, children_of_all, walk_down
from bergung.carry.waves import run_waves
from bergung.clock import from_text, to_text
from bergung.errors import DamageFound
from bergung.iceberg.columns import rows_of
from bergung.iceberg.metadata import read_metadata
from bergung.model.record import Record, TableEntry
from bergung.stores.digest import read_verified
from bergung.stores.together import at_once, together
from bergung.vault.journal import Run
from bergung.vault.layout import receipts_key
from bergung.vault.locking import Span, lock_documents, lock_object
from bergung.vault.receipts import read_receipts
from bergung.vault.vault import Point, State, Vault, read_record

NUMBERS_FROM = 1_000_000
"""Tables are numbered from here: a later run must not take what was locked for what was carried."""

Entries = dict[str, TableEntry]


@dataclass(frozen=True)
class Locking:
    """What it takes to lock tables' files in one run."""

    effects: Effects
    vault: Vault
    run: Run
    span: Span

    def lock(self, state: State, captured: Captured) -> Entries:
        """The entries with their `locked_until`; what the points that they were built on have locked for long enough stays."""
        self.effects.watch.step("lock")
        entries, before = captured.entries, self._before(state, captured)
        wanted = {name: entry for name, entry in entries.items() if not self._is_locked(entry, before.get(entry.location))}
        roots = list(together(at_once(self.vault.url), lambda each: self._root(*each), enumerate(wanted.values(), NUMBERS_FROM)))
        if roots:
            self._lock_below(roots, before)
        return {name: self._said(entry, before.get(entry.location), name in wanted) for name, entry in entries.items()}

    def lock_point(self, state: State, captured: Captured) -> None:
        """The record, and the log: with a slot gone none of its points could be read."""
        covered = [point.slot for point, record in self._bases(state, captured) if all(map(self._suffices, record.tables.values()))]
        lock_documents(self.vault.store, self.run.id, max(covered, default=-1) + 1, self.span.until)

    def _before(self, state: State, captured: Captured) -> dict[str, TableEntry]:
        return {entry.location: entry for _, record in self._bases(state, captured) for entry in record.tables.values()}

    def _bases(self, state: State, captured: Captured) -> list[tuple[Point, Record]]:
        points = (state.find(point) for point in sorted(set(captured.bases.values())))
        return [(point, read_record(self.vault, point)) for point in points]

    def _is_locked(self, entry: TableEntry, before: TableEntry | None) -> bool:
        return before is not None and self._suffices(before) and before.receipts == entry.receipts

    def _suffices(self, before: TableEntry) -> bool:
        return before.locked_until is not None and from_text(before.locked_until) >= self.span.asked

    def _said(self, entry: TableEntry, before: TableEntry | None, was_locked: bool) -> TableEntry:
        """What it shares with the point before is locked as long as that was."""
        until = self.span.until
        if before is not None and before.locked_until is not None and self._suffices(before):
            until = min(until, from_text(before.locked_until)) if was_locked else from_text(before.locked_until)
        return replace(entry, locked_until=to_text(until))

    def _root(self, number: int, entry: TableEntry) -> Root:
        key = entry.location + entry.metadata_file.blob_key
        data = read_verified(self.vault.store, key, entry.metadata_file.digest)
        return Root(number, entry, read_metadata(data, entry.metadata_location))

    def _lock_below(self, roots: list[Root], before: dict[str, TableEntry]) -> None:
        tables = {root.number: TableJob(root.entry.location, root.entry.location, root.metadata.location) for root in roots}
        job = Job(self.vault.url, self.run.id, tables, open=self.effects.open_store)
        known = Known(frozenset(key for root in roots for key in self._known(root, before.get(root.entry.location))))
        found = walk_down(self.effects, job, children_of_all(job, roots), known)
        if found.unreadable:
            raise error_of(found.unreadable[0]["error"])
        run_waves(self.effects, job, partial(lock_file, self.span.until), found.slices)
        for _ in together(job.files_at_once, self._lock_root, [root.entry for root in roots]):
            pass

    def _lock_root(self, entry: TableEntry) -> None:
        file, store = entry.metadata_file, self.vault.store
        lock_object(store, entry.location + file.blob_key, self.span.until, file.size_bytes)
        lock_object(store, entry.location + receipts_key(file.digest, entry.receipts), self.span.until)

    def _known(self, root: Root, before: TableEntry | None) -> Iterator[Key]:
        """What the point before locked for long enough: all below its manifest lists and manifests."""
        if before is None or not self._suffices(before):
            return
        try:
            lists = self._rows(root.number, before, before.metadata_file.digest, before.receipts)
            yield from map(key_of, lists)
            for each in lists:
                if each["receipts"] is not None:
                    yield from map(key_of, self._rows(root.number, before, str(each["digest"]), str(each["receipts"])))
        except DamageFound:
            # Then more is locked again, not less.
            return

    def _rows(self, number: int, entry: TableEntry, of: str, own: str) -> list[dict[str, object]]:
        return [{**row, "table": number} for row in rows_of(read_receipts(self.vault.store, entry.location, of, own))]
