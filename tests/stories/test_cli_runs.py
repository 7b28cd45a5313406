"""Runs: seen, followed, asked to stop."""

import json
import signal
import subprocess
import time
from collections.abc import Callable

import pytest

from tests.command import call, child, command_line
from tests.stories.small_lake import SmallLake
from tests.synthetic import Shape, SyntheticTable


@pytest.fixture
def shop(lake: SmallLake) -> SmallLake:
    """One table."""
    lake.make("sales", "orders")
    return lake


@pytest.fixture
def long(lake: SmallLake) -> SmallLake:
    """A table whose manifests take some seconds to read, before anything of it is carried."""
    table = SyntheticTable(lake.warehouse / "long", Shape(with_data=False, codec="null"))
    table.append(20_000, manifests=20)
    table.commit()
    lake.adopt("sales.long", table)
    return lake


def started(*words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(command_line(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(found: Callable[[], bool], seconds: float = 60) -> None:
    for _ in range(int(seconds / 0.005)):
        if found():
            return
        time.sleep(0.005)
    raise AssertionError("it did not come")


def test_runs_and_what_each_did(shop: SmallLake) -> None:
    assert call("runs").out == "no runs yet\n"
    backup = call("backup", "lake", "--json").result["run"]
    restore = call("restore", "--all", "--dry-run", "--json").result["run"]
    failed = call("restore", "lake.no.table", "--json")
    assert failed.code == 2
    runs = call("runs", "--json").result["runs"]
    assert [(each["run"], each["verb"], each["run_status"]) for each in runs[:2]] == [
        (backup, "backup", "complete"),
        (restore, "restore", "dry run"),
    ]
    assert (runs[2]["verb"], runs[2]["run_status"]) == ("restore", "failed")
    lines = call("runs").out.splitlines()
    assert lines[0].split()[:2] == ["run", "verb"] and len(lines) == 4
    title, *steps = call("logs", backup).out.splitlines()
    assert title == f"run {backup}: backup, complete"
    assert [step.split()[2].rstrip(":") for step in steps] == ["start", "located", "surveyed-000000", "end"]
    assert steps[0].endswith("start: verb backup, words lake, exclude none, captured all")
    told = call("logs", backup, "--json").result
    assert told["steps"][0]["words"] == ["lake"] and told["steps"][-1]["point"] == backup


def test_a_run_is_named_by_the_beginning_of_its_id(shop: SmallLake) -> None:
    run = call("backup", "lake", "--json").result["run"]
    assert call("logs", run[:-2], "--json").result["run"] == run
    assert call("logs", "latest", "--json").result["run"] == run
    unknown = call("logs", "2099")
    assert unknown.code == 2 and unknown.errors == ["no run '2099' in this vault"]
    call("backup", "lake")
    assert call("logs", "20").errors == ["2 runs begin with '20'"]


def test_follow_tells_each_new_step_until_ctrl_c(shop: SmallLake) -> None:
    call("backup", "lake")
    following = started("runs", "--follow", "--json")
    time.sleep(1.5)
    backup = child("backup", "lake", "--json").result["run"]
    assert following.stdout is not None
    lines = [json.loads(following.stdout.readline()) for _ in range(3)]
    assert [(line["type"], line["run"], line["step"]) for line in lines] == [
        ("step", backup, "start"),
        ("step", backup, "located"),
        ("step", backup, "end"),
    ]
    following.send_signal(signal.SIGINT)
    out, err = following.communicate(timeout=20)
    assert following.returncode == 0, err
    assert json.loads(out.splitlines()[-1])["type"] == "result"


def test_a_run_that_was_asked_to_stop_stops_and_leaves_no_point(long: SmallLake) -> None:
    running = started("backup", "lake")
    wait_for(lambda: any(long.vault.glob("runs/*/start.json")))
    run = next(long.vault.glob("runs/*/start.json")).parent.name
    asked = call("cancel", run)
    assert asked.code == 0 and f"bergung logs {run}" in asked.out
    assert call("cancel", run).code == 0, "twice is no error"
    _, err = running.communicate(timeout=120)
    assert running.returncode == 130
    assert err.splitlines()[-1].startswith("hint: run the same command again")
    assert call("points", "--json").result["points"] == []
    assert call("logs", run, "--json").result["run_status"] == "interrupted"
    ended = call("cancel", run)
    assert ended.code == 2 and ended.errors == [f"run {run} has ended: interrupted"]


def test_ctrl_c_stops_before_the_next_wave(long: SmallLake) -> None:
    running = started("backup", "lake", "--json")
    wait_for(lambda: any(long.vault.glob("runs/*/start.json")))
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 130, err
    assert "stopping after this wave; Ctrl-C again stops at once" in err
    result = json.loads(out.splitlines()[-1])
    assert (result["type"], result["status"], result["exit_code"]) == ("result", "interrupted", 130)
    assert "run the same command again" in result["errors"][0]["hint"]
    assert call("points", "--json").result["points"] == []
    assert call("runs", "--json").result["runs"][0]["run_status"] == "interrupted"


def test_a_second_ctrl_c_stops_at_once(long: SmallLake) -> None:
    running = started("backup", "lake")
    wait_for(lambda: any(long.vault.glob("runs/*/start.json")))
    running.send_signal(signal.SIGINT)
    time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=120)
    assert running.returncode == 130
    # A wave may have come to its end between the two.
    fact, hint = err.splitlines()[-2:]
    assert "stopping at once" in err and fact in ("error: stopped by the user", "error: stopped between two waves")
    assert hint == "hint: run the same command again: it goes on where it stopped"
    assert "ignored" not in err
    assert call("runs", "--json").result["runs"][0]["run_status"] == "interrupted"
    assert call("points", "--json").result["points"] == []


def test_a_run_that_was_killed_leaves_nothing_visible_and_its_blobs_are_used(lake: SmallLake) -> None:
    lake.make("sales", "orders", rows=())
    for first in range(8):
        lake.append(("sales", "orders"), range(first * 10, first * 10 + 10))
    running = started("backup", "lake")
    wait_for(lambda: any(lake.vault.glob("tables/*/files/data/*.parquet")))
    running.kill()
    running.communicate()
    killed = call("points", "--json").result["points"] == []
    again = call("backup", "lake", "--json").result
    assert again["status"] == "complete" and call("verify").code == 0
    if killed:
        assert again["stored_bytes"] < again["new_bytes"]
        assert call("runs", "--json").result["runs"][0]["run_status"] == "not ended"
