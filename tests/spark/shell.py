"""A process that runs commands of ours one after the other, as a user's own would: only its JVM is started once."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from tests.command import Said

PROGRAM = """
import json, os, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.command import call
from bergung.carry import effects
if {on_executors}:
    effects.FEW_ROWS = 0  # nothing is little: every step runs on executors
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    said = call(*json.loads(line))
    print(json.dumps([said.code, said.out, said.err]), file=answers, flush=True)
"""
PATIENCE_SECONDS = 300


class Shell:
    """Commands go in, what they said comes back."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def call(self, *words: str) -> Said:
        """Run one and wait for its end."""
        self.begin(*words)
        return self.end()

    def begin(self, *words: str) -> None:
        stream(self.process.stdin).write(json.dumps(words) + "\n")
        stream(self.process.stdin).flush()

    def end(self) -> Said:
        timer = threading.Timer(PATIENCE_SECONDS, self.process.kill)
        timer.start()
        line = stream(self.process.stdout).readline()
        timer.cancel()
        assert line, f"no answer: {self.process.poll()}"
        return Said(*json.loads(line))


def stream(found: "IO[str] | None") -> "IO[str]":
    assert found is not None
    return found


@contextmanager
def shell(env: Mapping[str, str], *, on_executors: bool = False) -> Iterator[Shell]:
    """Its environment is ours and what is given; where it stands is where we stand."""
    program = PROGRAM.format(root=os.path.dirname(os.path.dirname(os.path.dirname(__file__))), on_executors=on_executors)
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program]
    with subprocess.Popen(command, env={**os.environ, **env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Shell(process)
        finally:
            stream(process.stdin).close()
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
