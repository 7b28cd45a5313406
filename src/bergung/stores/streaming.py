"""A copy from one store into another, block by block."""

from bergung.stores.base import Copied, Store
from bergung.stores.digest import Hashing


def stream(source: Store, source_key: str, version: str | None, target: Store, key: str) -> Copied:
    """Create-only; hashed as it passes."""
    passing = Hashing(source.blocks(source_key, version=version))
    written = target.put_if_absent(key, passing)
    return Copied(written, passing.digest)
