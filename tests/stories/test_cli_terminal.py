"""On a terminal: colours, a bar while it runs, and nothing of either elsewhere."""

import os
import subprocess

import pytest

from tests.command import call, command_line
from tests.stories.small_lake import SmallLake


@pytest.fixture
def shop(lake: SmallLake) -> SmallLake:
    """One table."""
    lake.make("sales", "orders")
    return lake


def on_terminal(*words: str) -> str:
    """What a person sees on a terminal of 100 columns."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "NO_COLOR": ""}
    process = subprocess.Popen(command_line(*words), stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 4096):
            seen += part
    except OSError:
        pass  # Linux's way to say that the other end is closed
    os.close(ours)
    assert process.wait() == 0, seen.decode()
    return seen.decode()


def test_a_person_sees_steps_and_colours(shop: SmallLake) -> None:
    seen = on_terminal("backup", "lake")
    assert "\x1b[32mcomplete" in seen
    assert "\x1b[2K" in seen, "the bar is wiped"
    assert "restore with: bergung restore --all --point" in seen


def test_a_program_sees_neither(shop: SmallLake) -> None:
    said = call("backup", "lake")
    assert "\x1b" not in said.out + said.err and said.err == ""


def test_with_json_there_is_no_bar_on_a_terminal_either(shop: SmallLake) -> None:
    seen = on_terminal("backup", "lake", "--json")
    assert "\x1b" not in seen and len(seen.splitlines()) == 1


def test_a_table_wider_than_the_terminal_is_folded_not_cut(shop: SmallLake) -> None:
    call("backup", "lake")
    seen = on_terminal("show", "latest", "--files")
    path = next(iter(shop.files("sales", "orders", kind="*.parquet"))).name
    assert path not in seen
    letters = "".join(each for each in seen if each.isalnum())
    assert path.split(".")[0].replace("-", "")[-12:] in letters
