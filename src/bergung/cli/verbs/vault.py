"""bergung vault."""

import click

from bergung.cli import options
from bergung.cli.door import Door
from bergung.cli.telling import Result
from bergung.cli.verbs import vault_copy


@click.group(no_args_is_help=True)
def command() -> None:
    """Look after the vault as a whole, and the store that it lies in."""


command.add_command(vault_copy.command, "copy")


@command.command()
@click.argument("address", required=False)
@options.vault
@options.as_json
@options.pass_door
def validate(door: Door, /, address: str | None) -> Result:
    """Say whether a store can keep a vault.

    That is: whether it keeps the promises that a vault stands on. ADDRESS is a folder or a bucket; without it the vault's own.
    It need not hold a vault. A few small objects are written there, tried, and taken away again. Exit code 14 when a promise is
    broken that a vault needs.
    """
    from bergung.cli.calls.vault import validate

    return validate(door, address)
