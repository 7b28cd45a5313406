"""What the options of a call say, and the settings that stand behind them."""

import os
import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bergung.cli import words
from bergung.cli.settings import BRAKES, Settings, address, load_settings
from bergung.errors import UsageError
from bergung.model.brakes import Brakes
from bergung.stores.base import OpenStore


@dataclass
class Door:
    """One call of the command line."""

    as_json: bool = False
    vault: str | None = None
    engine: str | None = None
    limit_rate: str | None = None
    max_requests: str | None = None
    window: str | None = None

    @cached_property
    def settings(self) -> Settings:
        """Read when first asked for: `--help` needs none."""
        return load_settings(os.environ, Path.cwd())

    @cached_property
    def stores(self) -> OpenStore:
        """Opens every store that the call meets, as the settings say it is reached."""
        from bergung.stores.open import Stores

        return Stores(self.settings.accesses())

    def vault_address(self) -> str:
        """The vault that is meant; UsageError when none is named anywhere."""
        if self.vault is not None:
            return address(self.vault, Path.cwd())
        named = self.settings.text("vault")
        if not named:
            raise UsageError("no vault is named", 'add --vault FOLDER, set BERGUNG_VAULT, or write vault = "…" into bergung.toml')
        return named

    def vault_words(self) -> str:
        """What a further command must say to mean the same vault."""
        return "" if self.vault is None else f" --vault {shlex.quote(self.vault)}"

    def brakes(self) -> Brakes:
        """How much of stores and of the day the call may take."""
        rate, requests, window = (getattr(self, name) or self.settings.text(name) for name in BRAKES)
        return Brakes(
            words.to_bytes(rate) if rate else None,
            words.to_count(requests) if requests else None,
            words.to_window(window) if window else None,
        )

    def engine_kind(self) -> str:
        """The engine that is meant."""
        return self.engine or self.settings.text("engine")
