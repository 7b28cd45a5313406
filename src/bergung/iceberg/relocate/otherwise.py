"""The one form in which a check says that it does not find what was meant."""

from bergung.errors import DamageFound


def otherwise(where: str, problem: str) -> DamageFound:
    """Of a file that was written and read again."""
    return DamageFound(f"what was written for {where} is not what was meant: {problem}", "write it again")
