"""The same backup, restore and verify through Spark Connect, as a client in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Lake
from connect_server import connect_server

from truth import compare_all, truth_again

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

CLIENT = """
import json, sys
from uuid import uuid4
from bergung.backup.request import BackupRequest
from bergung.backup.run import run_backup
from bergung.carry.effects import Effects
from bergung.catalogs.select import select_tables
from bergung.catalogs.sql import SqlCatalog
from bergung.catalogs.sqlite import database
from bergung.clock import SystemClock
from bergung.restore.request import RestoreRequest
from bergung.restore.run import run_restore
from bergung.spark.engine import SparkEngine
from bergung.spark.session import SessionSettings, open_session
from bergung.stores.open import open_store
from bergung.upkeep.verify import VerifyRequest, run_verify
from bergung.vault.vault import init_vault, open_vault

class AlwaysOnSpark(Effects):
    def is_little(self, rows):
        return False

verb, remote, url, sqlite_path, name = sys.argv[1:]
engine = SparkEngine(open_session(SessionSettings(remote=remote)), 2)
assert type(engine.session).__module__.startswith("pyspark.sql.connect"), type(engine.session)
effects = AlwaysOnSpark(engine=lambda: engine)
catalog = SqlCatalog(name, database("sqlite:///" + sqlite_path), SystemClock())
if verb == "backup":
    init_vault(url, open_store, SystemClock(), uuid4())
    vault = open_vault(url, open_store)
    selected = select_tables([name], [], lambda name: catalog)
    result = run_backup(effects, vault, BackupRequest((name,)), selected)
    found = run_verify(effects, vault, VerifyRequest())
    print(json.dumps([sorted(result.failed), len(result.record.tables), len(found.damages), found.read.files]))
else:
    result = run_restore(effects, open_vault(url, open_store), RestoreRequest("latest"), lambda name: catalog)
    print(json.dumps([sorted(result.restored.failed), len(result.restored.done), list(result.restored.damaged), 0]))
"""


def test_the_round_trip_through_connect(lake: Lake, tmp_path: Path) -> None:
    names = lake.tables()
    truths = {table: lake.truth(table) for table in names if table != "shop.wishes"}
    with connect_server(tmp_path) as remote:
        failed, tables, damages, read = _run(lake, tmp_path, "backup", remote)
        assert (failed, tables, damages) == ([], len(names), 0)
        assert read > 50
        for table in names:
            lake.sql(f"DROP TABLE {lake.full(table)} PURGE")
        assert _run(lake, tmp_path, "restore", remote)[:3] == [[], len(names), []]
    for table, before in truths.items():
        compare_all(before, truth_again(before, lake.location(table), lake.spark, lake.full(table)))


def _run(lake: Lake, folder: Path, verb: str, remote: str) -> list:
    words = [verb, remote, (folder / "vault").as_uri(), str(lake.sqlite_path), lake.name]
    done = subprocess.run([sys.executable, "-c", CLIENT, *words], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
