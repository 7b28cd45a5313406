"""The lock file must be made from the requirements that pyproject has now; its first line says which it was made from."""

import sys
import tomllib
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"


def main(words: list[str]) -> int:
    mark = f"# for {requirements()}, by ./dev lock"
    first, _, pins = LOCK.read_text().partition("\n")
    if words == ["mark"]:
        LOCK.write_text(f"{mark}\n" + "".join(line for line in LOCK.read_text().splitlines(True) if not line.startswith("#")))
    elif first != mark or not pins:
        print("requirements.lock was made from other requirements than those of pyproject.toml\nhint: ./dev lock")
        return 1
    return 0


def requirements() -> str:
    """A digest of all that is asked for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lists = [project["project"]["dependencies"], *project["project"]["optional-dependencies"].values()]
    lists += project["dependency-groups"].values()
    asked = sorted(requirement for requirements in lists for requirement in requirements)
    return sha256("\n".join(asked).encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
