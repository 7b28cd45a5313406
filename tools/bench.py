"""Run one bench by its name, or list them with what each measures."""

import ast
import runpy
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "bench"


def main(arguments: list[str]) -> int:
    benches = {path.stem: path for path in sorted(FOLDER.glob("*.py")) if not path.stem.startswith("_")}
    if not arguments:
        for name, path in benches.items():
            print(f"{name:<12}{(ast.get_docstring(ast.parse(path.read_text())) or '').splitlines()[0]}")
        return 0
    name = arguments[0]
    if name not in benches:
        print(f"error: there is no bench {name}\nhint: one of {', '.join(benches)}", file=sys.stderr)
        return 2
    sys.argv = [str(benches[name]), *arguments[1:]]
    sys.path.insert(0, str(FOLDER))
    runpy.run_path(str(benches[name]), run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
