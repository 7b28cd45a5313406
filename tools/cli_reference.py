"""The page docs/cli.md, made from the commands themselves and from the errors' exit codes."""

import sys
from collections.abc import Iterator

import click

from bergung import errors

HEAD = """# Commands

<!-- written by ./dev docs; do not edit -->
"""


def reference() -> str:
    """The whole page."""
    parts = [HEAD]
    parts += [section(path, command) for path, command in walk(root())]
    parts.append(exit_codes())
    return "\n".join(parts)


def command_paths() -> set[str]:
    """The first words after `bergung`: its verbs."""
    return {path[1] for path, _ in walk(root()) if len(path) > 1}


def root() -> click.Command:
    try:
        from bergung.cli.main import cli
    except ModuleNotFoundError as error:
        if error.name not in ("bergung.cli", "bergung.cli.main"):
            raise
        print("there are no commands yet: bergung.cli.main does not exist", file=sys.stderr)
        sys.exit(1)
    return cli


def walk(command: click.Command, path: tuple[str, ...] = ("bergung",)) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=" ".join(path))
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from walk(below, (*path, name))


def section(path: tuple[str, ...], command: click.Command) -> str:
    context = click.Context(command, info_name=" ".join(path))
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f"## {' '.join(path)}", "", f"    {' '.join(path)} {usage}".rstrip(), "", told(command), ""]
    rows = [row for each in command.get_params(context) if (row := option_row(each, context))]
    if rows:
        lines += ["| option | what it does |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def told(command: click.Command) -> str:
    text = (command.help or command.short_help or "").replace("\b\n", "").strip()
    return "\n".join(line.strip() for line in text.splitlines())


def option_row(parameter: click.Parameter, context: click.Context) -> str:
    record = parameter.get_help_record(context)
    if record is None or not record[1] or "--help" in parameter.opts:
        return ""  # arguments are told in the text above
    name, text = (" ".join(each.split()).replace("|", "\\|") for each in record)
    return f"| `{name}` | {text} |"


def exit_codes() -> str:
    lines = ["## Exit codes", "", "| code | error | when |", "|---|---|---|", "| 0 | | it is done |"]
    for code, name, text in sorted(described(errors.BergungError)):
        lines.append(f"| {code} | {name} | {text} |")
    return "\n".join(lines) + "\n"


def described(error: type[errors.BergungError]) -> Iterator[tuple[int, str, str]]:
    text = "it failed" if error is errors.BergungError else (error.__doc__ or "").strip().splitlines()[0]
    yield error.exit_code, error.__name__, text
    for below in error.__subclasses__():
        yield from described(below)


if __name__ == "__main__":
    print(reference())
