"""The lock file must fit pyproject: same requirements, same groups, no path of a machine."""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    ours = next(package for package in lock["package"] if package["name"] == project["project"]["name"])
    asked = project["project"]["dependencies"] + sum(project["dependency-groups"].values(), [])
    locked = ours["metadata"]["requires-dist"] + sum(ours["metadata"]["requires-dev"].values(), [])
    wanted, found = set(map(asked_for, asked)), set(map(written_down, locked))
    if wanted != found:
        names = sorted({name for name, _ in wanted ^ found})
        print(f"uv.lock does not fit pyproject.toml: {', '.join(names)}\nhint: uv lock")
    return 0 if wanted == found else 1


def asked_for(requirement: str) -> tuple[str, frozenset[str]]:
    """Name and bounds: `pyiceberg`, {`>=0.12`, `<0.13`} of `pyiceberg[sql-sqlite]>=0.12,<0.13`."""
    parts = re.fullmatch(r"([\w.-]+)(?:\[[^]]*])?(.*)", requirement.replace(" ", ""))
    if parts is None:
        raise ValueError(f"not a requirement: {requirement}")
    return parts[1].lower(), frozenset(filter(None, parts[2].split(",")))


def written_down(entry: dict[str, str]) -> tuple[str, frozenset[str]]:
    return entry["name"], frozenset(filter(None, entry.get("specifier", "").split(",")))


if __name__ == "__main__":
    sys.exit(main())
