"""bergung config."""

import click

from bergung.cli import options
from bergung.cli.door import Door
from bergung.cli.telling import Grid, Result


@click.group(no_args_is_help=True)
def command() -> None:
    """See the settings.

    They come from the nearest bergung.toml of this folder or one above it, else from ~/.config/bergung/bergung.toml.
    BERGUNG_VAULT, BERGUNG_ENGINE and the other variables of docs/settings.md win over the file, options over both.
    """


@command.command()
@click.option("--origin", is_flag=True, help="Say of each where it comes from.")
@options.as_json
@options.pass_door
def show(door: Door, /, origin: bool) -> Result:
    """Print the settings that are in force here.

    What may be a secret is hidden.
    """
    shown = door.settings.shown()
    file = None if door.settings.file is None else str(door.settings.file)
    facts = {"file": file, "settings": {name: {"value": each.value, "origin": each.origin} for name, each in shown.items()}}
    rows = [(name, each.value or "-", each.origin) if origin else (name, each.value or "-") for name, each in shown.items()]
    return Result("complete", facts, [Grid(("setting", "value", "origin") if origin else ("setting", "value"), rows)])
