"""`kill -9` in the middle of hundreds of files, without Spark: the next run ends what the killed one began."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.command import call, command_line, tree
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


def _visible(folder: Path) -> dict[str, str]:
    """Without what a killed write leaves under a hidden name."""
    return {path: digest for path, digest in tree(folder).items() if not Path(path).name.startswith(".bergung-")}


def _killed_in_the_middle(folder: Path, *words: str) -> dict[Path, tuple[int, int]]:
    """The data files below the folder that were finished."""
    run = subprocess.Popen(command_line(*words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(60_000):
        if len(_files(folder)) >= KILLED_AT:
            break
        assert run.poll() is None, "the run ended before it could be killed"
        time.sleep(0.002)
    run.kill()
    run.wait()
    left = _files(folder)
    assert KILLED_AT <= len(left) < FILES, "killed in the middle"
    return left


def _files(folder: Path) -> dict[Path, tuple[int, int]]:
    """Finished data files: inode and time of each."""
    found = {}
    for path in folder.rglob("data/[!.]*.parquet"):
        facts = path.stat()
        found[path] = (facts.st_ino, facts.st_mtime_ns)
    return found
