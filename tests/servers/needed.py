"""A server's program, or a skip that says how to get it; tests/conftest.py tells those at the end of a run."""

from pathlib import Path

import pytest
from tools.servers import CannotBuild, Program, built


def needed(program: Program) -> Path:
    """Where the program lies; it is built when it is not there yet."""
    try:
        return built(program)
    except CannotBuild as why:
        pytest.skip(f"needs a server: {why}")
