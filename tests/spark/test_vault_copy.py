"""A copy of a vault with every step on Spark, in batches of three rows: the same bytes, and no more than the change."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from bergung.backup.request import BackupRequest
from bergung.backup.run import run_backup
from bergung.carry.effects import Effects, here
from bergung.catalogs.select import select_tables
from bergung.clock import SystemClock
from bergung.spark.engine import SparkEngine
from bergung.stores.open import open_store
from bergung.upkeep.copying import CopyRequest, run_copy
from bergung.vault.vault import Vault, init_vault
from tests.command import tree
from tests.synthetic import Shape, SyntheticTable

BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"


class AllOnSpark(Effects):
    """Little work too."""

    def is_little(self, rows: pa.Table) -> bool:
        return False


@pytest.fixture
def effects(spark: SparkSession) -> Iterator[Effects]:
    before = spark.conf.get(BATCH)
    spark.conf.set(BATCH, "3")
    yield AllOnSpark(engine=lambda: SparkEngine(spark, 2))
    spark.conf.set(BATCH, before or "10000")


def back_up(vault: Vault, table: SyntheticTable) -> None:
    assert table.metadata_path is not None
    selected = select_tables([table.metadata_path], [], lambda name: None)  # type: ignore[arg-type,return-value]
    run_backup(Effects(engine=here), vault, BackupRequest((table.metadata_path,)), selected)


def test_the_same_bytes(effects: Effects, tmp_path: Path) -> None:
    vault = init_vault(f"{tmp_path}/vault", open_store, SystemClock(), UUID(int=7))
    table = SyntheticTable(tmp_path / "table", Shape())
    for _ in range(9):
        table.append(4, manifests=2)
        table.commit()
    back_up(vault, table)
    first = run_copy(effects, vault, CopyRequest(f"{tmp_path}/second", share=1.0))
    assert first.read == first.plan.bring and first.plan.bring.files > 60
    table.append(2)
    table.merge(6)
    table.commit()
    back_up(vault, table)
    second = run_copy(effects, vault, CopyRequest(f"{tmp_path}/second", share=1.0))
    assert second.plan.bring.files == 2 + 2 + 2, "two files, two manifests, a manifest list and a metadata file"
    assert kept(tmp_path / "second") == kept(tmp_path / "vault")


def kept(vault: Path) -> dict[str, str]:
    return {path.removeprefix(f"{vault}/"): digest for path, digest in tree(vault, without="runs").items()}
