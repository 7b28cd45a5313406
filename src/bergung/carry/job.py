"""What every function of a run must know, small enough to travel with it."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa

from bergung.carry.at_hand import AtHand
from bergung.carry.engine import Batches
from bergung.errors import MissingObject, ObjectExists, Refused
from bergung.iceberg.relocate.path_map import PathMap
from bergung.stores.access import Access
from bergung.stores.base import OpenStore, Store
from bergung.stores.digest import digest_of
from bergung.stores.open import open_path, open_store
from bergung.stores.together import at_once
from bergung.vault.layout import VAULT_DOCUMENT, run_key
from bergung.vault.receipts import from_bytes, to_bytes


@dataclass(frozen=True)
class Replaced:
    """A manifest that the predecessor had and the new version has not: its files may live on in a new one."""

    digest: str
    receipts: str


@dataclass(frozen=True)
class TableJob:
    """One table of a run: rows name it by its number in the job."""

    name: str
    folder: str
    location: str
    prefixes: tuple[str, ...] = ()
    replaced: tuple[Replaced, ...] = ()
    known_snapshots: frozenset[int] = frozenset()
    """Snapshots that the predecessor held."""
    known_until: int = 0
    """The highest sequence number among them; 0 where version 1 counted none."""
    access: tuple[Access, ...] = field(default=(), repr=False)
    """How the table's own files are reached, as far as its catalog says."""
    moves: PathMap | None = None
    """Where its files go when it comes back under other paths."""
    uuid: str | None = None
    """That of a copy, which is a table of its own."""

    @property
    def place(self) -> str:
        """The folder that its files are read from or brought to."""
        return self.location if self.moves is None else self.moves.of(self.location)


@dataclass(frozen=True)
class Job:
    """A run as its functions see it; `open` is replaced only by tests, to put faults around real stores."""

    vault_url: str
    run: str
    tables: Mapping[int, TableJob]
    with_data: bool = True
    trust_size: bool = False
    over: bool = False
    share: float = 1.0
    earlier: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    """Runs that were never sealed, each with the numbers that tables of this job had in it."""
    open: OpenStore = open_store
    runs_url: str = ""
    """Where the run keeps its journal and lists, if not in the vault: a copy reads a vault that it may not write."""
    target_url: str = ""
    """The second vault, when one is copied."""
    at_hand: AtHand = field(default_factory=AtHand, compare=False, repr=False)
    """Lists and manifest lists that this process stored in this run."""
    travelled: bool = field(default=False, compare=False)
    """It came to a process that may be on another machine."""

    @property
    def files_at_once(self) -> int:
        """By one worker."""
        return at_once(self.vault_url, self.target_url, *(table.place for table in self.tables.values()))

    def vault(self) -> Store:
        """The vault's store, opened where this runs."""
        return self._vault

    def runs(self) -> Store:
        """The store of the run's own lists."""
        return self._runs if self.runs_url else self._vault

    def target(self) -> Store:
        """The second vault's store."""
        return self._target

    def at(self, table: int, path: str) -> tuple[Store, str]:
        """The store and the key of a file where the table has it, or is to have it."""
        of = self.tables[table]
        return open_path(path if of.moves is None else of.moves.of(path), self.open, of.access)

    @cached_property
    def _vault(self) -> Store:
        # In a vault that is copied nothing of the run lies: there its own document must be seen.
        return self._seen(self.vault_url, VAULT_DOCUMENT if self.runs_url else run_key(self.run, "start.json"))

    @cached_property
    def _runs(self) -> Store:
        return self._seen(self.runs_url, run_key(self.run, "start.json"))

    @cached_property
    def _target(self) -> Store:
        return self.open(self.target_url)

    def _seen(self, url: str, key: str) -> Store:
        store = self.open(url)
        if self.travelled:
            _require_sight(store, key)
        return store

    def __getstate__(self) -> dict[str, Any]:
        # A store that is open stays where it is, and what is at hand.
        return {name: value for name, value in vars(self).items() if not name.startswith("_") and name != "at_hand"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, at_hand=AtHand(), travelled=True)


def _require_sight(vault: Store, key: str) -> None:
    """The run's start was written before anything else: who does not see it has another folder under the same name."""
    try:
        vault.head(key)
    except MissingObject as error:
        if any(vault.list_versions(key)):
            return  # somebody hid it
        said = f"no {key} is" if key == VAULT_DOCUMENT else "nothing of this run is"
        fact = f"an executor on {socket.gethostname()} does not see the vault: {said} in {vault.url} there"
        hint = "use a store that all executors reach, or a folder that is mounted on all; or --engine process"
        raise Refused(fact, hint) from error


class Durable:
    """Keys that a step has written; made durable together at its end, since one by one costs many times more."""

    def __init__(self) -> None:
        self._keys: dict[str, tuple[Store, list[str]]] = {}

    def add(self, store: Store, key: str) -> None:
        """Written, and needed by what comes after."""
        self._keys.setdefault(store.url, (store, []))[1].append(key)

    def settle(self) -> None:
        """Everything that was added survives a power cut now."""
        for store, keys in self._keys.values():
            store.make_durable(keys)
        self._keys.clear()

    def after(self, batches: Batches) -> Batches:
        """Settle when the last of the step's batches has been made."""
        yield from batches
        self.settle()


def write_part(job: Job, folder: str, rows: pa.Table) -> str:
    """Store a working list of the run under its own digest, so that a repeated task writes the same key."""
    data = to_bytes(rows, {})
    name = f"{folder}/{digest_of(data).removeprefix('sha256:')[:32]}.parquet"
    _put(job, name, data)
    return name


def write_named_part(job: Job, name: str, rows: pa.Table) -> None:
    """Store a working list under a name that says what it is of; a repeated task finds it there."""
    _put(job, name, to_bytes(rows, {}))


def lend_part(job: Job, name: str, rows: pa.Table) -> None:
    """A working list for steps of this process alone: at hand where there is room, else stored."""
    if not job.at_hand.put(name, to_bytes(rows, {})):
        write_named_part(job, name, rows)


def read_part(job: Job, name: str) -> pa.Table:
    """Read a working list of the run."""
    data = job.at_hand.get(name)
    return read_run_part(job, job.run, name) if data is None else from_bytes(data, name)


def read_run_part(job: Job, run: str, name: str) -> pa.Table:
    """Read a working list of another run."""
    key = run_key(run, name)
    return from_bytes(job.runs().read(key), key)


def _put(job: Job, name: str, data: bytes) -> None:
    try:
        job.runs().put_if_absent(run_key(job.run, name), [data])
    except ObjectExists:
        # Another try of this task was first: what it wrote counts.
        return
    job.at_hand.put(name, data)
