"""bergung runs."""

import click

from bergung.cli import options
from bergung.cli.door import Door
from bergung.cli.telling import Result


@click.command()
@click.option("--follow", is_flag=True, help="Go on and print each step of every run, until Ctrl-C.")
@options.vault
@options.as_json
@options.pass_door
def command(door: Door, /, follow: bool) -> Result:
    """List the runs of the vault, newest last."""
    from bergung.cli.calls.runs import runs

    return runs(door, follow)
