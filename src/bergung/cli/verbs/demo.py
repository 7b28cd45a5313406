"""bergung demo."""

import click

from bergung.cli import options
from bergung.cli.door import Door
from bergung.cli.telling import Result


@click.command()
@click.option("--folder", metavar="FOLDER", help="An empty folder that keeps the lake and its vault [else a passing one].")
@options.as_json
@options.pass_door
def command(door: Door, /, folder: str | None) -> Result:
    """Lose a small lake, and get every row back.

    Makes tables of every format version, backs them up twice, drops and damages some, restores, and compares all rows.
    """
    from bergung.cli.calls.demo import demo

    return demo(door, folder)
