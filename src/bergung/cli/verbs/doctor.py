"""bergung doctor."""

import click

from bergung.cli import options
from bergung.cli.door import Door
from bergung.cli.telling import Result


@click.command()
@options.engine
@options.vault
@options.as_json
@options.pass_door
def command(door: Door, /) -> Result:
    """Say what works from here.

    Python, Java, Spark, the vault, the catalogs: each a line. Exit code 1 when something that is needed does not work.
    """
    from bergung.cli.calls.doctor import doctor

    return doctor(door)
