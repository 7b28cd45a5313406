"""Names for runs and points: sortable by time, unlike any other."""

import secrets
from datetime import datetime
from typing import Protocol


class Ids(Protocol):
    """Chance as an effect, so that tests decide it."""

    def new(self, moment: datetime) -> str:
        """A fresh id whose text order is time order."""
        ...


class RandomIds:
    """Time to the second and 40 random bits."""

    def new(self, moment: datetime) -> str:
        """A fresh id whose text order is time order."""
        return f"{moment:%Y%m%dT%H%M%SZ}-{secrets.token_hex(5)}"
