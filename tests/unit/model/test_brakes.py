"""Windows of the day."""

from datetime import datetime, time, timedelta, timezone

import pytest

from bergung.model.brakes import Brakes, Window

NIGHT, DAY = Window(time(22), time(6)), Window(time(9), time(17, 30))


@pytest.mark.parametrize(
    ("window", "clock", "is_open"),
    [
        (NIGHT, "21:59", False),
        (NIGHT, "22:00", True),
        (NIGHT, "00:00", True),
        (NIGHT, "05:59", True),
        (NIGHT, "06:00", False),
        (DAY, "08:59", False),
        (DAY, "09:00", True),
        (DAY, "17:29", True),
        (DAY, "17:30", False),
    ],
)
def test_a_window_is_open_from_its_first_minute_to_its_last(window: Window, clock: str, is_open: bool) -> None:
    zone = timezone(timedelta(hours=5))
    assert window.is_open(datetime.fromisoformat(f"2026-05-20T{clock}:00").replace(tzinfo=zone)) == is_open


def test_brakes_are_slow_when_something_must_wait() -> None:
    assert not Brakes(window=NIGHT).is_slow
    assert Brakes(bytes_per_second=1).is_slow and Brakes(requests_per_second=1).is_slow
    assert str(NIGHT) == "22:00-06:00"
