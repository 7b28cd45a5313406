"""What was left out for want of a server is said at the end of every run, one line for each."""

from collections import Counter

import pytest

_NEEDS = "needs a server: "


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    left_out = Counter(_why(report) for report in terminalreporter.stats.get("skipped", []))
    for why, count in left_out.items():
        if _NEEDS in why:
            terminalreporter.write_line(f"{count} tests left out: {why.partition(_NEEDS)[2]}", yellow=True)


def _why(report: pytest.TestReport) -> str:
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
