"""A backup with nothing to do: no Spark, no Java, whatever the engine."""

import subprocess
import sys

import pytest

from tests.command import ENTRY, call, child
from tests.stories.small_lake import SmallLake

NOT_WANTED = {"pyspark", "py4j", "pandas", "sqlalchemy", "duckdb", "polars"}


@pytest.fixture
def held(lake: SmallLake) -> SmallLake:
    """Two tables that the vault holds as they are."""
    lake.make("sales", "orders")
    lake.make("sales", "items")
    assert call("backup", "lake").code == 0
    return lake


@pytest.mark.parametrize("engine", ["spark", "auto", "process"])
def test_it_imports_no_spark_and_starts_no_program(held: SmallLake, engine: str) -> None:
    watched = ("-X", "importtime", "-X", "frozen_modules=on")
    said = child("backup", "lake", "--engine", engine, "--json", python=watched)
    assert said.code == 0 and said.result["unchanged"] == 2
    lines = [line for line in said.err.splitlines() if line.startswith("import time:")]
    names = {line.rpartition("|")[2].strip().split(".")[0] for line in lines}
    assert "pyarrow" in names and not names & NOT_WANTED


def test_it_starts_no_program_at_all(held: SmallLake) -> None:
    """Python's own audit: every start of a process is an event."""
    hook = "import sys; sys.addaudithook(lambda event, args: event in ('subprocess.Popen', 'os.posix_spawn', 'os.exec', "
    hook += "'os.fork', 'os.forkpty', 'os.system') and print('started', event, args, file=sys.stderr)); "
    command = [sys.executable, "-c", hook + ENTRY, "backup", "lake", "--engine", "spark"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "2 tables unchanged" in done.stdout and done.stderr == ""


def test_one_changed_table_is_carried_beside_the_unchanged(held: SmallLake) -> None:
    held.append(("sales", "orders"), range(10, 20))
    said = call("backup", "lake", "--json").result
    assert {each["table"]: each["changed"] for each in said["tables"]} == {"lake.sales.items": False, "lake.sales.orders": True}
    assert said["new_files"] == 4 and said["unchanged"] == 1
