import subprocess
from functools import partial
from pathlib import Path

import pytest

from tests.contract.stores.child import in_child, seen_read_only

ROOT = Path(__file__).resolve().parents[3]


def dev(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(ROOT / "dev"), *words], cwd=cwd, capture_output=True, text=True, check=False)


def test_help_has_a_line_for_every_command_and_is_the_default(tmp_path: Path) -> None:
    told = dev("help", cwd=tmp_path)
    assert told.returncode == 0
    assert dev(cwd=tmp_path).stdout == told.stdout
    for command in ("demo", "test", "nightly", "check", "docs", "lock", "bench", "servers", "bergung", "python", "help"):
        assert f"\n  {command} " in told.stdout


def test_an_unknown_command_is_a_usage_error(tmp_path: Path) -> None:
    done = dev("nothing", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: unknown command nothing\nhint: ./dev help\n"


def test_it_works_from_any_folder_through_a_link(tmp_path: Path) -> None:
    link = tmp_path / "anywhere"
    link.symlink_to(ROOT / "dev")
    words = [link, "python", "-c", "import bergung; print(bergung.__file__)"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(ROOT / "src" / "bergung" / "__init__.py")


def test_byte_code_goes_to_the_cache_whatever_the_machine_has_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # With byte code switched off by the machine and kept elsewhere by ./dev, every start would compile everything.
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    words = "import sys; print(sys.dont_write_bytecode, sys.pycache_prefix)"
    told = dev("python", "-c", words, cwd=tmp_path).stdout.split()
    assert told[0] == "False"
    assert not Path(told[1]).is_relative_to(ROOT)


def test_it_works_with_its_own_folder_read_only(tmp_path: Path) -> None:
    def work() -> list[subprocess.CompletedProcess[str]]:
        with pytest.raises(OSError, match="Read-only"):
            (ROOT / "new").touch()
        with pytest.raises(OSError, match="Read-only"):
            (ROOT / "src" / "bergung" / "new").touch()
        words = [("bergung", "init", "--vault", "vault"), ("check", "ruff check", "files"), ("test", "-q", "tests/unit/model")]
        return [dev(*each, cwd=tmp_path) for each in words]

    made, checked, tested = in_child(partial(seen_read_only, ROOT), work)
    assert (made.returncode, (tmp_path / "vault" / "vault.json").exists()) == (0, True), made.stderr
    assert (checked.returncode, checked.stdout) == (0, "ruff check: ok\nfiles: ok\n"), checked.stdout
    assert tested.returncode == 0 and " passed in " in tested.stdout, tested.stdout + tested.stderr
