"""What people and programs are told."""

import json

import pytest

from bergung.cli import telling
from bergung.cli.telling import Grid, Result
from bergung.errors import BergungError, DamageFound, Interrupted, PartialResult, PolicyViolated, UsageError


@pytest.mark.parametrize(
    ("errors", "code"),
    [
        ((), 0),
        ((UsageError("x"),), 2),
        ((PartialResult("x"), DamageFound("x")), 5),
        ((PolicyViolated("x"), PartialResult("x")), 3),
        ((DamageFound("x"), BergungError("x"), PartialResult("x")), 1),
        ((BergungError("x"), Interrupted("x")), 130),
        ((UsageError("x"), PartialResult("x")), 3),
    ],
)
def test_of_several_exit_codes_the_worst_is_taken(errors: tuple[BergungError, ...], code: int) -> None:
    assert Result("x", {}, errors=errors).exit_code == code


def test_causes_are_told_first_and_do_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    result = Result("partial", {}, errors=(PartialResult("one of two", "again"),), causes=(BergungError("a.b: gone", "look"),))
    telling.tell("backup", result, as_json=False)
    assert capsys.readouterr().err.splitlines() == ["error: a.b: gone", "hint: look", "error: one of two", "hint: again"]
    assert result.exit_code == 3


def test_an_error_without_a_hint_has_no_hint_line(capsys: pytest.CaptureFixture[str]) -> None:
    telling.tell("x", Result("failed", {}, errors=(BergungError("gone"),)), as_json=False)
    assert capsys.readouterr().err == "error: gone\n"


def test_programs_get_one_line_that_is_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    result = Result("partial", {"point": "ä\n"}, ["text"], (PartialResult("one of two", "again"),))
    telling.tell("backup", result, as_json=True)
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == {
        "type": "result",
        "command": "backup",
        "status": "partial",
        "exit_code": 3,
        "point": "ä\n",
        "errors": [{"error": "PartialResult", "exit_code": 3, "message": "one of two", "hint": "again"}],
    }


def test_tables_are_aligned_plain_and_never_cut(capsys: pytest.CaptureFixture[str]) -> None:
    long = "x" * 300
    grid = Grid(("name", "bytes", "status"), [("[red]a:smile:", "1 B", "damaged"), (long, "100 MB", "complete")], frozenset({1}))
    telling.tell("x", Result("complete", {}, ["before", grid, "after [b]"]), as_json=False)
    before, head, first, second, after = capsys.readouterr().out.splitlines()
    assert (before, after) == ("before", "after [b]")
    assert head.split() == ["name", "bytes", "status"]
    assert first.split() == ["[red]a:smile:", "1", "B", "damaged"]
    assert second == f"{long}  100 MB  complete"
    assert first.index("1 B") + 3 == second.index("100 MB") + 6
    assert "\x1b" not in head + first + second
