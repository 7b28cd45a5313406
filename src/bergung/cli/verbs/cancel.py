"""bergung cancel."""

import click

from bergung.cli import options
from bergung.cli.door import Door
from bergung.cli.telling import Result


@click.command()
@click.argument("run")
@options.vault
@options.as_json
@options.pass_door
def command(door: Door, /, run: str) -> Result:
    """Ask a run to stop, wherever it runs.

    It does before its next wave of files, some twenty seconds later at most.
    """
    from bergung.cli.calls.runs import cancel

    return cancel(door, run)
