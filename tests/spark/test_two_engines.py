"""Spark and this process carry alike: the same vault to the last byte, and what one stored the other brings back."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from conftest import Lake
from rescue import Rescue, rescue

from bergung.carry.effects import here
from bergung.carry.engine import Engine
from bergung.model.record import Record
from bergung.spark.engine import SparkEngine
from bergung.upkeep.showing import files_of
from bergung.vault.vault import read_record, read_state
from readers import plain_path
from tests.command import tree

OF_ONE_RUN = {"backup_id", "run_id", "timestamp", "cut", "answers", "located_at"}
"""What no two runs have in common: their names and their times."""


def test_both_make_the_same_vault_and_each_restores_what_the_other_stored(lake: Lake, tmp_path: Path) -> None:
    by_spark, here_ = (backed_up(lake, tmp_path / name, each) for name, each in [("s", SparkEngine(lake.spark, 2)), ("h", here())])
    assert stored(by_spark) == stored(here_)
    assert len(stored(here_)) > 150
    assert facts(asdict(record(by_spark))) == facts(asdict(record(here_)))
    for own, other in ((by_spark, here_), (here_, by_spark)):
        own.purge()
        assert not list(lake.warehouse.rglob("*.parquet"))
        restored = replace(own, url=other.url).restore().restored
        assert restored is not None and restored.failed == {}
        assert {path: f"sha256:{digest}" for path, digest in tree(lake.warehouse).items()} == held(own)


def backed_up(lake: Lake, folder: Path, engine: Engine) -> Rescue:
    rescuing = rescue(lake, folder, engine)
    assert rescuing.backup().record.backup_metadata.status == "complete"
    return rescuing


def stored(rescuing: Rescue) -> dict[str, str]:
    """Blobs and receipts, by their keys."""
    folder = Path(plain_path(rescuing.url)) / "tables"
    return {path.removeprefix(str(folder)): digest for path, digest in tree(folder).items()}


def record(rescuing: Rescue) -> Record:
    return read_record(rescuing.vault, read_state(rescuing.vault).find("latest"))


def facts(document: Any) -> Any:
    if isinstance(document, dict):
        return {key: facts(value) for key, value in document.items() if key not in OF_ONE_RUN}
    return document


def held(rescuing: Rescue) -> dict[str, str]:
    """Every file that the point holds, where it lies in the lake."""
    entries = record(rescuing).tables.values()
    return {plain_path(file["path"]): file["checksum"] for entry in entries for file in files_of(rescuing.vault, entry)}
