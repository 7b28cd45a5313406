"""bergung init."""

from uuid import uuid4

import click

from bergung.cli import options
from bergung.cli.door import Door
from bergung.cli.telling import Result


@click.command()
@options.vault
@options.as_json
@options.pass_door
def command(door: Door) -> Result:
    """Make a vault, where the store can keep one safe."""
    from bergung.clock import SystemClock
    from bergung.vault.vault import init_vault, read_state

    vault = init_vault(door.vault_address(), door.stores, SystemClock(), uuid4())
    head = read_state(vault).head
    facts = {"vault": vault.url, "vault_id": vault.id, "head": head}
    next_step = f"next: bergung backup CATALOG.NAMESPACE.TABLE{door.vault_words()}"
    return Result("complete", facts, [f"made the vault {vault.url}", next_step])
