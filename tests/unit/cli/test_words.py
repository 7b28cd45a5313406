"""Numbers and times, as people read and write them."""

import pytest

from bergung.cli import words
from bergung.errors import UsageError


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (99_499, "99.5 kB"),
        (99_500, "100 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (1_234_567_890, "1.2 GB"),
        (10**19, "10000 PB"),
    ],
)
def test_sizes_have_three_digits_that_matter(count: int, text: str) -> None:
    assert words.size(count) == text


def test_numbers_have_commas_and_what_nobody_counted_is_a_dash() -> None:
    assert [words.number(count) for count in (0, 1234, None)] == ["0", "1,234", "-"]


def test_times_are_utc_to_the_second() -> None:
    assert words.time("2026-05-20T05:00:00.999999+02:00") == "2026-05-20 03:00:00"


@pytest.mark.parametrize(
    ("count", "text"), [(0.4, "0 s"), (59.6, "1 min 0 s"), (61, "1 min 1 s"), (3661, "1 h 1 min"), (90_000, "25 h 0 min")]
)
def test_spans_are_short(count: float, text: str) -> None:
    assert words.seconds(count) == text


def test_one_and_many() -> None:
    assert [words.many(count, "file") for count in (0, 1, 1000)] == ["0 files", "1 file", "1,000 files"]


@pytest.mark.parametrize(
    ("text", "count"),
    [("500", 500), ("10k", 10_000), ("10 MB", 10_000_000), ("1.5g", 1_500_000_000), ("4GiB", 4 * 1024**3), ("2mib", 2 * 1024**2)],
)
def test_sizes_are_read_as_they_are_printed(text: str, count: int) -> None:
    assert words.to_bytes(text) == count


@pytest.mark.parametrize(("text", "days"), [("90d", 90), ("12 w", 84), ("7Y", 2555)])
def test_spans_of_days(text: str, days: int) -> None:
    assert words.to_days(text) == days


@pytest.mark.parametrize(("text", "share"), [("all", 1.0), ("ALL", 1.0), ("10%", 0.1), ("0.5 %", 0.005), ("100%", 1.0)])
def test_shares(text: str, share: float) -> None:
    assert words.to_share(text) == share


@pytest.mark.parametrize("text", ["", "x", "10", "0d", "90m", "-1d"])
def test_what_is_no_span_says_how_to_write_one(text: str) -> None:
    with pytest.raises(UsageError, match="not a number of days") as caught:
        words.to_days(text)
    assert "90d" in caught.value.hint


@pytest.mark.parametrize("text", ["", "10x", "m", "1.m", "-5k", "10 kg"])
def test_what_is_no_size_says_how_to_write_one(text: str) -> None:
    with pytest.raises(UsageError, match="not a size") as caught:
        words.to_bytes(text)
    assert "10m" in caught.value.hint


@pytest.mark.parametrize("text", ["", "10", "0%", "101%", "half"])
def test_what_is_no_share_says_how_to_write_one(text: str) -> None:
    with pytest.raises(UsageError, match="not a share") as caught:
        words.to_share(text)
    assert "10%" in caught.value.hint
