"""Options that several commands share; what they say goes to the Door of the call."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from bergung.cli.door import Door
from bergung.cli.settings import ENGINES

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
PLAIN_CONFIRM = "-"

pass_door = click.make_pass_decorator(Door, ensure=True)


def _noted(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def note(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        if value:
            setattr(context.ensure_object(Door), name, value)

    return note


def as_json(command: Decorated) -> Decorated:
    """--json."""
    text = "Print lines of JSON; the last one is the result (docs/json.md)."
    return click.option("--json", is_flag=True, expose_value=False, callback=_noted("as_json"), help=text)(command)


def vault(command: Decorated) -> Decorated:
    """--vault."""
    text = "The vault's folder or address [else BERGUNG_VAULT, else bergung.toml]."
    return click.option("--vault", metavar="ADDRESS", expose_value=False, callback=_noted("vault"), help=text)(command)


def engine(command: Decorated) -> Decorated:
    """--engine."""
    text = "What carries the files; auto takes Spark when there is much to do [else bergung.toml, else spark]."
    kinds = click.Choice(ENGINES)
    return click.option("--engine", type=kinds, expose_value=False, callback=_noted("engine"), help=text)(command)


def allow_prefix(command: Decorated) -> Decorated:
    """--allow-prefix."""
    text = "A folder outside a table's own where its files may lie too; can be given again."
    return click.option("--allow-prefix", "allow_prefixes", multiple=True, metavar="FOLDER", help=text)(command)


def brakes(command: Decorated) -> Decorated:
    """--limit-rate, --max-requests, --window."""
    rate = "Carry no more than this in a second: 500k, 50m [else bergung.toml, else no limit]."
    requests = "Ask the stores no more than so many times in a second while files are carried."
    window = "Carry files in these hours only, then stop; the same command goes on: 22:00-06:00."
    said = {"limit_rate": ("SIZE", rate), "max_requests": ("NUMBER", requests), "window": ("HOURS", window)}
    for name, (metavar, text) in reversed(said.items()):
        option = f"--{name.replace('_', '-')}"
        command = click.option(option, metavar=metavar, expose_value=False, callback=_noted(name), help=text)(command)
    return command


def dry_run(command: Decorated) -> Decorated:
    """--dry-run."""
    return click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")(command)


def confirm(command: Decorated) -> Decorated:
    """--confirm, alone or with a plan's id; needs ConfirmCommand."""
    text = "Let what exists be changed; with an ID, only by the plan that --dry-run has shown under it."
    return click.option("--confirm", metavar="[=ID]", help=text)(command)


class ConfirmCommand(click.Command):
    """`--confirm` takes its value after `=` only: what follows it as a word of its own is a table."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give a bare --confirm its value."""
        end = args.index("--") if "--" in args else len(args)
        bare = (f"--confirm={PLAIN_CONFIRM}" if each == "--confirm" else each for each in args[:end])
        return super().parse_args(ctx, [*bare, *args[end:]])
