"""Every key inside a vault (format.md, "Layout" and "Keys")."""

import re
from hashlib import sha256

from bergung.iceberg.paths import below, split_uri

VAULT_DOCUMENT = "vault.json"
LOG = "log/"
ADMIN_LOG = "log-admin/"
CHECKPOINTS = "checkpoints/"
POINTS = "points/"
TABLES = "tables/"
RUNS = "runs/"

_LABEL_BYTES = 80
_SEGMENT_BYTES = 255
_KEY_BYTES = 800
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NOT_LABEL = re.compile(r"[^A-Za-z0-9_.-]")


def slot_key(log: str, slot: int) -> str:
    """The key of a log slot."""
    return f"{log}{slot:020d}.json"


def slot_of(log: str, key: str) -> int | None:
    """The number in a slot's key; None for a key that is none, such as one in a folder below the log."""
    match = re.fullmatch(r"([0-9]{20})\.json", key.removeprefix(log))
    return int(match.group(1)) if match else None


def point_key(point: str) -> str:
    """The key of a record."""
    return f"{POINTS}{point}.json"


def run_key(run: str, name: str) -> str:
    """A document or list of a run."""
    return f"{RUNS}{run}/{name}"


def table_folder(namespace: tuple[str, ...], name: str, identity: str) -> str:
    """The folder of a table seen for the first time; the label is for people only."""
    label = _NOT_LABEL.sub("_", ".".join((*namespace, name)))[:_LABEL_BYTES].lstrip(".")
    return f"{TABLES}{label}-{identity.removeprefix('sha256:')[:8]}/"


def receipts_key(of: str, own: str) -> str:
    """Below a table's folder: the receipts of the metadata file with digest `of`."""
    return f"receipts/{of.removeprefix('sha256:')}-{own.removeprefix('sha256:')[:16]}.parquet"


def blob_key(location: str, path: str) -> str:
    """Below a table's folder: where the bytes of a file belong, if nothing stands in the way there."""
    rest = below(location, path)
    if rest is not None:
        return _plain("files/" + rest) or beside_key(path)
    scheme, authority, key = split_uri(path)
    return _plain(f"elsewhere/{scheme or 'file'}/{authority or '-'}/{key.removeprefix('/')}") or beside_key(path)


def beside_key(path: str, content: str | None = None, again: int = 0) -> str:
    """Below a table's folder: for a path that cannot be a key, or that came again with other bytes.

    `again` counts the keys that were found taken by bytes of somebody else.
    """
    own = f"beside/{sha256(path.encode()).hexdigest()}"
    if content is None:
        return own
    return f"{own}-{content.removeprefix('sha256:')[:16]}" + (f"-{again}" if again else "")


def _plain(key: str) -> str | None:
    if len(key.encode()) > _KEY_BYTES or _CONTROL.search(key):
        return None
    return key if all(_plain_segment(segment) for segment in key.split("/")) else None


def _plain_segment(segment: str) -> bool:
    if segment in ("", ".", "..") or segment.startswith(".bergung-"):
        return False
    return len(segment.encode()) <= _SEGMENT_BYTES
