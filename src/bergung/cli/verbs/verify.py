"""bergung verify."""

from typing import Any

import click

from bergung.cli import options
from bergung.cli.door import Door
from bergung.cli.telling import Result


@click.command()
@click.argument("point", required=False)
@click.option("--data", metavar="SHARE", help="How much of the data is read: all, or a percentage [default: all].")
@click.option("--budget", metavar="SIZE", help="Read about so much data instead: 500m, 2g.")
@click.option("--expect-head", metavar="DIGEST", help="The log must hold this entry, as printed by a backup.")
@options.engine
@options.brakes
@options.vault
@options.as_json
@options.pass_door
def command(door: Door, /, point: str | None, **given: Any) -> Result:
    """Check that all is there that the points need.

    And that it is what it was. Without POINT all points are looked at. Every file is looked for; SHARE says how many of
    them are read as well.
    """
    from bergung.cli.calls.verify import verify

    return verify(door, point, given)
