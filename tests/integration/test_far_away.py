"""A vault behind a network: fifty milliseconds away, and over lines that cut, stall and reset."""

import os
import random
import secrets
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

from bergung.backup.request import BackupRequest
from bergung.backup.run import run_backup
from bergung.carry.effects import Effects, NobodyWatches
from bergung.carry.engine import ProcessEngine
from bergung.catalogs.select import select_tables
from bergung.catalogs.settings import open_catalog
from bergung.cli.settings import load_settings
from bergung.clock import SystemClock
from bergung.stores.open import Stores
from bergung.stores.together import AT_ONCE, together
from bergung.vault.vault import init_vault, open_vault
from tests.command import call
from tests.integration.real_lake import SCHEMA, RealLake, access_entry
from tests.servers.asked import Asked, Request, listening
from tests.servers.s3 import OwnBucket
from tests.servers.toxiproxy import BadNetwork

ROUNDS = 50
FILES, FILE_BYTES, NAME_BYTES = 1_500, 1_000_000, 2_000
AWAY = {"latency": 50}
TRIP_MS = 200
FIRST, CHANGE, NOTHING = 25, 23, 10
"""So many requests in turn may a small backup need. Every one more is a way there and back more for everybody."""
READERS = {"points": 6, "runs": 6, "show latest --files": 16, "verify": 26, "restore --all": 36}
RANKS = ("/files/", "/receipts/", "/points/", "/log/")
HARMS = {
    "latency": {"latency": 50, "jitter": 20},
    "reset_peer": {"timeout": 200},
    "limit_data": {"bytes": 3_000},
    "timeout": {"timeout": 300},
    "bandwidth": {"rate": 50},
}


