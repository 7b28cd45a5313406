"""What a backup asks of a server: requests for each file, as the server itself counts them."""

import secrets
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pytest

from bergung.backup.request import BackupRequest
from bergung.backup.run import run_backup
from bergung.carry.effects import Effects
from bergung.carry.engine import ProcessEngine
from bergung.catalogs.select import select_tables
from bergung.catalogs.settings import open_catalog
from bergung.clock import SystemClock
from bergung.stores.open import Stores
from bergung.stores.s3.copying import WORTH_BYTES
from bergung.vault.vault import init_vault, open_vault
from tests.integration.real_lake import SCHEMA, RealLake, s3_properties
from tests.servers.s3 import OwnBucket, S3Server
from tests.servers.versitygw import versitygw

SMALL_BYTES, NAME_BYTES = 8_000, 800


@dataclass(frozen=True)
class Counted:
    """A server that notes each request, and the same by another name: to us that is another endpoint."""

    server: S3Server
    log: Path

    @property
    def by_another_name(self) -> S3Server:
        return replace(self.server, endpoint=self.server.endpoint.replace("127.0.0.1", "localhost"))

    def operations(self) -> Counter[str]:
        """So far, of everybody: HeadObject, PutObject…"""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return Counter(word.removeprefix("s3_") for line in lines for word in line.split() if word.startswith("s3_"))


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Counted]:
    folder = tmp_path_factory.mktemp("versitygw")
    with versitygw(folder, access_log=folder / "requests.log") as server:
        yield Counted(server, folder / "requests.log")


@dataclass
class Ground:
    """A lake of one table, and an empty vault."""

    counted: Counted
    lake: RealLake
    stores: Stores
    file_bytes: int

    def add(self, files: int) -> None:
        """So many in one commit."""
        names = pa.array([secrets.token_hex(NAME_BYTES // 2) for _ in range(files * self.file_bytes // (NAME_BYTES + 8))])
        table = self.lake.catalog.load_table(("sales", "orders"))
        table.append(pa.table({"id": range(len(names)), "name": names}, SCHEMA))

    def backup(self) -> tuple[int, Counter[str]]:
        """How many files were new, and what was asked for them, without the looks once a second how far it is."""
        before = self.counted.operations()
        selected = select_tables(["lake"], [], open_catalog)
        effects = Effects(engine=lambda: ProcessEngine(4), open_store=self.stores)
        record = run_backup(effects, open_vault(self.lake.vault, self.stores), BackupRequest(("lake",)), selected).record
        assert record.backup_metadata.status == "complete"
        asked = self.counted.operations() - before
        del asked["ListObjectsV2"]
        print(f"\n{record.statistics.new_file_count} files, {asked.total()} requests: {asked}")
        return record.statistics.new_file_count, asked


@dataclass(frozen=True)
class Maker:
    counted: Counted
    tmp_path: Path
    monkeypatch: pytest.MonkeyPatch

    def __call__(self, lake_at: S3Server | None, vault_at: S3Server, file_bytes: int) -> Ground:
        bucket = OwnBucket(vault_at, self.counted.server.new_bucket().name)
        properties = {"type": "sql", "uri": f"sqlite:///{self.tmp_path}/lake.db", "warehouse": f"file://{self.tmp_path}/warehouse"}
        if lake_at is not None:
            properties |= {**s3_properties(lake_at), "warehouse": f"s3://{lake_at.new_bucket().name}/warehouse"}
        lake = RealLake(self.tmp_path / "home", properties, f"s3://{bucket.name}/vault")
        lake.announce(self.monkeypatch)
        stores = Stores((vault_at.access(f"s3://{bucket.name}/"),))
        init_vault(lake.vault, stores, SystemClock(), uuid.uuid4())
        lake.make("orders")
        words = {"write.target-file-size-bytes": str(file_bytes), "write.parquet.compression-codec": "uncompressed"}
        with lake.catalog.load_table(("sales", "orders")).transaction() as change:
            change.set_properties(words)
        return Ground(self.counted, lake, stores, file_bytes)


@pytest.fixture
def make(counted: Counted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Maker:
    return Maker(counted, tmp_path, monkeypatch)


def test_from_disk(counted: Counted, make: Maker) -> None:
    """A PUT for each file; the rest belongs to the run and to each commit."""
    ground = make(None, counted.server, SMALL_BYTES)
    ground.add(300)
    files, asked = ground.backup()
    assert files > 300 and asked.total() <= 1.2 * files, asked
    assert asked["HeadObject"] == asked["CreateMultipartUpload"] == 0, asked
    _small_afterwards(ground)


def test_between_endpoints(counted: Counted, make: Maker) -> None:
    """A GET and a PUT for each file."""
    ground = make(counted.server, counted.by_another_name, SMALL_BYTES)
    ground.add(300)
    files, asked = ground.backup()
    assert files > 300 and asked.total() <= 2.2 * files, asked
    assert asked["UploadPartCopy"] == 0 and asked["HeadObject"] <= 1, asked
    _small_afterwards(ground)


def test_by_the_server(counted: Counted, make: Maker) -> None:
    """A look at the source, which names its version, and an upload whose one part is copied: that is create-only everywhere."""
    ground = make(counted.server, counted.server, WORTH_BYTES * 5 // 4)
    ground.add(100)
    files, asked = ground.backup()
    assert asked["UploadPartCopy"] >= 100 and asked["GetObject"] < 50, asked
    assert asked["HeadObject"] <= asked["UploadPartCopy"] + 1, asked
    assert asked.total() <= 4.6 * files, asked
    _small_afterwards(ground)


def _small_afterwards(ground: Ground) -> None:
    """Nothing new; then one commit: what a run asks whatever it carries."""
    files, asked = ground.backup()
    assert files == 0 and asked.total() <= 25, asked
    ground.add(1)
    files, asked = ground.backup()
    assert 0 < files <= 5 and asked.total() <= 50, asked
