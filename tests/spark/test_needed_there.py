"""Executors need what docs/spark.md names, and nothing else."""

import re
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from shell import shell
from test_cluster import configure, ends, lake  # noqa: F401 - a fixture

from tests.command import call
from tests.servers.spark_cluster import Cluster
from tests.stories.small_lake import SmallLake

PAGE = Path(__file__).parent.parent.parent / "docs" / "spark.md"


@pytest.mark.nightly
def test_what_the_page_names_is_enough(lake: SmallLake, cluster: Cluster, tmp_path: Path) -> None:  # noqa: F811
    named = re.search(r"^- In it:\n +(.+)$", PAGE.read_text(), re.MULTILINE)
    assert named is not None
    names = re.findall(r"`([^`]+)`", named[1])
    assert {"fastavro", "msgspec", "numpy", "pyarrow"} <= set(names)
    python = with_only(tmp_path / "few", names)
    configure(cluster, **{"spark.pyspark.python": str(python)})
    with shell({"BERGUNG_SPARK_MASTER": cluster.master}, on_executors=True) as there:
        ends(there, "init")
        ends(there, "backup", "lake")
        ends(there, "verify", "--data", "all")
        lake.lose("sales", "orders")
        ends(there, "restore", "lake.sales")
    assert call("points", "--json").result["points"]


def with_only(folder: Path, names: list[str]) -> Path:
    """A Python with these packages and what they require themselves."""
    venv.create(folder, symlinks=True)
    place = next(folder.glob("lib/python*/site-packages"))
    for package in {each.metadata["Name"]: each for each in _all(names, set())}.values():
        for top in {file.parts[0] for file in package.files or () if file.parts[0] != ".."}:
            if not (place / top).exists():
                (place / top).symlink_to(package.locate_file(top))  # type: ignore[arg-type]
    return folder / "bin" / "python"


def _all(names: list[str], seen: set[str]) -> Iterator[Distribution]:
    for name in names:
        if name.lower() not in seen:
            seen.add(name.lower())
            found = distribution(name)
            yield found
            needed = [each for each in found.requires or () if ";" not in each]
            yield from _all([re.split(r"[^\w.-]", each, maxsplit=1)[0] for each in needed], seen)
