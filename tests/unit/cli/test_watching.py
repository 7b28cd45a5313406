"""How far a run has come, as it is told."""

import json
import os
import subprocess
import sys
import time

import pytest

from bergung.cli.watching import LineWatching, Standing, Watching, facts, line
from bergung.clock import SystemClock

HALF = Standing("carry", files=10, bytes=4_000_000, total_files=40, total_bytes=8_000_000, since=100.0, first_bytes=0)


def test_a_line_says_files_bytes_rate_and_what_is_left() -> None:
    assert line(HALF, 102.0) == "carry: 10 of 40 files, 4.0 MB of 8.0 MB, 2.0 MB/s, 2 s left"


def test_before_anything_is_carried_only_the_step_is_known() -> None:
    assert line(Standing("survey"), 50.0) == "survey…"


def test_what_was_there_at_the_first_word_is_no_speed() -> None:
    resumed = Standing("carry", 1, 6_000_000, 2, 8_000_000, since=100.0, first_bytes=5_000_000)
    assert resumed.rate(102.0) == 500_000
    assert resumed.seconds_left(102.0) == 4.0


def test_without_a_rate_nothing_is_promised() -> None:
    assert line(Standing("carry", 0, 0, 4, 100, since=100.0), 101.0) == "carry: 0 of 4 files, 0 B of 100 B, 0 B/s"


def test_programs_are_told_the_same() -> None:
    watch = Watching()
    watch.step("carry")
    watch.progress(1, 50, (4, 200))
    assert facts(watch.standing, SystemClock()) | {"at": "", "bytes_per_second": 0} == {
        "type": "progress",
        "at": "",
        "step": "carry",
        "files": 1,
        "bytes": 50,
        "total_files": 4,
        "total_bytes": 200,
        "bytes_per_second": 0,
        "seconds_left": None,
    }


def test_a_new_step_begins_anew_and_is_made_known() -> None:
    watch, steps = Watching(), []
    watch.on_step = steps.append
    watch.step("look")
    watch.progress(1, 50, (4, 200))
    watch.step("carry")
    assert watch.standing == Standing("carry") and steps == ["look", "carry"]


def test_more_than_was_planned_is_a_larger_total() -> None:
    watch = Watching()
    watch.progress(5, 300, (4, 200))
    assert (watch.standing.total_files, watch.standing.total_bytes) == (5, 300)


def test_it_is_stopped_once_asked() -> None:
    watch = Watching()
    assert not watch.stopped()
    watch.stop()
    assert watch.stopped()


@pytest.mark.parametrize("as_json", [False, True])
def test_a_line_now_and_then_while_it_runs(as_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with LineWatching(as_json, every_seconds=0.05) as watch:
        watch.step("carry")
        watch.progress(1, 50, (4, 200))
        time.sleep(0.5)
    said = capsys.readouterr()
    told, silent = (said.out, said.err) if as_json else (said.err, said.out)
    lines = told.splitlines()
    assert len(lines) >= 3 and silent == ""
    if as_json:
        assert {json.loads(each)["type"] for each in lines} == {"progress"}
    else:
        assert lines[-1].startswith("carry: 1 of 4 files, 50 B of 200 B")


def test_a_run_of_seconds_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with LineWatching(as_json=False) as watch:
        watch.step("carry")
        time.sleep(0.3)
    assert capsys.readouterr().err == ""


def test_a_bar_on_a_terminal_that_is_gone_at_the_end() -> None:
    script = (
        "import time\n"
        "from bergung.cli.watching import watching\n"
        "with watching(False) as watch:\n"
        "    watch.step('carry [x]')\n"
        "    for done in range(1, 6):\n"
        "        watch.progress(done, done * 1000, (5, 5000)); time.sleep(0.15)\n"
    )
    seen = on_terminal(script)
    assert "carry [x]" in seen and "━" in seen
    assert "of 5 files" in seen and "of 5.0 kB" in seen and "kB/s" in seen and "s left" in seen
    assert seen.rstrip("\r\n").endswith("\x1b[2K"), "the bar's line is wiped"


def on_terminal(script: str) -> str:
    """What a person sees on a terminal that is its standard error."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment) as process:
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 4096):
                seen += part
        except OSError:
            pass  # Linux's way to say that the other end is closed
    os.close(ours)
    assert process.returncode == 0, seen.decode()
    return seen.decode()
