"""Two machines back up to one vault at once: no fork of the log, no lost point."""

import multiprocessing
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.pool import Pool
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from bergung.backup.request import BackupRequest
from bergung.backup.run import run_backup
from bergung.carry.effects import Effects, here
from bergung.catalogs.base import Namespace
from bergung.catalogs.select import select_tables
from bergung.catalogs.sql import SqlCatalog
from bergung.catalogs.sqlite import Database
from bergung.clock import SystemClock
from bergung.model.names import TableName
from bergung.stores.base import Stat, Store
from bergung.stores.open import open_store
from bergung.upkeep.verify import VerifyRequest, run_verify
from bergung.vault.journal import runs
from bergung.vault.layout import LOG
from bergung.vault.vault import init_vault, open_vault, read_record, read_state
from tests.faults.counting_store import CountingStore, Counts
from tests.synthetic import SyntheticTable

ROUNDS = 6
NAMES = ("orders", "items")
WORDS = {"the same tables": (("lake",), ("lake",)), "other tables": (("lake.sales.orders",), ("lake.sales.items",))}


class Together(CountingStore):
    """A real store; whoever comes to claim a slot waits once, until the other one is there too."""

    def __init__(self, inner: Store, start: Barrier) -> None:
        super().__init__(inner, Counts())
        self._start = start
        self._waited = False

    def put_if_absent(self, key: str, blocks: Iterable[bytes]) -> Stat:
        if key.startswith(LOG) and not self._waited:
            self._waited = True
            self._start.wait()
        return super().put_if_absent(key, blocks)


def machine(folder: str, words: tuple[str, ...], start: Barrier) -> tuple[str, str]:
    """A backup in a process of its own: its run, and the head of the log as it was told."""
    effects = Effects(engine=here)
    vault = open_vault(f"{folder}/vault", lambda url, access=(): Together(open_store(url, access), start))
    start.wait()
    selected = select_tables(list(words), [], lambda name: catalog(Path(folder)))
    result = run_backup(effects, vault, BackupRequest(words), selected)
    return result.run, result.head


def catalog(folder: Path) -> SqlCatalog:
    return SqlCatalog("lake", Database(folder / "catalog.db"), SystemClock())


@dataclass
class Lake:
    """Tables on a local disk that both machines see."""

    folder: Path

    def __post_init__(self) -> None:
        (self.folder / "catalog.db").touch()
        catalog(self.folder).create_namespace(Namespace(("sales",), {}))
        init_vault(f"{self.folder}/vault", open_store, SystemClock(), uuid.UUID(int=7))
        self.tables = {name: SyntheticTable(self.folder / name) for name in NAMES}

    def change(self) -> dict[str, str]:
        """Every table moves on; where it stands now."""
        return {f"lake.sales.{name}": self._commit(name, table) for name, table in self.tables.items()}

    def _commit(self, name: str, table: SyntheticTable) -> str:
        before = table.metadata_path
        table.append(6, manifests=2)
        path, own = table.commit(), TableName("lake", ("sales",), name)
        if before is None:
            catalog(self.folder).register(own, path)
        else:
            catalog(self.folder).replace(own, path, expected=before)
        return path


@pytest.fixture(scope="module")
def machines() -> Iterator[tuple[Pool, Barrier]]:
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, context.Pool(2) as pool:
        # Each takes one of two tasks, since the first waits for the second.
        yield pool, manager.Barrier(2, timeout=60)


@pytest.mark.parametrize("which", WORDS)
def test_no_fork_and_no_lost_point(tmp_path: Path, machines: tuple[Pool, Barrier], which: str) -> None:
    lake, (pool, start) = Lake(tmp_path), machines
    stood: dict[str, dict[str, str]] = {}
    heads: list[str] = []
    for _ in range(ROUNDS):
        now = lake.change()
        for run, head in pool.starmap(machine, [(str(tmp_path), words, start) for words in WORDS[which]], chunksize=1):
            stood[run] = now
            heads.append(head)
    vault = open_vault(f"{tmp_path}/vault", open_store)
    state = read_state(vault)
    assert {point.id for point in state.points} == set(stood)
    assert (len(state.points), state.chain.void, state.chain.next_slot) == (2 * ROUNDS, (), 2 * ROUNDS + 1)
    assert sorted(heads) == sorted(entry.digest for entry in state.chain.entries[1:]), "each was told its own seal"
    tables = 0
    for point in state.points:
        record = read_record(vault, point)
        assert {name: entry.metadata_location for name, entry in record.tables.items()}.items() <= stood[point.id].items()
        assert (record.backup_metadata.status, record.backup_metadata.failed) == ("complete", {})
        tables += len(record.tables)
    assert tables == ROUNDS * (4 if which == "the same tables" else 2)
    seen = run_verify(Effects(engine=here), vault, VerifyRequest())
    assert (seen.damages, seen.points, seen.void_slots) == ((), 2 * ROUNDS, ())
    assert {run.status for run in runs(vault.store) if run.verb == "backup"} == {"complete"}
    assert [stat.key for stat in vault.store.list("tables/") if "/beside/" in stat.key] == [], "each took the other's blobs"
