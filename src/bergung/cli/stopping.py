"""Ctrl-C: the first lets the wave end, the second stops what runs, the third ends the process."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

from bergung.errors import Interrupted

FIRST = "\nstopping after this wave; Ctrl-C again stops at once\n"
SECOND = "\nstopping at once\n"
AGAIN = "run the same command again: it goes on where it stopped"


def interrupted() -> Interrupted:
    """What is said of a run that the user stopped."""
    return Interrupted("stopped by the user", AGAIN)


@contextmanager
def stopping(stop: Callable[[], None], interrupt: Callable[[], bool], first: str = FIRST) -> Iterator[None]:
    """While inside, Ctrl-C asks first; `interrupt` is True when it stops what runs elsewhere, so that this thread need not."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _Asked(stop, interrupt, first))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Asked:
    def __init__(self, stop: Callable[[], None], interrupt: Callable[[], bool], first: str) -> None:
        self._stop = stop
        self._interrupt = interrupt
        self._first = first
        self._count = 0

    def __call__(self, signal_number: int, frame: FrameType | None) -> None:
        self._count += 1
        if self._count == 1:
            _say(self._first)
            self._stop()
        elif self._count == 2:
            _say(SECOND)
            if not self._interrupt():
                raise KeyboardInterrupt
        else:
            os._exit(Interrupted.exit_code)


def _say(text: str) -> None:
    # Not print: the signal may have come in the middle of one.
    os.write(2, text.encode())
