"""The house's own checks must see what they are there for: each is shown a copy of the tree with one thing wrong."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def house(tmp_path: Path) -> Path:
    for folder in ("src", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def imports(house: Path) -> str:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache", "--no-logo"]
    done = subprocess.run(command, cwd=house, env={"PYTHONPATH": str(house / "src")}, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def tool(house: Path, name: str) -> list[str]:
    command = [sys.executable, str(house / "tools" / f"{name}.py")]
    done = subprocess.run(command, cwd=house, capture_output=True, text=True, check=False)
    lines = done.stdout.split("\n")[:-1]
    assert done.returncode == (1 if any(lines) else 0), done.stderr
    return [line for line in lines if line]


@pytest.mark.parametrize(
    ("file", "line", "broken"),
    [
        ("iceberg/__init__.py", "import bergung.vault.layout", "bergung.iceberg is not allowed to import bergung.vault"),
        ("backup/__init__.py", "import bergung.restore", "bergung.backup is not allowed to import bergung.restore"),
        ("vault/layout.py", "import pyspark", "bergung is not allowed to import pyspark"),
        ("cli/__init__.py", "import pyiceberg", "bergung is not allowed to import pyiceberg"),
        ("vault/__init__.py", "import botocore", "bergung is not allowed to import botocore"),
        ("backup/__init__.py", "import boto3", "bergung is not allowed to import boto3"),
        ("cli/__init__.py", "import fastapi", "bergung is not allowed to import fastapi"),
        ("carry/__init__.py", "import bergung.catalogs.settings", "bergung.carry is not allowed to import pyiceberg"),
        ("utils/__init__.py", "", "bergung.utils"),
    ],
)
def test_an_import_through_a_wall_is_seen(house: Path, file: str, line: str, broken: str) -> None:
    place = house / "src" / "bergung" / file
    place.parent.mkdir(exist_ok=True)
    with place.open("a") as stream:
        stream.write(f"\n{line}\n")
    assert broken in imports(house)


def test_what_grew_too_large_or_hides_an_import_is_named(house: Path) -> None:
    assert tool(house, "sizes") == []
    room = house / "src" / "bergung" / "plan"
    (room / "long.py").write_text("x = 1\n" * 351)
    (room / "deep.py").write_text("def deep():\n" + "    x = 1\n" * 45)
    (room / "hiding.py").write_text("def f():\n    from bergung.model import names\n")
    (room / "__init__.py").write_text('"""A room."""\n\nimport json\n')
    assert tool(house, "sizes") == [
        "src/bergung/plan/__init__.py: a package's __init__ holds its docstring and nothing else (executors import it first)",
        "src/bergung/plan/deep.py:1: deep has 46 lines, at most 45",
        "src/bergung/plan/hiding.py:2: imports bergung.model inside a function",
        "src/bergung/plan/long.py: 351 lines, at most 350",
    ]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("see " + "/ro" + "ot/.cache", "holds a path of one machine"),
        ("from https://py" + "pi.org/simple", "names a registry's host"),
        ("monkeypatch." + "setattr(store, 'put', lose)", "replaces a real part"),
        ("# TO" + "DO later", "is marked unfinished"),
    ],
)
def test_what_no_file_may_hold_is_named(house: Path, line: str, complaint: str) -> None:
    subprocess.run(["git", "init", "--quiet", str(house)], check=True)
    assert tool(house, "files") == []
    (house / "notes.md").write_text(f"one\n{line}\n")
    assert tool(house, "files") == [f"notes.md:2: {complaint}: {line}"]


def test_a_lock_that_does_not_fit_is_named(house: Path) -> None:
    assert tool(house, "lock") == []
    project = (house / "pyproject.toml").read_text()
    (house / "pyproject.toml").write_text(project.replace('"rich>=14"', '"rich>=13"'))
    assert tool(house, "lock") == [
        "requirements.lock was made from other requirements than those of pyproject.toml",
        "hint: ./dev lock",
    ]
