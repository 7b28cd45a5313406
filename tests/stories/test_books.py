"""The books grow with the change: what a small commit costs does not depend on the size of the table."""

import json
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from bergung.backup.request import ALL, METADATA, BackupRequest
from bergung.backup.run import BackupResult, run_backup
from bergung.carry.effects import Effects, here
from bergung.catalogs.select import select_tables
from bergung.clock import SystemClock
from bergung.iceberg.manifests import read_live_files
from bergung.stores.open import open_store
from bergung.vault.vault import init_vault, open_vault
from tests.command import call
from tests.faults.counting_store import Counts, counting_open
from tests.synthetic import Shape, SyntheticTable

FILES, MANIFESTS = 200_000, 60
MIB, GIB = 1024**2, 1024**3


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> SyntheticTable:
    table = SyntheticTable(tmp_path_factory.mktemp("large") / "t", Shape(with_data=False, columns_with_statistics=5))
    table.append(FILES, manifests=MANIFESTS)
    table.commit()
    return table


def test_a_large_table_by_its_metadata(large: SyntheticTable, tmp_path: Path) -> None:
    vault = (tmp_path / "vault").as_uri()
    first = _in_a_process(large, vault)
    assert first["opened_manifests"] == MANIFESTS
    assert first["peak_bytes"] < GIB

    large.append(3)
    large.commit()
    counts = Counts()
    second = _backup(vault, large, METADATA, counts)
    assert second.opened_manifests == 1
    manifests = {key for key in counts.keys() if key.startswith(_key(large)) and "-m" in key}
    entries = sum(read_live_files(Path(f"/{key}").read_bytes(), key).num_rows for key in manifests)
    receipts = counts.of("put_if_absent", "tables/")
    written = [one for one in receipts if "/receipts/" in one.key]
    print(f"\nfirst run of {FILES} files: {first['seconds']:.1f} s, peak {first['peak_bytes'] / 2**20:.0f} MiB")
    print(
        f"second: {counts.requests()} requests, {entries} entries decoded, {sum(one.bytes_ for one in written)} bytes of receipts"
    )
    assert (len(manifests), entries) == (1, 3)
    assert len(written) == 3, "the manifest's, the manifest list's, the metadata file's"
    assert sum(one.bytes_ for one in written) < 64 * 1024
    assert counts.requests() < 120


@pytest.mark.parametrize("commits", [0, 1])
def test_a_commit_that_merges_manifests_reads_no_file_again(tmp_path: Path, commits: int) -> None:
    """Also when commits before it, as new, still name the manifests that it merges."""
    table = SyntheticTable(tmp_path / "t", Shape())
    for _ in range(4):
        table.append(5)
        table.commit()
    vault = (tmp_path / "vault").as_uri()
    _backup(vault, table, ALL, Counts())
    for _ in range(commits):
        table.append(2)
        table.commit()
    table.append(2)
    table.merge(4)
    table.commit()
    counts = Counts()
    result = _backup(vault, table, ALL, counts)
    data = {key for operation in ("read", "blocks") for key in counts.keys(operation, _key(table)) if key.endswith(".parquet")}
    new = 2 + 2 * commits
    assert len(data) == new, "the new files, none of the twenty that only changed their manifest"
    assert result.opened_manifests == 2 + commits
    entry = next(iter(result.record.tables.values()))
    assert (entry.status, entry.new_files["data"].files) == ("complete", new)


@pytest.mark.parametrize("verb", ["backup", "restore"])
def test_memory_does_not_follow_the_size_of_a_file(tmp_path: Path, verb: str) -> None:
    """Blocks of a few MB, whatever the file."""
    peaks = []
    for size in (MIB, GIB):
        table = SyntheticTable(tmp_path / str(size), Shape())
        path = f"{table.location}/data/large.bin"
        with table.local(path).open("wb") as file:
            file.truncate(size)
        table.add_files([{"file_path": path, "file_size_in_bytes": size}])
        table.commit()
        vault = ("--vault", str(tmp_path / f"vault {size}"))
        assert call("init", *vault).code == 0
        words = ["backup", str(table.folder)]
        if verb == "restore":
            assert call(*words, *vault, "--engine", "process").code == 0
            table.local(path).unlink()
            words = ["restore", "--all"]
        peaks.append(_peak_of(*words, *vault, "--engine", "process"))
        assert table.local(path).stat().st_size == size
        for each in tmp_path.rglob("large.bin"):
            each.unlink()
    print(f"\n{verb}: peak {peaks[0] / MIB:.0f} MiB with a file of 1 MiB, {peaks[1] / MIB:.0f} MiB with one of 1 GiB")
    assert peaks[1] - peaks[0] < 64 * MIB


def _peak_of(*words: str) -> int:
    """Of a command in a process of its own."""
    program = (
        "import re, sys; from pathlib import Path; from bergung.cli.main import run; code = run(sys.argv[1:]); "
        "print(code, int(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1]) * 1024)"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    code, peak = done.stdout.splitlines()[-1].split()
    assert code == "0", done.stderr
    return int(peak)


def _key(table: SyntheticTable) -> str:
    return str(table.folder).lstrip("/")


def _backup(vault: str, table: SyntheticTable, captured: str, counts: Counts) -> BackupResult:
    if not list(open_store(vault).list("vault.json")):
        init_vault(vault, open_store, SystemClock(), uuid4())
    open_ = counting_open(counts)
    assert table.metadata_path is not None
    selected = select_tables([table.metadata_path], [], lambda name: None)  # type: ignore[arg-type,return-value]
    effects = Effects(engine=here, open_store=open_)
    return run_backup(effects, open_vault(vault, open_), BackupRequest((table.metadata_path,), captured=captured), selected)


CHILD = """
import json, sys, time
from pathlib import Path
from tests.faults.counting_store import Counts
from tests.stories.test_books import METADATA, _backup
class Table:
    folder, metadata_path = Path(sys.argv[2]), sys.argv[3]
started = time.perf_counter()
result = _backup(sys.argv[1], Table, METADATA, Counts())
seconds = time.perf_counter() - started
peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024
print(json.dumps({"opened_manifests": result.opened_manifests, "seconds": seconds, "peak_bytes": peak}))
"""


def _in_a_process(table: SyntheticTable, vault: str) -> dict[str, float]:
    """So that its peak of memory is its own."""
    words = [sys.executable, "-c", CHILD, vault, str(table.folder), str(table.metadata_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
