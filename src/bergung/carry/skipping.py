"""Walks that leave out what is known: what an earlier point of the second vault reaches lies there already."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from bergung.carry.effects import Effects
from bergung.carry.engine import Batches, Map, Shuffle, Step
from bergung.carry.job import Job, Replaced
from bergung.carry.rows import LISTED, Row, batched, each
from bergung.carry.walking import BY_FILE, parts_for
from bergung.errors import DamageFound, MissingObject
from bergung.iceberg.columns import rows_of, table_of
from bergung.model.files import FileKind
from bergung.stores.base import Store
from bergung.stores.digest import read_verified
from bergung.vault.layout import receipts_key
from bergung.vault.receipts import read_receipts

Key = tuple[int, str | None, str | None, str | None]


def key_of(row: Row) -> Key:
    """What a row stands for: equal keys have the same bytes, and the same below them."""
    return row["table"], row["blob_key"], row["digest"], row["receipts"]


@dataclass(frozen=True)
class Known:
    """What was walked before: rows by their keys, and the manifests of the newest snapshot, whose files may live on elsewhere."""

    rows: frozenset[Key] = frozenset()
    manifests: Mapping[int, tuple[Replaced, ...]] = field(default_factory=dict)
    asks: bool = False
    """Whether the second vault is asked for receipts that are not known: where they lie, all lies that they name."""

    def wanted(self, effects: Effects, job: Job, rows: list[Row]) -> list[Row]:
        """Those that are not known, and not there."""
        new = [row for row in rows if row["error"] is not None or key_of(row) not in self.rows]
        asked = [row for row in new if self.asks and row["error"] is None and row["receipts"] is not None]
        if not asked:
            return new
        steps = Shuffle(BY_FILE, parts_for(effects, asked)), Map(partial(unless_there, job), LISTED)
        absent = {key_of(row) for row in rows_of(effects.run(table_of(LISTED, asked), *steps))}
        there = {key_of(row) for row in asked} - absent
        return [row for row in new if row["error"] is not None or key_of(row) not in there]

    def files(self, job: Job, manifests: list[Row]) -> tuple[Step, ...]:
        """A file that lived in a manifest which the new version has no more, and is known: it only changed its manifest."""
        now = {row["digest"] for row in manifests}
        replaced = {
            table: gone
            for table, known in self.manifests.items()
            if (gone := tuple(each for each in known if each.digest not in now))
        }
        return (Map(partial(unless_lived_on, job, replaced), LISTED),) if replaced else ()


def unless_there(job: Job, batches: Batches) -> Batches:
    """The rows whose receipts do not lie in the second vault."""
    return batched(LISTED, (row for row in each(batches) if not _lie_there(job, row)))


def _lie_there(job: Job, row: Row) -> bool:
    key = job.tables[row["table"]].folder + receipts_key(row["digest"], row["receipts"])
    target: Store = job.target()
    try:
        target.head(key)
        read_verified(target, key, row["receipts"])
    except (MissingObject, DamageFound):
        return False
    return True


def unless_lived_on(job: Job, replaced: Mapping[int, tuple[Replaced, ...]], batches: Batches) -> Batches:
    """The rows that no replaced manifest had with the same bytes."""
    known: dict[int, set[Key]] = {}
    return batched(LISTED, (row for row in each(batches) if not _lived_on(job, replaced, known, row)))


def _lived_on(job: Job, replaced: Mapping[int, tuple[Replaced, ...]], known: dict[int, set[Key]], row: Row) -> bool:
    table = row["table"]
    if row["kind"] in (FileKind.MANIFEST, FileKind.MANIFEST_LIST) or row["error"] is not None or table not in replaced:
        return False
    if table not in known:
        known[table] = {key for each in replaced[table] for key in _keys(job, table, each)}
    return key_of(row) in known[table]


def _keys(job: Job, table: int, replaced: Replaced) -> set[Key]:
    try:
        found = read_receipts(job.vault(), job.tables[table].folder, replaced.digest, replaced.receipts)
    except DamageFound:
        # Then more is looked at, not less.
        return set()
    return {key_of({**row, "table": table}) for row in rows_of(found)}
