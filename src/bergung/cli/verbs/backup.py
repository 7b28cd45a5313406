"""bergung backup."""

from typing import Any

import click

from bergung.cli import options
from bergung.cli.door import Door
from bergung.cli.telling import Result


@click.command()
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave out what this means; can be given again.")
@click.option("--metadata-only", is_flag=True, help="Record and metadata, no data.")
@click.option("--keep", metavar="SPAN", help="How long the point is to be kept: 90d, 12w, 7y.")
@click.option("--lock", metavar="SPAN", help="Nobody can delete what the point needs for so long: 30d [needs a store that locks].")
@options.allow_prefix
@options.engine
@options.brakes
@options.dry_run
@options.vault
@options.as_json
@options.pass_door
def command(door: Door, /, **given: Any) -> Result:
    """Back up tables into one recovery point that is one instant.

    TABLE is catalog.namespace.table; a namespace or a catalog means all its tables, and * and ? stand for letters. A table
    without a catalog is named by its folder or its metadata file. Only what the vault has not is copied.
    """
    from bergung.cli.calls.backup import backup

    return backup(door, given)
