"""bergung show."""

import click

from bergung.cli import options
from bergung.cli.door import Door
from bergung.cli.telling import Result


@click.command()
@click.argument("point")
@click.option("--files", is_flag=True, help="Every file of every table, with its checksum.")
@options.vault
@options.as_json
@options.pass_door
def command(door: Door, /, point: str, files: bool) -> Result:
    """Show what a recovery point holds, table by table.

    POINT is an id, the beginning of one, or latest.
    """
    from bergung.cli.calls.show import show

    return show(door, point, files)
