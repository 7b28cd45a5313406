"""A vault behind a network: fifty milliseconds away, and over lines that cut, stall and reset."""

import random
import secrets
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest

from bergung.backup.request import BackupRequest
from bergung.backup.run import run_backup
from bergung.carry.effects import Effects, NobodyWatches
from bergung.carry.engine import ProcessEngine
from bergung.catalogs.select import select_tables
from bergung.catalogs.settings import open_catalog
from bergung.clock import SystemClock
from bergung.stores.open import Stores
from bergung.vault.vault import init_vault, open_vault
from tests.command import call
from tests.integration.real_lake import SCHEMA, RealLake, access_entry
from tests.servers.s3 import OwnBucket
from tests.servers.toxiproxy import BadNetwork

ROUNDS = 50
FILES, FILE_BYTES, NAME_BYTES = 600, 1_000_000, 2_000
AWAY = {"latency": 50}
TRIP_MS = 200
HARMS = {
    "latency": {"latency": 50, "jitter": 20},
    "reset_peer": {"timeout": 200},
    "limit_data": {"bytes": 60_000},
    "timeout": {"timeout": 300},
    "bandwidth": {"rate": 500},
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


@pytest.mark.nightly
def test_fifty_rounds_end_in_a_whole_point_or_in_a_failure_that_can_go_on(lake: RealLake, network: BadNetwork) -> None:
    lake.make("orders")
    chance = random.Random(7)
    whole = failed = 0
    for number in range(ROUNDS):
        lake.append("orders", range(number, number + 200))
        kind = chance.choice(sorted(HARMS))
        toxicity = 1.0 if kind in ("latency", "bandwidth") else 0.15
        with network.bad(kind, stream=chance.choice(["upstream", "downstream"]), toxicity=toxicity, **HARMS[kind]):
            said = call("backup", "lake", "--json")
        points = call("points", "--json").result["points"]
        if said.code == 0:
            whole += 1
            assert said.result["status"] == "complete" and said.result["point"] == points[-1]["point"]
        else:
            failed += 1
            assert said.code in (1, 11, 20) and said.result["errors"][0]["hint"], said.err
    print(f"\n{whole} whole points, {failed} clean failures in {ROUNDS} rounds")
    assert whole >= ROUNDS // 2
    assert call("backup", "lake", "--json").result["status"] == "complete"
    assert call("verify").code == 0
    before = lake.rows("orders")
    assert lake.lose("orders")
    assert call("restore", "--all").code == 0
    assert lake.rows("orders") == before


@dataclass
class Timed(NobodyWatches):
    """How long the files took, from the first to the last."""

    began: float = 0.0
    ended: float = 0.0

    def step(self, name: str) -> None:
        if name == "carry":
            self.began = time.perf_counter()

    def progress(self, files: int, bytes_: int, total: tuple[int, int]) -> None:
        self.ended = time.perf_counter()


@pytest.mark.nightly
def test_fifty_milliseconds_away_seven_tenths_of_the_throughput_are_left(lake: RealLake, network: BadNetwork) -> None:
    lake.make("orders")
    table = lake.catalog.load_table(("sales", "orders"))
    with table.transaction() as change:
        change.set_properties({"write.target-file-size-bytes": str(FILE_BYTES), "write.parquet.compression-codec": "uncompressed"})
    names = pa.array([secrets.token_hex(NAME_BYTES // 2) for _ in range(FILES * FILE_BYTES // (NAME_BYTES + 8))])
    table.append(pa.table({"id": range(len(names)), "name": names}, SCHEMA))
    near, far = [], []
    for _ in range(2):
        near.append(_carried(network))
        with network.bad("latency", **AWAY):
            far.append(_carried(network))
    rate = min(near) / min(far)
    print(f"\n{FILES} files of a megabyte: {min(near):.1f} s near, {min(far):.1f} s with 50 ms: {rate:.0%} of the throughput")
    assert rate >= 0.7


def _carried(network: BadNetwork) -> float:
    """Seconds that a first backup's files took, into a vault of its own."""
    watch, stores = Timed(), Stores((network.server.access(),))
    url = f"s3://{network.server.new_bucket().name}/vault"
    init_vault(url, stores, SystemClock(), uuid.uuid4())
    effects = Effects(engine=lambda: ProcessEngine(4), open_store=stores, watch=watch)
    selected = select_tables(["lake"], [], open_catalog)
    result = run_backup(effects, open_vault(url, stores), BackupRequest(("lake",)), selected)
    assert result.record.backup_metadata.status == "complete"
    return watch.ended - watch.began
