"""Files, functions and imports of src that outgrow the house: a smell becomes an error here."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "bergung"
FILE_LINES = 350
FUNCTION_LINES = 45
CLASS_LINES = 200
Function = ast.FunctionDef | ast.AsyncFunctionDef


def main() -> int:
    found = [each for path in sorted(SOURCE.rglob("*.py")) for each in complaints(path)]
    print("\n".join(found))
    return 1 if found else 0


def complaints(path: Path) -> Iterator[str]:
    text = path.read_text()
    name = path.relative_to(ROOT)
    lines = len(text.splitlines())
    if lines > FILE_LINES:
        yield f"{name}: {lines} lines, at most {FILE_LINES}"
    tree = ast.parse(text)
    if path.name == "__init__.py" and any(not is_docstring(node) for node in tree.body):
        yield f"{name}: a package's __init__ holds its docstring and nothing else (executors import it first)"
    for node in ast.walk(tree):
        yield from too_long(node, f"{name}:{getattr(node, 'lineno', 0)}")
        if isinstance(node, Function) and "cli" not in path.parts:
            yield from hidden_imports(node, str(name))


def too_long(node: ast.AST, place: str) -> Iterator[str]:
    limit = FUNCTION_LINES if isinstance(node, Function) else CLASS_LINES
    if isinstance(node, Function | ast.ClassDef) and length(node) > limit:
        yield f"{place}: {node.name} has {length(node)} lines, at most {limit}"


def length(node: Function | ast.ClassDef) -> int:
    """Lines without decorators and docstring."""
    end = node.end_lineno or node.lineno
    first = node.body[0]
    said = (first.end_lineno or 0) - first.lineno + 1 if is_docstring(first) else 0
    return end - node.lineno + 1 - said


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def hidden_imports(function: Function, name: str) -> Iterator[str]:
    """Imports of our own package inside functions hide a circle; only the CLI may, to start fast."""
    for node in ast.walk(function):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if any(module.split(".")[0] == "bergung" for module in modules):
            yield f"{name}:{node.lineno}: imports {modules[0]} inside a function"


if __name__ == "__main__":
    sys.exit(main())
