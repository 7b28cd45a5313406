"""Requests at the same time: as many as allowed, in their order, and none after an error."""

import time
from collections.abc import Iterator
from threading import Barrier, Event, current_thread

import pytest

from bergung.stores.together import AT_ONCE, at_once, both, together


def test_far_places_are_asked_at_once_and_disks_in_turn() -> None:
    assert at_once("s3://bucket/vault") == at_once("/lake", "s3://bucket") == AT_ONCE
    assert at_once("/vault", "file:///lake", "memory://vault") == 1


def test_all_that_may_run_do_so_at_once_and_come_in_their_order() -> None:
    meeting = Barrier(4)

    def met(number: int) -> int:
        meeting.wait(timeout=10)
        return number

    assert list(together(4, met, range(8))) == list(range(8))


@pytest.mark.parametrize("most", [1, 4])
def test_no_more_is_begun_than_may_wait_to_be_taken(most: int) -> None:
    begun: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(100):
            begun.append(number)
            yield number

    found = together(most, lambda number: number, numbers())
    assert [next(found), next(found)] == [0, 1]
    assert len(begun) <= most + 2


def test_after_an_error_none_is_begun_and_what_runs_has_ended_when_it_is_told() -> None:
    ended, begun, failing = [], [], Event()

    def act(number: int) -> None:
        begun.append(number)
        if number == 0:
            failing.set()
            raise ValueError("the first")
        failing.wait(timeout=10)
        time.sleep(0.05)
        ended.append(number)

    with pytest.raises(ValueError, match="the first"):
        list(together(3, act, range(50)))
    assert sorted([0, *ended]) == sorted(begun) and len(begun) <= 4


def test_one_alone_needs_no_thread() -> None:
    assert list(together(4, lambda _: current_thread(), [0])) == [current_thread()]
    assert {*together(1, lambda _: current_thread(), range(3))} == {current_thread()}


def test_of_two_the_first_stays_in_this_thread() -> None:
    here, there = both(2, current_thread, current_thread)
    assert here is current_thread() is not there
    assert both(1, current_thread, current_thread) == (here, here)


def test_an_error_of_one_of_two_comes_when_both_have_ended() -> None:
    ended = []

    def late() -> None:
        time.sleep(0.05)
        ended.append("late")

    def fails() -> None:
        raise ValueError("it")

    with pytest.raises(ValueError, match="it"):
        both(2, fails, late)
    assert ended == ["late"]
    with pytest.raises(ValueError, match="it"):
        both(2, late, fails)
    assert ended == ["late", "late"]
