"""The check of the docs must see what it is there for: it is shown a copy of the tree with one thing wrong."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    house = tmp_path_factory.mktemp("house")
    for folder in ("src", "tools", "docs", "examples"):
        shutil.copytree(ROOT / folder, house / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("dev", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, house / name)
    return house


def complaints(house: Path) -> list[str]:
    ours = {**os.environ, "PYTHONPATH": str(house / "src")}
    command = [sys.executable, str(house / "tools" / "docs.py"), "check"]
    done = subprocess.run(command, cwd=house, env=ours, capture_output=True, text=True, check=False)
    found = [line for line in done.stdout.splitlines() if line]
    assert done.returncode == (1 if found else 0), done.stderr
    return found


def test_the_docs_as_they_are_tell_the_truth(house: Path) -> None:
    assert complaints(house) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        ("docs/cli.md", "Leave out what this means", "Leave out nothing", "docs/cli.md does not tell what the commands say"),
        ("src/bergung/cli/verbs/points.py", "List the", "Show the", "docs/cli.md does not tell what the commands say"),
        ("README.md", "docs/format.md)", "docs/formats.md)", "README.md: docs/formats.md leads nowhere"),
        ("README.md", "bergung points", "bergung pointss", "README.md: bergung has no command pointss"),
        ("README.md", "./dev demo", "./dev demonstrate", "README.md: ./dev has no command demonstrate"),
        ("docs/house.md", "`plan/`", "`plans`", "docs/house.md does not tell of the room plan/"),
        ("dev", "  python ARGS…  ", "  serpent ARGS…", "no page tells of ./dev serpent"),
    ],
)
def test_what_is_not_so_any_more_is_named(house: Path, file: str, old: str, new: str, complaint: str) -> None:
    right = (house / file).read_text()
    assert old in right
    (house / file).write_text(right.replace(old, new))
    try:
        assert any(complaint in found for found in complaints(house))
    finally:
        (house / file).write_text(right)
