"""The command line as a program: in this process, which is quick, or in one of its own."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from bergung.cli.main import run

ENTRY = "from bergung.cli.main import main; main()"


@dataclass(frozen=True)
class Said:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What it said with --json."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def result(self) -> dict[str, Any]:
        """The last line, which is the result."""
        last = self.lines[-1]
        assert last["type"] == "result" and last["exit_code"] == self.code
        return last

    @property
    def errors(self) -> list[str]:
        """Facts of the errors, as people see them."""
        return [line.removeprefix("error: ") for line in self.err.splitlines() if line.startswith("error: ")]

    @property
    def hints(self) -> list[str]:
        return [line.removeprefix("hint: ") for line in self.err.splitlines() if line.startswith("hint: ")]


def call(*words: str) -> Said:
    """Here."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err
    try:
        code = run(list(words))
    finally:
        sys.stdout, sys.stderr = before
    return Said(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))  # type: ignore[attr-defined]


def command_line(*words: str, python: tuple[str, ...] = ()) -> list[str]:
    """What starts it in a process of its own."""
    return [sys.executable, *python, "-c", ENTRY, *words]


def child(*words: str, python: tuple[str, ...] = (), env: Mapping[str, str] | None = None) -> Said:
    """There."""
    environment = {**os.environ, **(env or {})}
    done = subprocess.run(command_line(*words, python=python), env=environment, capture_output=True, text=True, check=False)
    return Said(done.returncode, done.stdout, done.stderr)


def tree(*folders: Path, without: str = "") -> dict[str, str]:
    """Every file and the digest of its bytes; what lies below a folder named `without` is left out."""
    files = (path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path): sha256(path.read_bytes()).hexdigest() for path in files if not without or without not in path.parts}
