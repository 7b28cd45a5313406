"""Moments as people write them."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from bergung.clock import from_text, to_text
from bergung.errors import UsageError
from bergung.model.moments import HINT, Moment, read_moment, told, told_span

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
BERLIN = "CET-1CEST,M3.5.0,M10.5.0/3"
NONE = """
    yesterday 2026 2026-05 2026-5-2 2026-05-32 2026-02-29T00:00Z 2026-366 2026-000 2026-W54-1 07:00Z 2026-05-20Z 2026-05-20T
    2026-05-20T25:00Z 2026-05-20T24:01Z 2026-05-20T07:60Z 2026-05-20T07:00:60Z 2026-05-20T07:00+24 2026-05-20T07:00+02:60
    2026-05-20x07:00Z 2026-05-20T7:00Z 2026-05-20T0700:00Z 9999-12-31T24:00Z 0001-01-01T00:00+01:00
    1 2026140 20260520070000 17792604001 1779260400123456 1779260400123.5 -1779260400 @ @1e9 1_779_260_400 @99999999999999
"""


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine in Berlin, by its rule and not by a file of zones that it may not have."""
    monkeypatch.setenv("TZ", BERLIN)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-05-20T09:00:00+02:00", "2026-05-20T07:00:00Z"),
        ("2026-05-20T09:00:00.123456+02:00", "2026-05-20T07:00:00.123456Z"),
        ("2026-05-20T07:00:00,5Z", "2026-05-20T07:00:00.5Z"),
        ("2026-05-20T07:00:00.1234569Z", "2026-05-20T07:00:00.123456Z"),
        ("2026-05-20t07:00z", "2026-05-20T07:00:00Z"),
        ("2026-05-20 07:00 UTC", "2026-05-20T07:00:00Z"),
        ("2026-05-20  07:00:01 gmt", "2026-05-20T07:00:01Z"),
        (" 2026-05-20T07Z ", "2026-05-20T07:00:00Z"),
        ("2026-05-20T07.5Z", "2026-05-20T07:30:00Z"),
        ("2026-05-20T07:00.25Z", "2026-05-20T07:00:15Z"),
        ("2026-05-20T24:00Z", "2026-05-21T00:00:00Z"),
        ("2026-12-31T23:30-0130", "2027-01-01T01:00:00Z"),
        ("2026-05-20T01:00\N{MINUS SIGN}06", "2026-05-20T07:00:00Z"),
        ("20260520T070000Z", "2026-05-20T07:00:00Z"),
        ("20260520T0700Z", "2026-05-20T07:00:00Z"),
        ("20260520T070000.25+0000", "2026-05-20T07:00:00.25Z"),
        ("2026-W21-3T07:00Z", "2026-05-20T07:00:00Z"),
        ("2026w213T07Z", "2026-05-20T07:00:00Z"),
        ("2026-140T07:00Z", "2026-05-20T07:00:00Z"),
        ("2026140T0700Z", "2026-05-20T07:00:00Z"),
        ("1779260400", "2026-05-20T07:00:00Z"),
        ("1779260400.5", "2026-05-20T07:00:00.5Z"),
        ("1779260400123", "2026-05-20T07:00:00.123Z"),
        ("999999999", "2001-09-09T01:46:39Z"),
        ("999999999999", "2001-09-09T01:46:39.999Z"),
        ("@0", "1970-01-01T00:00:00Z"),
        ("@20260520", "1970-08-23T11:55:20Z"),
        ("@-0.25", "1969-12-31T23:59:59.75Z"),
        ("now", "2026-05-20T12:00:00Z"),
    ],
)
def test_a_moment_that_says_where_it_belongs(text: str, moment: str, berlin: None) -> None:
    assert read_moment(text, NOW) == Moment(from_text(moment))


@pytest.mark.parametrize(
    ("text", "moment", "hours"),
    [
        ("2026-05-20T09:00:00", "2026-05-20T07:00:00Z", 2),
        ("2026-05-20 09:00", "2026-05-20T07:00:00Z", 2),
        ("20260520", "2026-05-19T22:00:00Z", 2),
        ("2026-05-20", "2026-05-19T22:00:00Z", 2),
        ("2026-140", "2026-05-19T22:00:00Z", 2),
        ("2026-01-20T09:00", "2026-01-20T08:00:00Z", 1),
    ],
)
def test_without_a_zone_it_is_this_machines(text: str, moment: str, hours: int, berlin: None) -> None:
    assert read_moment(text, NOW) == Moment(from_text(moment), timedelta(hours=hours))


@pytest.mark.parametrize("text", ["", " ", "2026-05-20T07:00Z\n--", "\u0662026-05-20T07:00Z", *NONE.split()])
def test_what_is_no_time_says_how_to_write_one(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_moment(text, NOW)
    assert raised.value.message == f"not a time: {text!r}" and raised.value.hint == HINT


def test_the_hour_that_came_twice_must_be_named(berlin: None) -> None:
    with pytest.raises(UsageError, match="had 2026-10-25T02:30 twice") as raised:
        read_moment("2026-10-25T02:30", NOW)
    both = raised.value.hint.removeprefix("say which: ").split(" or ")
    assert both == ["2026-10-25T00:30:00.000000Z", "2026-10-25T01:30:00.000000Z"]
    assert [to_text(read_moment(each, NOW).at) for each in both] == both


def test_the_hour_that_never_came_is_no_time(berlin: None) -> None:
    with pytest.raises(UsageError, match="left out 2026-03-29T02:30"):
        read_moment("2026-03-29T02:30", NOW)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        ("2026-05-20T09:00:00+02:00", "2026-05-20 07:00:00 UTC"),
        ("2026-05-20T07:00:00.120Z", "2026-05-20 07:00:00.120 UTC"),
        ("0026-05-20T07:00:00.1239Z", "0026-05-20 07:00:00.123 UTC"),
    ],
)
def test_what_people_are_told_they_can_type(moment: str, text: str) -> None:
    assert told(from_text(moment)) == text
    assert told(read_moment(text, NOW).at) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.001, "0.001 s"),
        (0.25, "0.25 s"),
        (1.9, "1 s"),
        (59.9, "59 s"),
        (60, "1 min 0 s"),
        (3_599, "59 min 59 s"),
        (3_600, "1 h 0 min"),
        (86_399, "23 h 59 min"),
        (86_400, "1 d 0 h"),
        (90_000_000, "1041 d 16 h"),
    ],
)
def test_spans(seconds: float, text: str) -> None:
    assert told_span(timedelta(seconds=seconds)) == text
