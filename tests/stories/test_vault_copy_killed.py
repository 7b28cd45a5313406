"""`kill -9` of a copy in the middle, and two copies into one place at once: in the end one whole vault."""

import subprocess
import time
from pathlib import Path

import pytest

from tests.command import call, command_line, tree
from tests.stories.test_killed import FILES, KILLED_AT
from tests.stories.test_killed import table as table
from tests.synthetic import SyntheticTable

DATA = "tables/*/files/data/*.parquet"


@pytest.fixture
def places(table: SyntheticTable, tmp_path: Path) -> tuple[Path, Path]:
    """A vault with one point of hundreds of files, and where its copy goes."""
    assert call("backup", str(table.folder)).code == 0
    return tmp_path / "vault", tmp_path / "second"


def kept(vault: Path) -> dict[str, str]:
    """Without journals, and without the unfinished writes that a killed process leaves."""
    found = {path.removeprefix(f"{vault}/"): digest for path, digest in tree(vault, without="runs").items()}
    return {key: digest for key, digest in found.items() if "/.bergung-" not in key}


def begin(second: Path) -> "subprocess.Popen[bytes]":
    words = command_line("vault", "copy", str(second), "--json")
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for(run: "subprocess.Popen[bytes]", second: Path, files: int) -> None:
    for _ in range(60_000):
        if len(list(second.glob(DATA))) >= files:
            return
        assert run.poll() is None, "the run ended before it could be stopped"
        time.sleep(0.002)
    raise AssertionError("no blobs came")


def test_the_next_run_ends_what_a_killed_one_began(places: tuple[Path, Path]) -> None:
    vault, second = places
    run = begin(second)
    wait_for(run, second, KILLED_AT)
    run.kill()
    run.communicate()
    left = {path: path.stat().st_ino for path in second.glob(DATA)}
    assert KILLED_AT <= len(left) < FILES, "killed in the middle"
    assert call("points", "--vault", str(second), "--json").result["points"] == []
    assert call("verify", "--vault", str(second)).code == 0

    again = call("vault", "copy", str(second), "--json").result
    assert again["status"] == "complete" and again["verified"]["checked"]["files"] > FILES
    assert FILES - len(left) <= again["brought"]["files"] < FILES - len(left) + 20, "what was there is not carried again"
    assert {path: path.stat().st_ino for path in left} == left
    assert kept(second) == kept(vault)
    assert call("verify", "--vault", str(second)).code == 0


def test_two_copies_into_one_place_at_once(places: tuple[Path, Path]) -> None:
    vault, second = places
    runs = [begin(second), begin(second)]
    said = [run.communicate() for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    assert kept(second) == kept(vault)
    seen = call("verify", "--vault", str(second), "--json").result
    assert (seen["damages"], seen["void_slots"], seen["points"]) == ([], [], 1)
    assert len(call("runs", "--vault", str(second), "--json").result["runs"]) == 5
