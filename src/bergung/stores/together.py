"""Requests that need nothing of each other, at the same time: over a network nearly all of their time is waiting."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from bergung.stores.open import is_far

T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S")

AT_ONCE = 16


def at_once(*addresses: str) -> int:
    """So many for one worker; on a disk one after another is quickest."""
    return AT_ONCE if any(map(is_far, addresses)) else 1


def together(most: int, act: Callable[[T], R], wanted: Iterable[T]) -> Iterator[R]:
    """What comes of each, in their order; no more than `most` are under way or wait to be taken.

    After an error nothing more is begun, and it is told when what was under way has ended.
    """
    waiting = iter(wanted)
    first = list(islice(waiting, most))
    if len(first) == 1:
        yield act(first[0])
        yield from map(act, waiting)
    elif first:
        yield from _together(most, act, first, waiting)


def _together(most: int, act: Callable[[T], R], first: list[T], waiting: Iterator[T]) -> Iterator[R]:
    pool = ThreadPoolExecutor(most)
    try:
        begun: deque[Future[R]] = deque(pool.submit(act, each) for each in first)
        while begun:
            done = begun.popleft().result()
            begun.extend(pool.submit(act, each) for each in islice(waiting, 1))
            yield done
    finally:
        pool.shutdown(cancel_futures=True)


def both(most: int, one: Callable[[], R], other: Callable[[], S]) -> tuple[R, S]:
    """What comes of two; the first stays in this thread, so that it can be interrupted."""
    if most == 1:
        return one(), other()
    with ThreadPoolExecutor(1) as pool:
        behind = pool.submit(other)
        return one(), behind.result()
