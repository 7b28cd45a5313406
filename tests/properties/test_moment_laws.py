"""However a moment is written, it is read as that moment; what is none is refused in words."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from bergung.clock import from_ms, to_ms, to_text
from bergung.errors import UsageError
from bergung.model.moments import Moment, read_moment

NOW = datetime(2026, 5, 20, tzinfo=UTC)
LONGEST = 23 * 60 + 59

zones = st.integers(-LONGEST, LONGEST).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(timezones=zones).filter(lambda moment: 1 < moment.year < 9999)
days = st.sampled_from(["%Y-%m-%d", "%Y%m%d", "%G-W%V-%u", "%GW%V%u", "%Y-%j", "%Y%j"])
times = st.sampled_from(["T%H:%M:%S.%f", "T%H%M%S,%f", " %H:%M:%S.%f", "t%H:%M:%S.%f"])


def offset_of(moment: datetime, colon: str) -> str:
    minutes = int((moment.utcoffset() or timedelta()).total_seconds()) // 60
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}{colon}{abs(minutes) % 60:02}"


def written(moment: datetime, form: str) -> str:
    """strftime leaves the zeros out of years before 1000."""
    year, week_year = f"{moment.year:04}", f"{moment.isocalendar().year:04}"
    return moment.strftime(form.replace("%Y", year).replace("%G", week_year))


@given(moments, days, times, st.sampled_from([":", ""]))
def test_every_form_is_the_moment_that_was_written(moment: datetime, day: str, time: str, colon: str) -> None:
    text = written(moment, day + time) + offset_of(moment, colon)
    assert read_moment(text, NOW) == Moment(moment)


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_we_print_is_read_again(moment: datetime) -> None:
    assert read_moment(to_text(moment), NOW) == Moment(moment)


@given(st.integers(10**8, 10**10 - 1))
def test_seconds(seconds: int) -> None:
    found = {read_moment(text, NOW).at for text in (f"{seconds}", f"@{seconds}", f"{seconds}.0")}
    assert found == {from_ms(1000 * seconds)}


@given(st.integers(10**11, 10**13 - 1))
def test_milliseconds(epoch_ms: int) -> None:
    assert to_ms(read_moment(str(epoch_ms), NOW).at) == epoch_ms


nearly = st.from_regex(r"\d{4}-?\d\d-?\d\d[T ]\d\d:?\d\d(:?\d\d)?([.,]\d+)?", fullmatch=True)


@given(st.text() | st.text("0123456789-:T.Z+@W ", max_size=30) | nearly)
def test_anything_else_is_told_to_be_none(text: str) -> None:
    with suppress(UsageError):
        assert read_moment(text, NOW).at.tzinfo is not None


@given(st.text("0123456789-:T.Z+W ", max_size=30))
def test_python_reads_the_same_where_it_reads_it_too(text: str) -> None:
    """Where no zone is said it is this machine's."""
    with suppress(UsageError, ValueError):
        theirs, ours = datetime.fromisoformat(text), read_moment(text, NOW)
        assert ours.at == theirs.astimezone(UTC)