@pytest.fixture
def lake(network: BadNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RealLake:
    """On disk, its vault behind the network."""
    vault = OwnBucket(network.server, network.server.new_bucket().name)
    properties = {"type": "sql", "uri": f"sqlite:///{tmp_path}/lake.db", "warehouse": f"file://{tmp_path}/warehouse"}
    lake = RealLake(tmp_path / "home", properties, f"s3://{vault.name}/vault", access_entry(vault))
    lake.announce(monkeypatch)
    assert call("init").code == 0
    return lake


def test_what_is_small_is_written_without_asking_first(network: BadNetwork) -> None:
    store, took = network.server.new_bucket().store(), []
    with network.bad("latency", latency=TRIP_MS):
        for number in range(3):
            began = time.perf_counter()
            store.put_if_absent(f"document {number}", [b"some words"])
            took.append(time.perf_counter() - began)
    assert min(took) < 1.5 * TRIP_MS / 1000


def test_a_backup_asks_little_in_turn(lake: RealLake, network: BadNetwork) -> None:
    lake.make("orders")
    lake.make("items")
    for number in range(3):
        lake.append("orders", range(number, number + 5))
    vault = Far.away(network)
    first = vault.asked(network).in_turn()
    lake.append("orders", range(100, 105))
    change = vault.asked(network).in_turn()
    nothing = vault.asked(network).in_turn()
    print(f"\nin turn: {len(first)} requests of a first backup, {len(change)} of a small change, {len(nothing)} of none")
    assert len(first) <= FIRST, shown(first)
    assert len(change) <= CHANGE, shown(change)
    assert len(nothing) <= NOTHING, shown(nothing)


def test_who_reads_a_far_vault_asks_little_in_turn(lake: RealLake, network: BadNetwork) -> None:
    names = ("orders", "items", "people")
    for name in names:
        lake.make(name)
    for number in range(5):
        lake.append("orders", range(number, number + 5))
        assert call("backup", "lake", "--json").code == 0
    stores, found = Stores(load_settings(os.environ, Path.cwd()).accesses()), dict[str, list[Request]]()
    for words in READERS:
        if words.startswith("restore"):
            assert all(lake.lose(name) for name in names)
        with network.bad("latency", **AWAY), listening(*stores.known, lake.vault) as asked:
            assert call(*words.split()).code == 0
        found[words] = asked.in_turn()
    print("\nin turn: " + ", ".join(f"{len(asked)} requests of {words}" for words, asked in found.items()))
    for words, most in READERS.items():
        assert len(found[words]) <= most, shown(found[words])


def test_what_goes_at_once_is_of_one_rank(lake: RealLake, network: BadNetwork) -> None:
    """format.md R2: nothing is sent before what it names has been acknowledged."""
    for name in ("orders", "items"):
        lake.make(name)
        lake.append(name, range(5))
    asked = Far.away(network).asked(network).requests
    ranks = [[each for each in asked if each.method == "PUT" and part in each.url] for part in RANKS]
    assert len(ranks[0]) >= 10 and len(ranks[1]) >= 10
    for children, parents in pairwise(ranks):
        assert max(child.ended for child in children) <= min(parent.began for parent in parents)


def shown(asked: list[Request]) -> str:
    return "\n".join(f"{each.method} {each.url.partition('/vault')[2]}" for each in asked)


@pytest.mark.nightly
def test_fifty_rounds_end_in_a_whole_point_or_in_a_failure_that_can_go_on(lake: RealLake, network: BadNetwork) -> None:
    lake.make("orders")
    chance = random.Random(7)
    stores = Stores(load_settings(os.environ, Path.cwd()).accesses())
    outcomes, struck = Counter[bool](), Counter[str]()
    for number in range(ROUNDS):
        lake.append("orders", range(number, number + 200))
        kind = chance.choice(sorted(HARMS))
        toxicity = 1.0 if kind in ("latency", "bandwidth") else 0.15
        stream = chance.choice(["upstream", "downstream"])
        with listening(*stores.known, lake.vault) as asked, network.bad(kind, stream=stream, toxicity=toxicity, **HARMS[kind]):
            said = call("backup", "lake", "--json")
        points = call("points", "--json").result["points"]
        outcomes[said.code == 0] += 1
        struck[kind] += has_struck(kind, asked.requests)
        if said.code == 0:
            assert said.result["status"] == "complete" and said.result["point"] == points[-1]["point"]
        else:
            assert said.code in (1, 11, 20) and said.result["errors"][0]["hint"], said.err
    print(f"\n{outcomes[True]} whole points, {outcomes[False]} clean failures in {ROUNDS} rounds; struck: {dict(struck)}")
    assert outcomes[True] >= ROUNDS // 2
    assert all(struck[kind] for kind in HARMS), "a harm that never came shows nothing"
    assert call("backup", "lake", "--json").result["status"] == "complete"
    assert call("verify").code == 0
    before = lake.rows("orders")
    assert lake.lose("orders")
    assert call("restore", "--all").code == 0
    assert lake.rows("orders") == before


def has_struck(kind: str, asked: list[Request]) -> bool:
    """By what became of the requests: answers that never came, or came as late as they must."""
    harm = HARMS[kind]
    if kind == "latency":
        return min(request.seconds for request in asked) >= (harm["latency"] - harm["jitter"]) / 1000
    if kind == "bandwidth":
        largest = max(asked, key=lambda request: request.sent_bytes)
        return largest.seconds >= 0.8 * largest.sent_bytes / (harm["rate"] * 1000) > 0.1
    return any(request.failed for request in asked)


@pytest.mark.nightly
def test_fifty_milliseconds_away_seven_tenths_of_the_throughput_are_left(lake: RealLake, network: BadNetwork) -> None:
    """Of a whole backup, from its start to its return."""
    lake.make("orders")
    table = lake.catalog.load_table(("sales", "orders"))
    with table.transaction() as change:
        change.set_properties({"write.target-file-size-bytes": str(FILE_BYTES), "write.parquet.compression-codec": "uncompressed"})
    names = pa.array([secrets.token_hex(NAME_BYTES // 2) for _ in range(FILES * FILE_BYTES // (NAME_BYTES + 8))])
    table.append(pa.table({"id": range(len(names)), "name": names}, SCHEMA))
    near, far = [], []
    for _ in range(2):
        near.append(first_backup(network))
        with network.bad("latency", **AWAY):
            far.append(first_backup(network))
    whole = Left(min(each.whole for each in near), min(each.whole for each in far))
    carried = Left(min(each.carried for each in near), min(each.carried for each in far))
    print(f"\n{FILES} files of a megabyte, near and with 50 ms: all of it {whole}; the files alone {carried}")
    assert whole.share >= 0.7


def first_backup(network: BadNetwork) -> "Timed":
    """Into a vault that is taken away again."""
    vault = Far.away(network)
    timed, store = vault.backup(), vault.stores(vault.url)
    for _ in together(AT_ONCE, store.delete, [stat.key for stat in store.list("")]):
        pass
    return timed


@dataclass(frozen=True)
class Left:
    """Seconds near and far."""

    near: float
    far: float

    @property
    def share(self) -> float:
        return self.near / self.far

    def __str__(self) -> str:
        return f"{self.near:.1f} s and {self.far:.1f} s, {self.share:.0%} of the throughput"


@dataclass
class Timed(NobodyWatches):
    """How long all of it took, and the files, from the first to the last."""

    began: float = field(default_factory=time.perf_counter)
    first: float = 0.0
    last: float = 0.0
    ended: float = 0.0

    def step(self, name: str) -> None:
        if name == "carry":
            self.first = time.perf_counter()

    def progress(self, files: int, bytes_: int, total: tuple[int, int]) -> None:
        self.last = time.perf_counter()

    @property
    def whole(self) -> float:
        return self.ended - self.began

    @property
    def carried(self) -> float:
        return self.last - self.first


@dataclass(frozen=True)
class Far:
    """A vault of its own behind the network."""

    url: str
    stores: Stores

    @classmethod
    def away(cls, network: BadNetwork) -> "Far":
        far = cls(f"s3://{network.server.new_bucket().name}/vault", Stores((network.server.access(),)))
        init_vault(far.url, far.stores, SystemClock(), uuid.uuid4())
        return far

    def asked(self, network: BadNetwork) -> Asked:
        """In a backup with the way there and back as all that takes its time."""
        with network.bad("latency", **AWAY), listening(*self.stores.known, self.url) as asked:
            self.backup()
        return asked

    def backup(self) -> Timed:
        vault, selected, watch = open_vault(self.url, self.stores), select_tables(["lake"], [], open_catalog), Timed()
        effects = Effects(engine=lambda: ProcessEngine(4), open_store=self.stores, watch=watch)
        result = run_backup(effects, vault, BackupRequest(("lake",)), selected)
        watch.ended = time.perf_counter()
        assert result.record.backup_metadata.status == "complete"
        return watch
