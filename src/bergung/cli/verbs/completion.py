"""bergung completion."""

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from bergung.cli import options
from bergung.cli.door import Door
from bergung.cli.telling import Result

KINDS = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command()
@click.argument("shell", type=click.Choice(list(KINDS)))
@options.as_json
@options.pass_door
def command(door: Door, /, shell: str) -> Result:
    """Print a script that completes commands in a shell.

    \b
    eval "$(bergung completion bash)"       in ~/.bashrc
    eval "$(bergung completion zsh)"        in ~/.zshrc
    bergung completion fish | source        in ~/.config/fish/config.fish
    """
    context = click.get_current_context().find_root()
    script = KINDS[shell](context.command, {}, "bergung", "_BERGUNG_COMPLETE").source()
    return Result("complete", {"shell": shell, "script": script}, [script])
