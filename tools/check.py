"""Everything that must hold before a commit: style, types, import contracts, sizes, docs. All are run, then judged."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
BIN = Path(PYTHON).parent
CHECKS: dict[str, list[str]] = {
    "ruff check": [str(BIN / "ruff"), "check", "--quiet", "."],
    "ruff format": [str(BIN / "ruff"), "format", "--quiet", "--check", "."],
    "mypy": [str(BIN / "mypy"), "--no-error-summary"],
    "imports": [str(BIN / "lint-imports"), "--no-cache", "--no-logo"],
    "sizes": [PYTHON, "tools/sizes.py"],
    "docs": [PYTHON, "tools/docs.py", "check"],
    "files": [PYTHON, "tools/files.py"],
    "lock": [PYTHON, "tools/lock.py"],
}


def main(wanted: list[str]) -> int:
    unknown = set(wanted) - set(CHECKS)
    if unknown:
        print(f"error: no check named {', '.join(sorted(unknown))}\nhint: {', '.join(CHECKS)}", file=sys.stderr)
        return 2
    broken = [name for name in wanted or CHECKS if not holds(name)]
    if broken:
        print(f"check: {', '.join(broken)} failed", file=sys.stderr)
    return 1 if broken else 0


def holds(name: str) -> bool:
    done = subprocess.run(CHECKS[name], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(f"{name}: {'ok' if done.returncode == 0 else 'failed'}")
    if done.returncode != 0:
        print(done.stdout)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
