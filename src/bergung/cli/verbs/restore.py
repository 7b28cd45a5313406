"""bergung restore."""

from typing import Any

import click

from bergung.cli import options
from bergung.cli.door import Door
from bergung.cli.telling import Result


@click.command(cls=options.ConfirmCommand)
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@click.option("--point", metavar="ID", help="The point to restore from, or latest [else the newest that holds the tables].")
@click.option("--all", "everything", is_flag=True, help="Every table of the point.")
@click.option("--trust", type=click.Choice(["size"]), help="Take a file of the right size for intact, without reading it.")
@click.option("--to", metavar="NAME", help="Under another name: CATALOG.NAMESPACE.TABLE; CATALOG.* keeps the names of many.")
@click.option("--location", metavar="URI", help="In another place: the table's new folder; that of them all with a pattern.")
@click.option(
    "--map", "maps", multiple=True, metavar="OLD=NEW", help="Where a folder outside the table's own goes; can be given again."
)
@click.option("--uuid", type=click.Choice(["keep", "new"]), help="The copy's uuid [else a new one while the original lives].")
@click.option(
    "--protect",
    "protected_days",
    type=click.IntRange(0),
    default=7,
    show_default=True,
    metavar="DAYS",
    help="Tag what a copy brings back, so that no expiry takes it so long; 0: no tags.",
)
@options.allow_prefix
@options.engine
@options.brakes
@options.dry_run
@options.confirm
@options.vault
@options.as_json
@options.pass_door
def command(door: Door, /, tables: tuple[str, ...], **given: Any) -> Result:
    """Bring tables back, to where they were or elsewhere.

    Each is entered in its catalog again when all its files lie in their places. Files that lie there intact are left as
    they are; what is there and is different is changed with --confirm only.
    """
    from bergung.cli.calls.restore import restore

    return restore(door, tables, given)
