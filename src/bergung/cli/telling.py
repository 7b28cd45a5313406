"""What came of a command, told to people as text or to programs as lines of JSON (docs/json.md)."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bergung.errors import BergungError

ORDER = (130, 1, 5, 3, 4)
"""Of several exit codes that apply, the first of these is taken."""
GOOD, WORSE, BAD = "green", "yellow", "red"
STYLES = {
    "complete": GOOD,
    "ok": GOOD,
    "equal": GOOD,
    "partial": WORSE,
    "not ended": WORSE,
    "damaged": BAD,
    "different": BAD,
    "failed": BAD,
    "not ok": BAD,
}


@dataclass(frozen=True)
class Grid:
    """A short table for people; columns in `right` are numbers."""

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    right: frozenset[int] = frozenset()


Part = str | Grid


@dataclass(frozen=True)
class Result:
    """`facts` for programs, `parts` for people, and what did not go well although there is a result."""

    status: str
    facts: Mapping[str, Any]
    parts: Sequence[Part] = ()
    errors: tuple[BergungError, ...] = ()
    causes: tuple[BergungError, ...] = ()
    """What lies behind the errors, table by table; told, but not counted for the exit code."""

    @property
    def exit_code(self) -> int:
        return exit_code(self.errors)


def exit_code(errors: Sequence[BergungError]) -> int:
    """One number for everything that went wrong."""
    codes = [error.exit_code for error in errors]
    return next((code for code in ORDER if code in codes), codes[0] if codes else 0)


def tell(command: str, result: Result, *, as_json: bool) -> None:
    """Facts to standard output, errors to standard error."""
    if as_json:
        print_result(command, result)
    elif result.parts:
        print_parts(result.parts)
    sys.stdout.flush()
    # The summary comes last, where the eye is.
    for line in error_lines((*result.causes, *result.errors)):
        print(line, file=sys.stderr)


def print_result(command: str, result: Result) -> None:
    """The last line that a program reads."""
    own = {"type": "result", "command": command, "status": result.status, "exit_code": result.exit_code}
    print_json({**own, **result.facts, "errors": [error_facts(error) for error in result.errors]})


def print_json(facts: Mapping[str, Any]) -> None:
    """One object, one line."""
    print(json.dumps(facts, ensure_ascii=False, separators=(",", ":")), flush=True)


def error_facts(error: BergungError) -> dict[str, Any]:
    """An error for programs."""
    return {
        "error": type(error).__name__,
        "exit_code": error.exit_code,
        "message": error.message,
        "hint": error.hint,
    }


def error_lines(errors: Sequence[BergungError]) -> Iterator[str]:
    """A fact, then what to do."""
    for error in errors:
        yield f"error: {error.message}"
        if error.hint:
            yield f"hint: {error.hint}"


def print_parts(parts: Sequence[Part]) -> None:
    """Lines as they are; tables aligned, in colour on a terminal only, and never cut where nobody sees the width."""
    if not any(isinstance(part, Grid) for part in parts):
        print("\n".join(str(part) for part in parts))
        return
    from rich.console import Console

    console = Console(markup=False, highlight=False, emoji=False, soft_wrap=True)
    if console.is_terminal:
        for part in parts:
            console.print(_rich(part, is_terminal=True) if isinstance(part, Grid) else part)
        return
    console.width = 10_000
    with console.capture() as captured:
        for part in parts:
            console.print(_rich(part, is_terminal=False) if isinstance(part, Grid) else part)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _rich(grid: Grid, *, is_terminal: bool) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=None, show_header=any(grid.head), pad_edge=False, padding=(0, 2, 0, 0), header_style="bold" if is_terminal else ""
    )
    for place, name in enumerate(grid.head):
        table.add_column(name, justify="right" if place in grid.right else "left", no_wrap=not is_terminal, overflow="fold")
    for row in grid.rows:
        table.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    return table
