"""Numbers and times as people read them, and as people write them."""

import re
from datetime import datetime
from datetime import time as time_of_day

from bergung.clock import from_text
from bergung.errors import UsageError
from bergung.model.brakes import Window

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgtp]?)(i?)b?", re.IGNORECASE)
_DAYS = {"d": 1, "w": 7, "y": 365}
_SPAN = re.compile(r"(\d+)\s*([dwy])", re.IGNORECASE)
_WINDOW = re.compile(r"(\d?\d:\d\d)-(\d?\d:\d\d)")
_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%")


def size(count: int) -> str:
    """Bytes with three digits that matter."""
    value, unit = float(count), 0
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.0f} {_UNITS[unit]}" if unit == 0 or value >= 99.5 else f"{value:.1f} {_UNITS[unit]}"


def number(count: int | None) -> str:
    """With commas; a dash where nobody counted."""
    return "-" if count is None else f"{count:,}"


def time(moment: datetime | str) -> str:
    """To the second, in UTC."""
    moment = from_text(moment) if isinstance(moment, str) else moment
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def seconds(count: float) -> str:
    """A span of time, as short as can be."""
    whole = round(count)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def many(count: int, one: str, several: str = "") -> str:
    """`1 file`, `2 files`."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def to_bytes(text: str) -> int:
    """`10m`, `1.5 GB`, `4GiB`."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"not a size: {text}", "write 500k, 10m, 2g; or 4GiB for powers of 1024")
    value, unit, binary = found.groups()
    return int(float(value) * (1024 if binary else 1000) ** _POWERS[unit.lower()])


def to_days(text: str) -> int:
    """`90d`, `12w`, `7y`."""
    found = _SPAN.fullmatch(text.strip())
    if found is None or int(found[1]) == 0:
        raise UsageError(f"not a number of days: {text}", "write 90d, 12w or 7y")
    return int(found[1]) * _DAYS[found[2].lower()]


def to_window(text: str) -> Window:
    """`22:00-06:00`."""
    found = _WINDOW.fullmatch(text.strip())
    try:
        opens, closes = (time_of_day.fromisoformat(f"{part:0>5}") for part in (found.groups() if found else ()))
    except ValueError as error:
        raise UsageError(f"not a window of the day: {text}", "write 22:00-06:00, in this machine's own time") from error
    if opens == closes:
        raise UsageError(f"a window that is never open: {text}", "write 22:00-06:00, or leave it out")
    return Window(opens, closes)


def to_count(text: str) -> int:
    """A whole number above 0."""
    if not text.strip().isdigit() or int(text) == 0:
        raise UsageError(f"not a number above 0: {text}", "write 200")
    return int(text)


def to_share(text: str) -> float:
    """`all` or a percentage, as a part of one."""
    found = _SHARE.fullmatch(text.strip())
    if text.strip().lower() == "all":
        return 1.0
    if found is None or not 0 < float(found[1]) <= 100:
        raise UsageError(f"not a share: {text}", "write all, or a percentage: 10%")
    return float(found[1]) / 100
