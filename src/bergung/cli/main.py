"""The way in: finds the command, calls it, tells what came of it, and ends the process with its exit code."""

import os
import sys
from importlib import import_module

import click

from bergung import version
from bergung.cli import telling
from bergung.cli.door import Door
from bergung.cli.stopping import interrupted
from bergung.errors import BergungError, UsageError

GROUPS = {
    "Back up": ("init", "backup", "points", "show", "preview", "verify"),
    "Bring back": ("restore", "compare"),
    "Runs": ("runs", "cancel", "logs"),
    "Set up": ("doctor", "vault", "config", "demo", "completion"),
}
NESTED = frozenset({"config", "vault"})
"""Commands that have commands of their own."""
TRACEBACK = "BERGUNG_TRACEBACK"


class Commands(click.Group):
    """The commands by what they are for; each one's file is imported when it is looked at."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of GROUPS."""
        return [name for names in GROUPS.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The object `command` of the file of that name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"bergung.cli.verbs.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One list for each group, in one width."""
        for title, names in GROUPS.items():
            rows = [(f"{name:<10}", self._short(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl(rows)

    def _short(self, ctx: click.Context, name: str) -> str:
        command = self.get_command(ctx, name)
        return command.get_short_help_str(90) if command else ""


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(version.VERSION, message="bergung %(version)s")
def cli() -> None:
    """Bring Apache Iceberg tables back: recovery points in a vault, and restores from them."""


def main() -> None:
    """The console entry."""
    sys.exit(run(sys.argv[1:]))


def run(words: list[str]) -> int:
    """One call; its exit code. Everything that can go wrong is told here and nowhere else."""
    door = Door(as_json="--json" in words)
    command = _named(words)
    for stream in (sys.stdout, sys.stderr):
        # A path may hold bytes that are no text.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        result = _result(words, door)
        if isinstance(result, int):
            return result
        telling.tell(command, result, as_json=door.as_json)
        return result.exit_code
    except BrokenPipeError:
        # Whoever read our output has enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _named(words: list[str]) -> str:
    """The command's name as docs/json.md has it."""
    plain = [word for word in words if not word.startswith("-")]
    return " ".join(plain[: 2 if plain[:1] and plain[0] in NESTED else 1])


def _result(words: list[str], door: Door) -> telling.Result | int:
    try:
        returned = cli.main(words, prog_name="bergung", standalone_mode=False, obj=door)
    except BrokenPipeError:
        raise
    except BergungError as error:
        return _failed(error)
    except (KeyboardInterrupt, click.Abort):
        return _failed(interrupted())
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return error.exit_code
    except click.ClickException as error:
        return _failed(_misused(error))
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        return _failed(_unexpected(error))
    return returned if isinstance(returned, telling.Result | int) else 0


def _failed(error: BergungError) -> telling.Result:
    status = "interrupted" if error.exit_code == interrupted().exit_code else "failed"
    return telling.Result(status, {}, errors=(error,))


def _misused(error: click.ClickException) -> UsageError:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "bergung"
    text = error.format_message().strip().rstrip(".")
    return UsageError(text[:1].lower() + text[1:], f"{path} --help")


def _unexpected(error: Exception) -> BergungError:
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    return BergungError(
        f"something unforeseen happened: {said}",
        f"this is a fault of Bergung; set {TRACEBACK}=1 and run it again to see where, then report it",
    )
