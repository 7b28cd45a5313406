"""The whole story in a folder of its own: a lake, two backups, a disaster, a restore, and the proof row by row."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from bergung.backup.request import BackupRequest
from bergung.backup.run import BackupResult, run_backup
from bergung.carry.effects import Effects
from bergung.carry.fields import fields_of_iceberg
from bergung.carry.fingerprint import Fingerprint
from bergung.catalogs.base import Catalog
from bergung.catalogs.select import select_tables
from bergung.catalogs.sql import SqlCatalog
from bergung.catalogs.sqlite import database
from bergung.demo.disaster import damage, purge
from bergung.demo.lake import SHOP, commit_more, make_lake
from bergung.demo.sql import Sql
from bergung.errors import Different
from bergung.iceberg.metadata import TableMetadata, read_metadata
from bergung.model.names import table_name
from bergung.restore.request import RestoreRequest
from bergung.restore.run import RestoreResult, run_restore
from bergung.spark.engine import SparkEngine
from bergung.spark.fingerprint import fingerprint_of
from bergung.spark.session import SessionSettings, iceberg_catalog_conf, open_session
from bergung.stores.open import open_path
from bergung.vault.vault import Vault, init_vault

CATALOG = "lake"
PURGED, DAMAGED = f"{CATALOG}.{SHOP}.orders", f"{CATALOG}.{SHOP}.payments"

Prints = dict[tuple[str, int], Fingerprint]
Say = Callable[[str, float | None], None]


@dataclass(frozen=True)
class Story:
    """What the demo works with, all of it below one folder."""

    folder: Path
    spark: Sql
    effects: Effects
    catalog: Catalog
    vault: Vault
    say: Say

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        started = self.effects.clock.monotonic()
        yield
        self.say(text, self.effects.clock.monotonic() - started)


def run_demo(folder: Path, effects: Effects, say: Say) -> Prints:
    """Tell each step as it is done; Different when a row came back other than it was."""
    started = effects.clock.monotonic()
    spark = open_session(_settings(folder))
    effects = replace(effects, engine=lambda: SparkEngine(spark, os.cpu_count() or 2))
    say("opened Spark", effects.clock.monotonic() - started)
    catalog = SqlCatalog(CATALOG, database(f"sqlite:///{folder}/catalog.db"), effects.clock)
    with _said(effects, say, "made a lake of eight tables: formats 1, 2 and 3, deletes, partitions, evolved schemas"):
        make_lake(spark, CATALOG)
    vault = init_vault((folder / "vault").as_uri(), effects.open_store, effects.clock, uuid4())
    return _tell(Story(folder, spark, effects, catalog, vault, say))


def _tell(story: Story) -> Prints:
    with story.step("backed the lake up, on Spark"):
        first = _backup(story)
    story.say(f"  {_told(first)}", None)
    with story.step("wrote more: appends, deletes, a merge, compaction, an expired snapshot"):
        commit_more(story.spark, CATALOG)
    with story.step("backed it up again: only what is new"):
        second = _backup(story)
    story.say(f"  {_told(second)}", None)
    with story.step("read every snapshot of every table, to know what must come back"):
        before = _read_all(story)
    with story.step(f"dropped {PURGED} with PURGE, deleted files of {DAMAGED} and cut one short"):
        _lose(story)
    with story.step("restored both"):
        result = _restore(story)
    story.say(f"  {_told_restore(result)}", None)
    with story.step(f"compared every row of {len(before)} snapshots"):
        compare(before, _read_all(story))
    return before


@contextmanager
def _said(effects: Effects, say: Say, text: str) -> Iterator[None]:
    started = effects.clock.monotonic()
    yield
    say(text, effects.clock.monotonic() - started)


def _settings(folder: Path) -> SessionSettings:
    confs = iceberg_catalog_conf(CATALOG, folder / "warehouse", folder / "catalog.db")
    # A small lake: few partitions, so that its hundred small jobs are quick.
    return SessionSettings(iceberg=True, short=True, confs={**confs, "spark.sql.shuffle.partitions": "2"})


def _backup(story: Story) -> BackupResult:
    selected = select_tables([CATALOG], [], lambda name: story.catalog)
    return run_backup(story.effects, story.vault, BackupRequest((CATALOG,)), selected)


def _lose(story: Story) -> None:
    purge(story.spark, PURGED)
    damage(story.folder / "warehouse" / "shop" / "payments")


def _restore(story: Story) -> RestoreResult:
    request = RestoreRequest("latest", (PURGED, DAMAGED), over=True)
    return run_restore(story.effects, story.vault, request, lambda name: story.catalog)


def _read_all(story: Story) -> Prints:
    return {
        (str(table), snapshot.snapshot_id): _read(story, str(table), metadata, snapshot.snapshot_id)
        for table in story.catalog.tables()
        for metadata in [_metadata(story, str(table))]
        for snapshot in metadata.snapshots
    }


def _metadata(story: Story, table: str) -> TableMetadata:
    location = story.catalog.locate(table_name(table)).metadata_location
    store, key = open_path(location, story.effects.open_store)
    return read_metadata(store.read(key), location)


def _read(story: Story, table: str, metadata: TableMetadata, snapshot_id: int) -> Fingerprint:
    written_with = {each.snapshot_id: each.schema_id for each in metadata.snapshots}[snapshot_id]
    schema = next((each for each in metadata.schemas if each.get("schema-id") == written_with), metadata.schema)
    frame = story.spark.sql(f"SELECT * FROM {table} VERSION AS OF {snapshot_id}")
    return fingerprint_of(frame, fields_of_iceberg(schema))


def compare(before: Prints, after: Prints) -> None:
    """Different at the first snapshot that does not read as it did."""
    for (table, snapshot), was in before.items():
        now = after.get((table, snapshot))
        if now != was:
            raise Different(f"snapshot {snapshot} of {table} was {was}, is {now}", "keep the folder and report this")


def _told(result: BackupResult) -> str:
    record = result.record
    changed = sum(entry.changed for entry in record.tables.values())
    new = f"{record.statistics.new_file_count} new files, {record.statistics.new_size_bytes / 2**20:.1f} MiB"
    return f"point {record.backup_metadata.backup_id}: {len(record.tables)} tables, {changed} changed, {new}"


def _told_restore(result: RestoreResult) -> str:
    intact = sum(table.intact.files for table in result.plan.tables)
    absent = sum(table.absent.files for table in result.plan.tables)
    different = sum(table.different.files for table in result.plan.tables)
    return f"{absent} files were gone, {different} damaged, {intact} intact and left alone"
