"""Settings: from bergung.toml and the environment, each with the place that it comes from."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from bergung.cli import access
from bergung.errors import UsageError
from bergung.stores.access import Access

FILE = "bergung.toml"
DEFAULT = "default"
ENGINES = ("spark", "process", "auto")
BRAKES = ("limit_rate", "max_requests", "window")
OWN = {"spark.master": "", "spark.remote": "", "spark.patience": "120"}
"""Ours, though they begin as Spark's do."""
DEFAULTS = {"vault": "", "engine": "spark", **dict.fromkeys(BRAKES, ""), **OWN}
SPARK = "spark."
ACCESS = re.compile(rf"access[.](\d+)[.]({'|'.join(access.KEYS)})")

_SECRET = re.compile(r"(?i)secret|password|token|credential|access[.]?key")
_HIDDEN = "(hidden)"


@dataclass(frozen=True)
class Setting:
    """One value, and what decided it."""

    value: str
    origin: str


@dataclass(frozen=True)
class Settings:
    """All of them by name; `file` is the bergung.toml that was read, if there is one."""

    values: Mapping[str, Setting]
    file: Path | None

    def text(self, name: str) -> str:
        """The value of a setting that has a default."""
        return self.values[name].value

    def spark_confs(self) -> dict[str, str]:
        """What Spark itself is to be told."""
        return {name: each.value for name, each in self.values.items() if name.startswith(SPARK) and name not in OWN}

    def patience_seconds(self) -> float:
        """How long a cluster may take for a first task; 0 is for ever."""
        setting = self.values["spark.patience"]
        try:
            return max(float(setting.value), 0)
        except ValueError as error:
            fact = f"spark.patience is no number of seconds: {setting.value!r} ({setting.origin})"
            raise UsageError(fact, "write spark.patience = 300; 0 waits for ever") from error

    def accesses(self) -> tuple[Access, ...]:
        """How object stores are reached, with their secrets."""
        entries: dict[int, dict[str, str]] = {}
        for name, each in self.values.items():
            if found := ACCESS.fullmatch(name):
                entries.setdefault(int(found[1]), {})[found[2]] = each.value
        return access.resolved(entries, str(self.file))

    def shown(self) -> dict[str, Setting]:
        """Fit for a terminal: nothing that may be a secret."""
        return {name: Setting(_shown(name, each.value), each.origin) for name, each in sorted(self.values.items())}


def load_settings(environment: Mapping[str, str], folder: Path) -> Settings:
    """A variable wins over the file, the file over the default; the nearest file from `folder` up is the only one read."""
    file = _find(environment, folder)
    values = {name: Setting(value, DEFAULT) for name, value in DEFAULTS.items()}
    if file is not None:
        values |= {name: Setting(value, str(file)) for name, value in _read(file).items()}
    values |= _of_environment(environment)
    if values["engine"].value not in ENGINES:
        raise UsageError(f"no engine {values['engine'].value!r} ({values['engine'].origin})", f"there are {', '.join(ENGINES)}")
    return Settings(values, file)


def address(text: str, folder: Path) -> str:
    """A vault's address as every process understands it; a relative folder is meant from `folder`."""
    if "://" in text or text.startswith("file:/"):
        return text
    return os.path.abspath(folder / os.path.expanduser(text))


def _find(environment: Mapping[str, str], folder: Path) -> Path | None:
    home = environment.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    places = [*(each / FILE for each in (folder, *folder.parents)), Path(home) / "bergung" / FILE]
    return next((place for place in places if os.path.isfile(place)), None)


def _of_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Setting]]:
    for name in DEFAULTS:
        variable = f"BERGUNG_{name.upper().replace('.', '_')}"
        if environment.get(variable):
            value = environment[variable]
            yield name, Setting(address(value, Path()) if name == "vault" else value, f"environment {variable}")


def _read(file: Path) -> dict[str, str]:
    try:
        content = tomllib.loads(file.read_text())
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {(error.strerror or str(error)).lower()}", f"ls -l {file}") from error
    except ValueError as error:
        # Without the line itself: it may hold a secret.
        raise UsageError(f"{file} is no TOML: {_lower(str(error))}", 'write it as: vault = "/backup/vault"') from error
    values = dict(_flat(content, "", file))
    for name in values:
        _check_known(name, file)
    if values.get("vault"):
        values["vault"] = address(values["vault"], file.parent)
    return values


def _flat(content: Mapping[str, Any], above: str, file: Path) -> Iterator[tuple[str, str]]:
    for key, value in content.items():
        name = above + key
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name}.", file)
        elif name == "access" and isinstance(value, list) and all(isinstance(each, Mapping) for each in value):
            for number, entry in enumerate(value, 1):
                yield from _flat(entry, f"{name}.{number}.", file)
        elif isinstance(value, bool):
            yield name, str(value).lower()
        elif isinstance(value, str | int | float):
            yield name, str(value)
        else:
            raise UsageError(f"{file}: {name} is neither text nor a number", "write text in quotes")


def _check_known(name: str, file: Path) -> None:
    if name in DEFAULTS or name.startswith(SPARK) or ACCESS.fullmatch(name):
        return
    if name.startswith("access."):
        raise UsageError(f"{file}: no setting {name}", f"an [[access]] has {', '.join(access.KEYS)}")
    near = get_close_matches(name, DEFAULTS, n=1)
    known = ", ".join(DEFAULTS)
    raise UsageError(f"{file}: no setting {name}", f"is it {near[0]}?" if near else f"there are {known} and [spark]")


def _shown(name: str, value: str) -> str:
    if value and _SECRET.search(name) and not value.startswith(access.REFERENCES):
        return _HIDDEN
    # A Connect address may carry its token: sc://host:port/;token=…
    return re.sub(r"(?i)((?:token|password|secret)[^=;/]*=)[^;]*", rf"\1{_HIDDEN}", value)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
