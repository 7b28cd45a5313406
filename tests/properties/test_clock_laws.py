"""Times as text and as Iceberg's milliseconds: there and back is the same."""

from datetime import UTC, datetime, timedelta

from hypothesis import example, given
from hypothesis import strategies as st

from bergung.clock import from_ms, from_text, to_ms, to_text

moments = st.datetimes(timezones=st.just(UTC))
milliseconds = st.integers(to_ms(datetime.min.replace(tzinfo=UTC)), to_ms(datetime.max.replace(tzinfo=UTC)))


@given(milliseconds)
@example(1_095_505_899_518)
@example(253_402_300_799_999)
def test_a_millisecond_is_itself_again(epoch_ms: int) -> None:
    assert to_ms(from_ms(epoch_ms)) == epoch_ms


@given(moments)
def test_a_moment_lies_in_its_millisecond(moment: datetime) -> None:
    assert timedelta() <= moment - from_ms(to_ms(moment)) < timedelta(milliseconds=1)


@given(moments)
def test_a_moment_as_text_is_itself_again(moment: datetime) -> None:
    assert from_text(to_text(moment)) == moment


@given(moments, moments)
def test_the_order_of_texts_is_the_order_of_moments(one: datetime, other: datetime) -> None:
    assert (to_text(one) < to_text(other)) == (one < other)
