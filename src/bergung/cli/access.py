"""How object stores are reached, as bergung.toml says it: entries under [[access]], their secrets by reference."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bergung.errors import UsageError
from bergung.stores.access import Access

TEXTS = ("prefix", "endpoint", "region", "profile", "key_id", "secret", "token")
SWITCHES = ("anonymous", "virtual_hosts")
SECRETS = ("secret", "token")
KEYS = (*TEXTS, *SWITCHES)
REFERENCES = ("env:", "file:", "cmd:")
_FORMS = "write env:NAME of a variable, file:PATH of a file that holds it, or cmd:COMMAND that prints it"
_PATIENCE_SECONDS = 60


def resolved(entries: Mapping[int, Mapping[str, str]], origin: str) -> tuple[Access, ...]:
    """The entries by their numbers, with what their references stand for; no secret appears in an error."""
    return tuple(_access(entry, f"[[access]] {number} of {origin}") for number, entry in sorted(entries.items()))


def _access(entry: Mapping[str, str], origin: str) -> Access:
    if not entry.get("prefix", "").startswith("s3://"):
        raise UsageError(f"{origin} has no prefix that begins with s3://", 'write prefix = "s3://bucket/", or "s3://" for all')
    for name in SECRETS:
        if name in entry and not entry[name].startswith(REFERENCES):
            raise UsageError(f"{origin}: {name} stands there itself", _FORMS)
    if bool(entry.get("key_id")) != bool(entry.get("secret")):
        raise UsageError(f"{origin}: key_id and secret go together", "write both, or a profile, or neither")
    values: dict[str, Any] = {name: _value(entry[name], f"{origin}: {name}") for name in TEXTS if name in entry}
    values |= {name: entry.get(name) == "true" for name in SWITCHES}
    return Access(origin=origin, **values)


def _value(text: str, what: str) -> str:
    kind, _, rest = text.partition(":")
    if f"{kind}:" not in REFERENCES:
        return text
    found = {"env": _of_variable, "file": _of_file, "cmd": _of_command}[kind](rest, what)
    if not found:
        raise UsageError(f"{what} is empty", f"look at {kind}:{rest}")
    return found


def _of_variable(name: str, what: str) -> str:
    if name not in os.environ:
        raise UsageError(f"{what} is kept in the variable {name}, which is not set", f"export {name}=…")
    return os.environ[name]


def _of_file(name: str, what: str) -> str:
    try:
        return Path(name).expanduser().read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "it is no text"
        raise UsageError(f"{what} is kept in {name}, which cannot be read: {said.lower()}", f"ls -l {name}") from error


def _of_command(command: str, what: str) -> str:
    import subprocess

    try:
        done = subprocess.run(
            command, shell=True, stdout=subprocess.PIPE, text=True, timeout=_PATIENCE_SECONDS, stdin=subprocess.DEVNULL, check=True
        )
    except subprocess.TimeoutExpired as error:
        raise UsageError(f"{what}: its command has not ended after {_PATIENCE_SECONDS} s", f"try it: {command}") from error
    except (subprocess.CalledProcessError, UnicodeDecodeError) as error:
        raise UsageError(f"{what}: its command failed", f"try it: {command}") from error
    return done.stdout.strip()
