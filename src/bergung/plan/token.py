"""The name of a plan: its digest, so that a confirmation fits just that plan."""

from dataclasses import asdict
from hashlib import sha256
from json import dumps
from typing import Any


def token_of(plan: Any) -> str:
    """Twelve hex digits of the digest of a plan's facts."""
    return sha256(dumps(asdict(plan), sort_keys=True, default=str).encode()).hexdigest()[:12]
