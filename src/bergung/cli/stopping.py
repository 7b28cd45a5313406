"""Ctrl-C: the first lets the wave end, the second stops what runs, the third ends the process."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

from bergung.errors import Interrupted

FIRST = "\nstopping after this wave; Ctrl-C again stops at once\n"
SECOND = "\nstopping at once\n"
_AGAIN_SECONDS = 0.2
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
    before = signal.signal(signal.SIGINT, _Asked(stop, interrupt, first)), signal.signal(signal.SIGALRM, _raise)
    told, sys.unraisablehook = sys.unraisablehook, _tell_unless_stopping
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGALRM, before[1])
        sys.unraisablehook = told


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
                # What is raised while Python cleans something up is lost: so it is raised until it gets through.
                signal.setitimer(signal.ITIMER_REAL, _AGAIN_SECONDS, _AGAIN_SECONDS)
                raise KeyboardInterrupt
        else:
            os._exit(Interrupted.exit_code)


def _raise(signal_number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _tell_unless_stopping(lost: "sys.UnraisableHookArgs") -> None:
    if lost.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(lost)


def _say(text: str) -> None:
    # Not print: the signal may have come in the middle of one.
    os.write(2, text.encode())
