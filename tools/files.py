"""What no file of the project may hold: paths of one machine, hosts of package registries, stand-ins for real parts."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Written in pieces, so that this file passes its own check.
HOSTS = ("py" + "pi.org", "python" + "hosted.org", "maven" + ".org", "maven" + ".apache.org", "npm" + "js.org")
HOSTS += ("crates" + ".io", "proxy.go" + "lang.org", "debian" + ".org", "spark-" + "packages.org")
MACHINE = "/" + r"(?:root|work|home/[a-z]\w*|Users/\w+|tmp/lab)/"
STAND_INS = ("unittest." + "mock", "monkeypatch." + "setattr", "from " + "mock import")
UNFINISHED = ("TO" + "DO", "FIX" + "ME", "X" * 3)
RULES = {
    "names a registry's host": re.compile("|".join(map(re.escape, HOSTS))),
    "holds a path of one machine": re.compile(rf"(?<![\w.$}}/]){MACHINE}"),
    "replaces a real part": re.compile("|".join(map(re.escape, STAND_INS))),
    "is marked unfinished": re.compile(rf"\b(?:{'|'.join(UNFINISHED)})\b"),
}
# It names what it bans.
EXCEPTIONS = {"pyproject.toml": {"replaces a real part"}}


def main() -> int:
    found = [each for path in tracked() for each in complaints(path)]
    print("\n".join(found))
    return 1 if found else 0


def tracked() -> list[Path]:
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def complaints(path: Path) -> Iterator[str]:
    name = path.relative_to(ROOT).as_posix()
    try:
        lines = path.read_text().splitlines()
    except UnicodeDecodeError:
        return  # a binary fixture
    for rule, pattern in RULES.items():
        if rule in EXCEPTIONS.get(name, ()):
            continue
        for number, line in enumerate(lines, 1):
            if pattern.search(line):
                yield f"{name}:{number}: {rule}: {line.strip()[:100]}"


if __name__ == "__main__":
    sys.exit(main())
