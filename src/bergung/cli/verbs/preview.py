"""bergung preview."""

import click

from bergung.cli import options
from bergung.cli.door import Door
from bergung.cli.telling import Result


@click.command()
@click.argument("point")
@click.argument("table")
@options.vault
@options.as_json
@options.pass_door
def command(door: Door, /, point: str, table: str) -> Result:
    """Show the snapshots of a table in a point.

    They are what a restore would bring back. POINT is an id, the beginning of one, or latest.
    """
    from bergung.cli.calls.preview import preview

    return preview(door, point, table)
