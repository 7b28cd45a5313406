"""What the README tells people to type does what it says."""

import re
import shlex
from pathlib import Path

from tests.command import call, tree
from tests.stories.small_lake import SmallLake

README = Path(__file__).parents[2] / "README.md"


def test_the_five_lines_for_ones_own_catalog(lake: SmallLake) -> None:
    lake.make("sales", "orders")
    lake.append(("sales", "orders"), range(10, 20))
    rows, before = lake.rows("sales", "orders"), tree(lake.warehouse)
    install, *commands = _block("## Your own catalog")
    assert install == "pip install ."
    assert [shlex.split(command)[1] for command in commands] == ["init", "backup", "points", "restore"]
    for command in commands:
        words = shlex.split(command.replace("/backups/vault", str(lake.folder / "another vault").replace(" ", "\\ ")))
        assert words[0] == "bergung"
        if words[1] == "restore":
            lake.lose("sales", "orders")
        said = call(*words[1:])
        assert said.code == 0, said.err
    assert tree(lake.warehouse) == before
    assert lake.rows("sales", "orders") == rows


def test_the_two_commands_that_set_all_up_are_commands_of_dev() -> None:
    dev = (README.parent / "dev").read_text()
    for command in _block("## Try it"):
        assert re.search(rf"^    {re.escape(command.removeprefix('./dev '))}\)", dev, re.MULTILINE), command


def _block(heading: str) -> list[str]:
    section = README.read_text().partition(heading)[2]
    return section.split("```")[1].strip().splitlines()
