"""A backup that must leave something of the line and of the day to others."""

import time
from datetime import datetime, timedelta

import pytest

from bergung.clock import SystemClock
from tests.command import call
from tests.stories.small_lake import SmallLake

ROWS = 40_000


@pytest.fixture
def sized(lake: SmallLake) -> int:
    """A table, and the bytes of its data."""
    lake.make("sales", "orders", rows=range(ROWS))
    lake.append(("sales", "orders"), range(ROWS))
    return sum(path.stat().st_size for path in lake.files("sales", "orders", kind="*.parquet"))


def test_a_backup_keeps_to_its_rate_and_is_whole(lake: SmallLake, sized: int) -> None:
    began = time.perf_counter()
    result = call("backup", "lake", "--limit-rate", f"{sized // 3}", "--json").result
    assert result["status"] == "complete" and time.perf_counter() - began > 1.5
    lake.lose("sales", "orders")
    began = time.perf_counter()
    assert call("restore", "--all", "--limit-rate", f"{sized // 3}").code == 0
    assert time.perf_counter() - began > 1.5
    assert call("verify").code == 0


def test_a_rate_of_the_settings_counts_too(lake: SmallLake, sized: int) -> None:
    (lake.folder / "home" / "bergung.toml").write_text(f'limit_rate = "{sized // 3}"\n')
    began = time.perf_counter()
    assert call("backup", "lake").code == 0
    assert time.perf_counter() - began > 1.5


def test_outside_of_its_window_nothing_is_carried_and_inside_it_goes_on(lake: SmallLake, sized: int) -> None:
    now = SystemClock().now().astimezone()
    closed, opened = (_window(now, hours) for hours in ((2, 3), (-1, 1)))
    refused = call("backup", "lake", "--window", closed)
    assert refused.code == 130 and refused.errors == [f"the window {closed} is not open"]
    assert refused.hints == [f"run the same command again: it goes on where it stopped, from {closed[:5]} on"]
    assert call("points", "--json").result["points"] == []
    assert call("backup", "lake", "--window", opened).code == 0
    # Nothing to carry: nothing to wait for.
    assert call("backup", "lake", "--window", closed).code == 0


def _window(now: datetime, hours: tuple[int, int]) -> str:
    return "-".join(f"{now + timedelta(hours=each):%H:%M}" for each in hours)


@pytest.mark.parametrize(
    ("option", "word"),
    [
        ("--limit-rate", "fast"),
        ("--max-requests", "0"),
        ("--window", "night"),
        ("--window", "25:00-06:00"),
        ("--window", "6:00-06:00"),
    ],
)
def test_brakes_that_mean_nothing_are_told(lake: SmallLake, sized: int, option: str, word: str) -> None:
    said = call("backup", "lake", option, word)
    assert said.code == 2 and word in said.errors[0] and said.hints
