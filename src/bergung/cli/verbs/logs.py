"""bergung logs."""

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
    """Show what a run did, step by step."""
    from bergung.cli.calls.runs import logs

    return logs(door, run)
