"""bergung compare."""

from typing import Any

import click

from bergung.cli import options
from bergung.cli.door import Door
from bergung.cli.telling import Result


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--at", metavar="TIME", help="Both as they were at that time, each by its own history.")
@click.option("--snapshot", metavar="SNAPSHOT", help="Of both, this one: an id, a branch or a tag [else both as they are now].")
@click.option("--snapshot-a", metavar="SNAPSHOT", help="Of A only.")
@click.option("--snapshot-b", metavar="SNAPSHOT", help="Of B only.")
@click.option("--snapshots", type=click.Choice(["all"]), help="Every snapshot that both retain, one after the other, by its id.")
@click.option("--by-name", is_flag=True, help="Match columns by their names instead of their field ids.")
@click.option("--lineage", is_flag=True, help="Compare the ids and sequence numbers of rows too, which format version 3 keeps.")
@click.option("--rows-only", is_flag=True, help="Let differences of schema, partitioning and sort order pass.")
@options.as_json
@options.pass_door
def command(door: Door, /, a: str, b: str, **given: Any) -> Result:
    """Compare two tables, row by row, on Spark.

    A and B are names, folders or metadata files of tables. Rows have no order and count as often as they are there. Ends with 6
    when rows, schema, partitioning or sort order differ, and shows the first rows that only one of them has.
    """
    from bergung.cli.calls.compare import compare

    return compare(door, a, b, given)
