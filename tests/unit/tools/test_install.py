"""What the README and the Dockerfile do: `pip install` into a fresh environment gives a command that works."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import tree
from tests.synthetic import SyntheticTable

ROOT = Path(__file__).resolve().parents[3]
INTO_IMAGE = ("pyproject.toml", "README.md", "LICENSE", "src")


@pytest.mark.nightly
def test_an_installed_package_backs_up_and_restores(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    for name in INTO_IMAGE:
        assert f"!{name}\n" in (ROOT / ".dockerignore").read_text()
        subprocess.run(["cp", "-r", str(ROOT / name), str(source / name)], check=True)
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    subprocess.run([str(tmp_path / "venv" / "bin" / "pip"), "install", "--quiet", str(source)], check=True)
    subprocess.run(["rm", "-r", str(source)], check=True)
    table = SyntheticTable(tmp_path / "table")
    table.append(3)
    table.commit()
    before = tree(table.folder)
    for words in (["init"], ["backup", str(table.folder)], ["doctor"]):
        bergung(tmp_path, *words)
    for path in table.folder.rglob("*.*"):
        path.unlink()
    bergung(tmp_path, "restore", "--all")
    assert tree(table.folder) == before


def bergung(folder: Path, *words: str) -> None:
    settings = {"BERGUNG_VAULT": str(folder / "vault"), "BERGUNG_ENGINE": "process", "HOME": str(folder), "PATH": "/usr/bin:/bin"}
    command = [str(folder / "venv" / "bin" / "bergung"), *words]
    done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
