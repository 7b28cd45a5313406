"""Moments as people write them: ISO 8601 in its many forms, or seconds and milliseconds since 1970."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from datetime import time as time_of_day
from fractions import Fraction
from math import floor

from bergung.clock import to_text
from bergung.errors import UsageError

HINT = "write 2026-05-20T09:00:00+02:00, 2026-05-20 07:00Z, or seconds or milliseconds since 1970: 1779260400"

_DATE = r"\d{4}-\d\d-\d\d|\d{8}|\d{4}-W\d\d-\d|\d{4}W\d{3}|\d{4}-\d{3}|\d{7}"
_TIME = r"\d\d(?::\d\d(?::\d\d)?|\d\d(?:\d\d)?)?"
_ZONE = r"Z|UTC|GMT|[+-]\d\d(?::?\d\d)?"
_ISO = re.compile(rf"({_DATE})(?:(?:T| +)({_TIME})(?:[.,](\d+))?(?: *({_ZONE}))?)?", re.IGNORECASE | re.ASCII)
_SINCE_1970 = re.compile(r"(@-?|)(\d+)(\.\d+)?", re.ASCII)
_ORDINAL = re.compile(r"(\d{4})-?(\d{3})")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = (3600, 60, 1)


@dataclass(frozen=True)
class Moment:
    """An instant in UTC; `offset` is that of this machine's zone where the text named none."""

    at: datetime
    offset: timedelta | None = None


def read_moment(text: str, now: datetime) -> Moment:
    """UsageError for what is none, for a time that the clocks left out, and for one that they showed twice."""
    cleaned = text.strip().replace("\N{MINUS SIGN}", "-")
    if cleaned.lower() == "now":
        return Moment(now)
    try:
        return _since_1970(cleaned) or _iso(cleaned)
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"not a time: {text!r}", HINT) from error


def told(moment: datetime) -> str:
    """For people, as exactly as milliseconds are; `read_moment` reads it again."""
    text = f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(' ', 'milliseconds')}"
    return f"{text.removesuffix('.000')} UTC"


def told_span(span: timedelta) -> str:
    """`0.2 s`, `59 s`, `12 min 3 s`, `5 h 0 min`, `3 d 2 h`: two units at most, rounded down."""
    if span < timedelta(seconds=1):
        return f"{span / timedelta(seconds=1):g} s"
    sizes = {"d": 86_400, "h": 3_600, "min": 60, "s": 1}
    seconds = span // timedelta(seconds=1)
    first = next(place for place, size in enumerate(sizes.values()) if seconds >= size)
    units = list(sizes.items())[first : first + 2]
    numbers = [seconds // units[0][1], *(seconds % units[0][1] // size for _, size in units[1:])]
    return " ".join(f"{number} {unit}" for number, (unit, _) in zip(numbers, units, strict=True))


def _since_1970(text: str) -> Moment | None:
    """By the number of digits: 9 or 10 are seconds, 12 or 13 milliseconds, 8 are a date; `@` makes any number seconds."""
    found = _SINCE_1970.fullmatch(text)
    if found is None:
        return None
    marked, whole, fraction = found.groups()
    if marked or len(whole) in (9, 10):
        return Moment(_EPOCH + _span(text.removeprefix("@"), 1))
    if len(whole) in (12, 13) and fraction is None:
        return Moment(_EPOCH + timedelta(milliseconds=int(whole)))
    return None


def _iso(text: str) -> Moment:
    found = _ISO.fullmatch(text)
    if found is None or (found[2] is None and re.fullmatch(r"\d{7}", text)):
        raise ValueError("neither a date nor a time since 1970")
    day, clock, fraction, zone = found.groups()
    naive = datetime.combine(_date(day), time_of_day()) + _time(clock or "00", fraction)
    if zone is not None:
        return Moment((naive - _offset(zone)).replace(tzinfo=UTC))
    return _local(naive, text)


def _date(text: str) -> date:
    ordinal = _ORDINAL.fullmatch(text)
    if ordinal is None:
        return date.fromisoformat(text.upper())
    found = date(int(ordinal[1]), 1, 1) + timedelta(days=int(ordinal[2]) - 1)
    if found.year != int(ordinal[1]):
        raise ValueError("no such day of the year")
    return found


def _time(text: str, fraction: str | None) -> timedelta:
    """Since midnight; 24:00 is the midnight at the end of the day, a fraction is one of the last unit that is named."""
    numbers = [int(each) for each in re.findall(r"\d\d", text)]
    found = sum((timedelta(seconds=number * unit) for number, unit in zip(numbers, _UNITS, strict=False)), timedelta())
    found += _span(f"0.{fraction or 0}", _UNITS[len(numbers) - 1])
    if any(number > 59 for number in numbers[1:]) or found > timedelta(days=1):
        raise ValueError("no such time of day")
    return found


def _span(number: str, unit: int) -> timedelta:
    """So many units of seconds, down to whole microseconds: a moment is never later than it was written."""
    return timedelta(microseconds=floor(Fraction(number) * unit * 1_000_000))


def _offset(zone: str) -> timedelta:
    if zone[0] not in "+-":
        return timedelta()
    hours, minutes = int(zone[1:3]), int(zone[3:].removeprefix(":") or 0)
    if hours > 23 or minutes > 59:
        raise ValueError("no such zone")
    return timedelta(hours=hours, minutes=minutes) * (-1 if zone[0] == "-" else 1)


def _local(naive: datetime, text: str) -> Moment:
    """By this machine's zone, when it had that time, and had it once."""
    within = timedelta(microseconds=naive.microsecond)
    whole = (naive - within).replace
    first, second = (_EPOCH + timedelta(seconds=whole(fold=fold).timestamp()) + within for fold in (0, 1))
    if first > second:
        raise UsageError(f"this machine's zone left out {text}: clocks were set forward", "say the zone: Z or +02:00 at the end")
    if first < second:
        hint = f"say which: {to_text(first)} or {to_text(second)}"
        raise UsageError(f"this machine's zone had {text} twice: clocks were set back", hint)
    return Moment(first, naive - first.replace(tzinfo=None))
