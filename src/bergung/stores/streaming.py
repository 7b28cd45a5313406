"""What stores of every kind do in the same way: a copy block by block, and opening where a look costs nothing."""

from bergung.stores.base import Copied, Opened, Stat, Store
from bergung.stores.digest import Expecting, Hashing


def stream(source: tuple[Store, str, str | Stat | None], target: tuple[Store, str], digest: str | None = None) -> Copied:
    """Create-only; hashed as it passes. The source is a store, a key and a version, the target a store and a key."""
    (store, key, version), (target_store, target_key) = source, target
    blocks = store.blocks(key, version=version.version if isinstance(version, Stat) else version)
    passing = Hashing(blocks) if digest is None else Expecting(blocks, key, digest)
    return Copied(target_store.put_if_absent(target_key, passing), passing.digest)


def look_and_read(store: Store, key: str) -> Opened:
    """First the look, then the blocks of just that version."""
    stat = store.head(key)
    return Opened(stat, store.blocks(key, version=stat.version))
