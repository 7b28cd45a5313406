"""bergung vault copy."""

from typing import Any

import click

from bergung.cli import options
from bergung.cli.door import Door
from bergung.cli.telling import Result


@click.command()
@click.argument("to", metavar="ADDRESS")
@click.option("--data", metavar="SHARE", help="How much of what was brought is read again there: all, or a percentage [else none].")
@click.option("--trust", type=click.Choice(["size"]), help="Take what lies there in the right size for intact, without reading it.")
@click.option("--mend", is_flag=True, help="Look at everything, also what lies there, and bring what was lost there.")
@options.engine
@options.brakes
@options.dry_run
@options.vault
@options.as_json
@options.pass_door
def command(door: Door, /, to: str, **given: Any) -> Result:
    """Keep a second copy of the vault at ADDRESS.

    It is a vault of its own, with the same points, that restores without the first. Only what it has not is carried, and
    every byte is compared with its digest on the way; the vault itself is only read. A copy that was stopped goes on when it
    is called again. One that has points of its own is left alone.
    """
    from bergung.cli.calls.vault_copy import copy

    return copy(door, to, given)
