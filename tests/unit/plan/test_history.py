"""Which snapshot stood at an instant: two clocks, late commits, a pointer that was set back. Times are minutes."""

import pytest

from bergung.iceberg.snapshots import State
from bergung.plan.history import Found, Gap, History, Neighbour, Span, find, joined, worth_reading

MINUTE = 60_000


def history(point: str, until: float, states: str, *, is_whole: bool = True) -> History:
    """States as `A1 B5`: A since minute 1, B since minute 5."""
    told = tuple(State(int(float(word[1:]) * MINUTE), ord(word[0])) for word in states.split())
    return History(Span(point, told[0].since_ms, int(until * MINUTE), is_whole), told)


def told(found: Found | Gap) -> str:
    """`B5-9 by q`; or the neighbours: `A@3 by p, C@7 by q`."""
    if isinstance(found, Found):
        end = "" if found.until_ms is None else f"{found.until_ms / MINUTE:g}"
        return f"{chr(found.state.snapshot_id or 45)}{found.state.since_ms / MINUTE:g}-{end} by {found.point}"
    return f"{neighbour(found.before)}, {neighbour(found.after)}"


def neighbour(found: Neighbour | None) -> str:
    return f"{chr(found.snapshot_id or 45)}@{found.at_ms / MINUTE:g} by {found.point}" if found else "nothing"


def at(minute: float, *histories: History) -> str:
    return told(find(histories, int(minute * MINUTE)))


@pytest.mark.parametrize(
    ("minute", "wanted"),
    [
        (0.9, "nothing, A@1 by p"),
        (1, "A1-20 by p"),
        (29.99, "B20-30 by p"),
        (30, "A30- by p"),
        (50, "A30- by p"),
        (50.01, "A@50 by p, C@70 by q"),
        (70, "C70-80 by q"),
        (100, "D80- by q"),
        (100.01, "D@100 by q, nothing"),
    ],
)
def test_each_point_for_its_own_time(minute: float, wanted: str) -> None:
    """A rollback to A at 30; then everything expired but C and D."""
    assert at(minute, history("p", 50, "A1 B20 A30"), history("q", 100, "C70 D80")) == wanted


def test_of_two_that_know_it_the_first_is_taken_and_the_whole_one() -> None:
    p, q = history("p", 50, "A1 B20"), history("q", 100, "A1 B20 C60")
    assert at(30, q, p) == "B20-60 by p"
    assert at(30, history("p", 50, "A1 B20", is_whole=False), q) == "B20-60 by q"
    assert at(30, history("p", 50, "A1 B20", is_whole=False), history("q", 100, "B20", is_whole=False)) == "B20- by p"


def test_a_commit_that_was_seen_later_than_its_time_stands_from_its_time_on() -> None:
    """It had begun before the pointer was read, or its writer's clock is behind."""
    p, q = history("p", 50, "A1"), history("q", 100, "A1 B45 C60")
    assert at(44, p, q) == "A1-45 by p"
    assert at(47, p, q) == "B45-60 by q"
    assert at(55, p, q) == "B45-60 by q"
    expired = history("q", 100, "B45 C60")
    assert at(44, p, expired) == "A1- by p"
    assert at(47, p, expired) == "B45-60 by q"
    assert at(55, p, expired) == "B45-60 by q"


def test_a_log_that_differs_from_what_was_seen_long_before_is_of_a_table_that_was_set_back() -> None:
    """At 50 the table was B; then it was given its state of minute 1 again, and went on from there at 60."""
    p, q = history("p", 50, "A1 B20"), history("q", 100, "A1 C60")
    assert at(30, p, q) == "B20- by p"
    assert at(55, p, q) == "B@50 by p, C@60 by q"
    assert at(60, p, q) == "C60- by q"
    forward = history("q", 100, "A1 B20 D35 C60")
    assert at(45, p, forward) == "B20- by p", "D is no late commit: at 50 it was fifteen minutes old"
    assert at(55, p, forward) == "B@50 by p, C@60 by q"
    young = history("p", 50, "A42 B45"), history("q", 100, "A42 C60")
    assert at(55, *young) == "B@50 by p, C@60 by q", "A is not late: it stands before what was seen"


def test_a_table_that_was_set_back_and_not_written_to_since_is_known_when_it_was_seen() -> None:
    p, q = history("p", 50, "A1 B20"), history("q", 100, "A1")
    assert at(70, p, q) == "B@50 by p, A@100 by q"
    assert at(100, p, q) == "A1- by q"
    assert at(100.1, p, q) == "A@100 by q, nothing"


def test_a_writer_whose_clock_is_ahead() -> None:
    """B was there at 50 by our clock, and says that it will be at 55."""
    p, q = history("p", 50, "A1 B55"), history("q", 100, "A1 B55 C60")
    assert at(50, p, q) == "A1-55 by p"
    assert at(52, p, q) == "A1-55 by q"
    assert at(50.5, p) == "A@50 by p, nothing"
    assert at(0, p) == "nothing, A@1 by p"
    only = history("p", 50, "B55")
    assert [at(minute, only) for minute in (50, 55, 60)] == ["nothing, nothing"] * 3


def test_a_log_out_of_order_is_read_as_iceberg_reads_it() -> None:
    """The last entry that began by then."""
    p = history("p", 50, "A1 B20.5 C20")
    assert [at(minute, p) for minute in (20, 20.4, 20.6)] == ["C20- by p"] * 3
    assert at(19, p) == "A1-20.5 by p"


def test_before_the_first_snapshot_there_was_none() -> None:
    empty = History(Span("p", MINUTE, 5 * MINUTE), (State(MINUTE, None),))
    assert at(3, empty, history("q", 50, "A9")) == "-1- by p"
    assert at(7, empty, history("q", 50, "A9")) == "-@5 by p, A@9 by q"


def test_which_points_are_worth_reading() -> None:
    """Of many that hold it the first two and the first whole one; the last before and the next after."""
    spans = [Span(f"{number}", 0, 10 * number, number > 5) for number in range(1, 9)]
    later = [Span("later", 60, 90), Span("latest", 70, 95), Span("never", 99, 98)]
    assert [span.point for span in worth_reading([*spans, *later], 25)] == ["2", "3", "4", "6", "later"]


def test_two_tables_of_one_name_have_their_neighbours_in_common() -> None:
    far, near = (Gap(Neighbour("p", 1, at), Neighbour("q", 2, 9 - at)) for at in (1, 2))
    nothing = Gap(None, None)
    assert joined(far, near) == joined(near, far) == near
    assert joined(Gap(far.before, None), Gap(None, far.after)) == far
    assert joined(nothing, nothing) == nothing
