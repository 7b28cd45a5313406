"""bergung points."""

import click

from bergung.cli import options
from bergung.cli.door import Door
from bergung.cli.telling import Result


@click.command()
@click.argument("table", required=False)
@options.vault
@options.as_json
@options.pass_door
def command(door: Door, /, table: str | None) -> Result:
    """List the recovery points of the vault.

    The oldest comes first; with TABLE, only those that hold it are listed. The span is what a point can answer for: it
    knows every state that its tables had in that time.
    """
    from bergung.cli.calls.points import points

    return points(door, table)
