"""The way in: every call ends with its exit code, a fact and a hint; with --json, with a result."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import bergung
from bergung import version
from bergung.cli.main import cli
from tests.command import call, child, command_line

SOURCE = Path(bergung.__file__).parent


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without settings."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("BERGUNG_VAULT", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands(of: click.Command = cli, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(of, click.Group):
        yield path, of
        return
    context = click.Context(of, info_name="bergung")
    for name in of.list_commands(context):
        below = of.get_command(context, name)
        assert below is not None
        yield from commands(below, (*path, name))


def test_the_verbs_of_this_version() -> None:
    assert {" ".join(path) for path, _ in commands()} == {
        "init", "backup", "points", "compare", "show", "preview", "restore", "verify", "runs", "cancel", "logs",
        "doctor", "config show", "demo", "completion", "vault copy", "vault validate",
    }  # fmt: skip


def test_every_command_has_json_a_help_and_a_short_help_that_is_whole() -> None:
    for path, command in commands():
        names = {option for each in command.params for option in each.opts}
        assert "--json" in names, path
        assert command.help and "..." not in command.get_short_help_str(60), path
        changes = path[-1] in ("backup", "restore", "copy")
        assert ("--dry-run" in names) == changes, path


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["backup", "--help"], ["config", "--help"]])
def test_help_is_no_error(words: list[str]) -> None:
    said = call(*words)
    assert said.code == 0 and said.out.startswith("Usage: bergung") and said.err == ""


@pytest.mark.parametrize("words", [[], ["config"]])
def test_without_a_command_there_is_help(words: list[str]) -> None:
    said = call(*words)
    assert said.code == 2 and said.out.startswith("Usage: bergung")


def test_version() -> None:
    assert call("--version").out == f"bergung {version.VERSION}\n"


@pytest.mark.parametrize(
    ("words", "fact", "hint"),
    [
        (["bakcup"], "no such command 'bakcup'", "bergung --help"),
        (["backup", "--foo"], "no such option", "bergung backup --help"),
        (["backup", "a.b.c", "--engine", "rocket"], "'rocket' is not one of 'spark', 'process', 'auto'", "backup --help"),
        (["show"], "missing argument 'POINT'", "bergung show --help"),
        (["points"], "no vault is named", "BERGUNG_VAULT"),
        (["init"], "no vault is named", "--vault FOLDER"),
        (["backup", "--vault", "/nowhere"], "missing argument 'TABLE...'", "bergung backup --help"),
        (["points", "--vault", "/nowhere"], "no vault at", "bergung init --vault file:///nowhere"),
        (["backup", "x", "--keep", "long", "--vault", "v"], "not a number of days: long", "90d"),
        (["verify", "--data", "half", "--vault", "v"], "not a share: half", "10%"),
        (["verify", "--data", "all", "--budget", "1g", "--vault", "v"], "both say how much", "one of them"),
        (["restore", "--vault", "v"], "no table is named", "--all"),
        (["restore", "a.b.c", "--all", "--vault", "v"], "tables are named, and --all too", "--all"),
        (["restore", "--all", "--confirm=zzz", "--vault", "v"], "not the id of a plan: zzz", "--dry-run"),
        (["completion", "tcsh"], "'tcsh' is not one of", "bergung completion --help"),
    ],
)
def test_wrong_words_are_told_with_a_hint(words: list[str], fact: str, hint: str) -> None:
    said = call(*words)
    assert said.code == (10 if "no vault at" in fact else 2) and said.out == ""
    (error,), (told,) = said.errors, said.hints
    assert fact in error and hint in told
    assert error[0].islower() or not error[0].isalpha()
    assert not error.endswith(".")
    in_json = call(*words, "--json")
    assert in_json.code == said.code
    (same,) = in_json.result["errors"]
    assert (same["message"], same["hint"], in_json.result["status"]) == (error, told, "failed")
    assert in_json.err == said.err


def test_something_unforeseen_is_told_in_a_line_and_whole_when_asked(nowhere: Path) -> None:
    """A module that is broken on this machine, for example."""
    (nowhere / "modules").mkdir()
    (nowhere / "modules" / "msgspec.py").write_text("raise ValueError('half installed')")
    broken = {"PYTHONPATH": str(nowhere / "modules")}
    said = child("points", "--vault", "v", env=broken)
    assert said.code == 1 and len(said.err.splitlines()) == 2
    assert "something unforeseen happened: ValueError: half installed" in said.err and "BERGUNG_TRACEBACK=1" in said.err
    whole = child("points", "--vault", "v", env={**broken, "BERGUNG_TRACEBACK": "1"})
    assert whole.code == 1 and "Traceback" in whole.err


def test_a_reader_that_has_enough_is_no_error(nowhere: Path) -> None:
    with subprocess.Popen(command_line("--help"), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in (0, 1)


def test_only_main_ends_the_process() -> None:
    for path in SOURCE.rglob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        ends = [node for node in calls if ast.unparse(node.func) in ("sys.exit", "exit", "quit")]
        assert len(ends) == (1 if path.relative_to(SOURCE) == Path("cli/main.py") else 0), path


def test_a_path_that_is_no_text_can_be_told(nowhere: Path) -> None:
    folder = os.fsdecode(b"caf\xe9")
    said = child("points", "--vault", folder)
    assert said.code == 10 and "caf\\udce9" in said.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_each_shell(shell: str) -> None:
    said = call("completion", shell)
    assert said.code == 0 and "_BERGUNG_COMPLETE" in said.out
    assert call("completion", shell, "--json").result["script"].strip() == said.out.strip()


def test_bash_completes_commands_and_options(nowhere: Path) -> None:
    assert _completed("bergung re") == ["plain,restore"]
    assert "plain,--dry-run" in _completed("bergung restore --d")


def _completed(line: str) -> list[str]:
    words = line.split(" ")
    environment = {"_BERGUNG_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    return child(env=environment).out.split()


def test_the_console_entry_is_main() -> None:
    script = Path(sys.executable).parent / "bergung"
    done = subprocess.run([script, "points"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.startswith("error: no vault is named")
