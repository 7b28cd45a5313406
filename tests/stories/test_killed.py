"""`kill -9` of a backup in the middle of hundreds of files, without Spark: the next run ends what it began."""

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


def test_the_next_run_ends_what_a_killed_one_began(table: SyntheticTable, tmp_path: Path) -> None:
    source = tree(table.folder)
    run = subprocess.Popen(command_line("backup", str(table.folder)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _wait_for(tmp_path, run)
    run.kill()
    run.wait()
    left = _blobs(tmp_path)
    assert KILLED_AT <= len(left) < FILES, "killed in the middle"
    assert call("points", "--json").result["points"] == []
    assert call("verify").code == 0

    again = call("backup", str(table.folder), "--json").result
    assert again["status"] == "complete"
    assert left.items() <= _blobs(tmp_path).items(), "what the killed run had finished is used, not written again"
    found_there = sum(path.stat().st_size for path in left)
    assert again["new_bytes"] - again["stored_bytes"] == found_there
    verified = call("verify", "--json").result
    assert (verified["exit_code"], verified["damages"]) == (0, [])
    for path in (table.folder / "data").iterdir():
        path.unlink()
    assert call("restore", "--all").code == 0
    assert tree(table.folder) == source


def _blobs(tmp_path: Path) -> dict[Path, tuple[int, int]]:
    """Finished ones: inode and time of each."""
    facts = {path: path.stat() for path in tmp_path.glob("vault/tables/*/files/data/*.parquet")}
    return {path: (found.st_ino, found.st_mtime_ns) for path, found in facts.items()}


def _wait_for(tmp_path: Path, run: "subprocess.Popen[bytes]") -> None:
    for _ in range(60_000):
        if len(_blobs(tmp_path)) >= KILLED_AT:
            return
        assert run.poll() is None, "the run ended before it could be killed"
        time.sleep(0.002)
    raise AssertionError("no blobs came")
