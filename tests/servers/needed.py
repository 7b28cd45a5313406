"""A server's program, or a skip that says how to get it; what was left out is told at the end of a run."""

from collections import Counter
from pathlib import Path
from typing import NoReturn

import pytest
from tools.servers import CannotBuild, Program, built

_NEEDS = "needs a server: "


def needed(program: Program) -> Path:
    """Where the program lies; it is built when it is not there yet."""
    try:
        return built(program)
    except CannotBuild as why:
        absent(why)


def absent(why: CannotBuild) -> NoReturn:
    """Skip, so that it is told."""
    pytest.skip(f"{_NEEDS}{why}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for each program that could not be had."""
    left_out = Counter(_why(report) for report in terminalreporter.stats.get("skipped", []))
    for why, count in left_out.items():
        if _NEEDS in why:
            terminalreporter.write_line(f"{count} tests left out: {why.partition(_NEEDS)[2]}", yellow=True)


def _why(report: pytest.TestReport) -> str:
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
