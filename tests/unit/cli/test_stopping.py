"""Ctrl-C, once, twice, three times: in a process of its own, with real signals."""

import signal
import subprocess
import sys

import pytest

from bergung.cli.stopping import FIRST, SECOND

SCRIPT = """
import sys, time
from bergung.cli.stopping import stopping

stopped = []
def interrupt():
    return {elsewhere}
try:
    with stopping(lambda: stopped.append(True), interrupt):
        print("ready", flush=True)
        for _ in range(100):
            time.sleep(0.1)
            if stopped == [True]:
                stopped.append(False)
                print("stopped", flush=True)
except KeyboardInterrupt:
    print("raised", flush=True)
    time.sleep(20)
"""


def start(elsewhere: bool = False) -> "subprocess.Popen[str]":
    script = SCRIPT.format(elsewhere=elsewhere)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def after(process: "subprocess.Popen[str]", line: str) -> None:
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None and process.stdout.readline() == f"{line}\n"


def test_the_first_asks_the_second_raises() -> None:
    process = start()
    after(process, "stopped")
    after(process, "raised")
    process.kill()
    assert process.communicate()[1] == FIRST + SECOND


LOST = """
import time, weakref
from bergung.cli.stopping import stopping

class Held:
    pass

def slow(_):
    print("ready", flush=True)
    time.sleep(1)
    print("cleaned up", flush=True)

try:
    with stopping(lambda: print("stopped", flush=True), lambda: False):
        held = Held()
        watched = weakref.ref(held, slow)
        del held
        time.sleep(20)
except KeyboardInterrupt:
    print("raised", flush=True)
"""


def test_what_python_loses_is_raised_again() -> None:
    process = subprocess.Popen([sys.executable, "-c", LOST], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    after(process, "stopped")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (out, err) == ("raised\n", FIRST + SECOND), "inside the clean-up it was lost, and nobody saw that"


def test_the_third_ends_the_process() -> None:
    process = start(elsewhere=True)
    after(process, "stopped")
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    assert SECOND.strip("\n") + "\n" in process.stderr
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == 130
    process.communicate()


def test_outside_it_is_as_it_was() -> None:
    before = signal.getsignal(signal.SIGINT)
    from bergung.cli.stopping import stopping

    with pytest.raises(ZeroDivisionError), stopping(lambda: None, lambda: False):
        assert signal.getsignal(signal.SIGINT) is not before
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is before
