"""Tables that are encrypted with table keys: which files they have stands where nobody without the keys can read it.

So all that lies below their own folders is captured, as it is; no other table is ever captured by listing.
"""

from collections.abc import Iterator, Sequence

from bergung.backup.locating import Located
from bergung.carry.effects import Effects
from bergung.iceberg.paths import normal
from bergung.iceberg.survey import reached_by
from bergung.model.files import FileKind, ReachedFile
from bergung.stores.open import open_path


def listed_below(effects: Effects, located: Located, prefixes: Sequence[str]) -> list[ReachedFile]:
    """Files that the metadata file does not name itself, each once."""
    named = {normal(file.path) for file in reached_by(located.metadata)} | {normal(located.metadata_location)}
    found: dict[str, ReachedFile] = {}
    for prefix in prefixes:
        for file in _below(effects, located, prefix):
            if normal(file.path) not in named:
                found.setdefault(normal(file.path), file)
    return list(found.values())


def _below(effects: Effects, located: Located, prefix: str) -> Iterator[ReachedFile]:
    folder = prefix.rstrip("/")
    store, key = open_path(folder, effects.open_store, located.access)
    for stat in store.list(f"{key}/"):
        rest = stat.key[len(key) + 1 :]
        kind = FileKind.METADATA if rest.endswith(".metadata.json") else FileKind.DATA
        yield ReachedFile(f"{folder}/{rest}", kind, stat.size_bytes)
