"""`kill -9` and Ctrl-C in the middle of hundreds of files, without Spark: the next run ends what that one began."""

import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from bergung.backup.request import ALL
from tests.command import call, command_line, tree
from tests.faults.counting_store import Counts
from tests.stories.test_books import _backup
from tests.synthetic import Shape, SyntheticTable

FILES, ROWS = 600, 20_000
KILLED_AT = 150


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SyntheticTable:
    monkeypatch.setenv("BERGUNG_VAULT", str(tmp_path / "vault"))
    monkeypatch.setenv("BERGUNG_ENGINE", "process")
    assert call("init").code == 0
    table = SyntheticTable(tmp_path / "table", Shape())
    table.append([range(ROWS)], manifests=1)
    pattern = table.local(table.live_paths()[0]).read_bytes()
    table.append(FILES - 1, manifests=3)
    for path in table.live_paths()[1:]:
        # Long enough that there is a middle; only their length is in the metadata, which is made to fit.
        table.local(path).write_bytes(pattern)
    table.delete(table.live_paths()[1:])
    files = [f"{table.location}/data/{path.name}" for path in sorted((table.folder / "data").iterdir())[1:]]
    table.add_files({"file_path": path, "record_count": ROWS, "file_size_in_bytes": len(pattern)} for path in files)
    table.commit()
    return table


def test_the_next_backup_ends_what_a_killed_one_began(table: SyntheticTable, tmp_path: Path) -> None:
    source = tree(table.folder)
    left = _killed_in_the_middle(tmp_path / "vault" / "tables", "backup", str(table.folder))
    assert call("points", "--json").result["points"] == []
    assert call("verify").code == 0

    again = call("backup", str(table.folder), "--json").result
    assert again["status"] == "complete"
    assert left.items() <= _files(tmp_path / "vault" / "tables").items(), "what was finished is used, not written again"
    found_there = sum(path.stat().st_size for path in left)
    assert again["new_bytes"] - again["stored_bytes"] == found_there
    verified = call("verify", "--json").result
    assert (verified["exit_code"], verified["damages"]) == (0, [])
    for path in (table.folder / "data").iterdir():
        path.unlink()
    assert call("restore", "--all").code == 0
    assert tree(table.folder) == source


def test_the_next_restore_ends_what_a_killed_one_began(table: SyntheticTable) -> None:
    source = tree(table.folder)
    assert call("backup", str(table.folder)).code == 0
    shutil.rmtree(table.folder)
    left = _killed_in_the_middle(table.folder, "restore", "--all")
    assert _visible(table.folder).items() <= source.items(), "no file is half there"
    assert table.metadata_path is not None and not table.local(table.metadata_path).exists(), "it comes last"

    assert call("restore", "--all").code == 0
    assert left.items() <= _files(table.folder).items(), "what was finished stays as it is"
    wanted = {str(table.local(path)) for path in (*table.reached, table.metadata_path)}
    assert _visible(table.folder) == {path: digest for path, digest in source.items() if path in wanted}


def test_a_second_ctrl_c_stops_a_restore_at_once_and_the_same_command_ends_it(table: SyntheticTable) -> None:
    source = tree(table.folder)
    assert call("backup", str(table.folder)).code == 0
    shutil.rmtree(table.folder)
    run = subprocess.Popen(command_line("restore", "--all"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _wait(run, lambda: len(_files(table.folder)) >= KILLED_AT)
    for _ in range(2):
        run.send_signal(signal.SIGINT)
        time.sleep(0.05)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert err.splitlines()[-1] == "hint: run the same command again: it goes on where it stopped"
    assert call("runs", "--json").result["runs"][-1]["run_status"] == "interrupted"
    assert _visible(table.folder).items() <= source.items(), "no file is half there"
    assert table.metadata_path is not None and not table.local(table.metadata_path).exists(), "it comes last"
    assert call("restore", "--all").code == 0
    assert _visible(table.folder).items() <= source.items() and table.local(table.metadata_path).exists()


def _visible(folder: Path) -> dict[str, str]:
    """Without what a killed write leaves under a hidden name."""
    return {path: digest for path, digest in tree(folder).items() if not Path(path).name.startswith(".bergung-")}


def test_what_a_killed_run_had_stored_is_not_even_read_again(table: SyntheticTable, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    _killed(lambda: any(vault.glob("runs/*/done/*.parquet")), "backup", str(table.folder))
    parts = [pq.read_table(part) for part in vault.glob("runs/*/done/*.parquet")]
    stored = [path for part in parts for path in part["path"].to_pylist()]
    assert 0 < len(stored) < FILES, "killed in the middle"
    # Meanwhile the table moved on, one of the files is another one under the same name, and one blob is lost.
    table.append([range(5)], manifests=1)
    table.commit()
    changed, lost = table.local(stored[0]), next(vault.glob(f"tables/*/files/data/{Path(stored[1]).name}"))
    changed.write_bytes(bytes(reversed(changed.read_bytes())))
    lost.unlink()

    counts = Counts()
    result = _backup(vault.as_uri(), table, ALL, counts)
    assert result.record.backup_metadata.status == "complete"
    read = {Path(key).name for key in counts.keys("blocks", str(table.folder).lstrip("/"))}
    assert not read & {Path(path).name for path in stored[2:]}, "what the vault holds of the same version is taken over"
    assert {changed.name, lost.name} <= read
    assert call("verify").code == 0
    source = tree(table.folder)
    for path in (table.folder / "data").iterdir():
        path.unlink()
    assert call("restore", "--all").code == 0
    assert tree(table.folder) == source


def _killed_in_the_middle(folder: Path, *words: str) -> dict[Path, tuple[int, int]]:
    """The data files below the folder that were finished."""
    _killed(lambda: len(_files(folder)) >= KILLED_AT, *words)
    left = _files(folder)
    assert KILLED_AT <= len(left) < FILES, "killed in the middle"
    return left


def _killed(until: Callable[[], bool], *words: str) -> None:
    run = subprocess.Popen(command_line(*words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _wait(run, until)
    run.kill()
    run.wait()


def _wait(run: "subprocess.Popen[Any]", until: Callable[[], bool]) -> None:
    for _ in range(60_000):
        if until():
            return
        assert run.poll() is None, "the run ended before it could be stopped"
        time.sleep(0.002)


def _files(folder: Path) -> dict[Path, tuple[int, int]]:
    """Finished data files: inode and time of each."""
    found = {}
    for path in folder.rglob("data/[!.]*.parquet"):
        facts = path.stat()
        found[path] = (facts.st_ino, facts.st_mtime_ns)
    return found
