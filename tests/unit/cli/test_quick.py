"""What `--help` costs, and what a call imports: measured in processes of their own."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import child, command_line

HELP_SECONDS = 0.150
HEAVY = ("pyarrow", "pandas", "numpy", "pyspark", "pyiceberg", "rich", "msgspec", "fastavro", "sqlite3", "asyncio")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which modules are compiled once, as they are for everybody who has run a program twice."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**environment, "PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("pycache"))}


def cpu_seconds(command: list[str], environment: dict[str, str]) -> float:
    """The least of several runs: other work on the machine can only add."""
    subprocess.run(command, env=environment, capture_output=True, check=True)
    return min(_once(command, environment) for _ in range(8))


def _once(command: list[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


@pytest.mark.parametrize("words", [["--help"], ["backup", "--help"], ["--version"]])
def test_help_takes_less_than_150_ms_beyond_pythons_own_start(words: list[str], compiled: dict[str, str]) -> None:
    python = cpu_seconds([sys.executable, "-c", "pass"], compiled)
    assert cpu_seconds(command_line(*words), compiled) - python < HELP_SECONDS


@pytest.mark.parametrize("words", [["--help"], ["restore", "--help"], ["config", "show"]])
def test_help_and_settings_import_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    found = imported(*words, home=tmp_path)
    assert not found & set(HEAVY) - ({"rich"} if words[0] == "config" else set())


def imported(*words: str, home: Path) -> set[str]:
    """The packages that a call imports, by Python's own account."""
    said = child(*words, python=("-X", "importtime"), env={"HOME": str(home), "XDG_CONFIG_HOME": str(home)})
    assert said.code == 0, said.err
    lines = [line for line in said.err.splitlines() if line.startswith("import time:")]
    assert len(lines) > 50
    return {line.rpartition("|")[2].strip().split(".")[0] for line in lines}
