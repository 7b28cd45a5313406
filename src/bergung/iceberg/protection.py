"""Tags that keep old snapshots from the next expiry."""

from collections.abc import Mapping
from typing import Any

from bergung.iceberg.metadata import TableMetadata

DAY_MS = 24 * 60 * 60 * 1000


def protecting_tags(metadata: TableMetadata, now_ms: int, days: int) -> Mapping[str, dict[str, Any]]:
    """A tag for every snapshot that no ref names, each with its own age: it ends so many days from now.

    A property would protect only from those who read it: PyIceberg's expiry spares what refs name, and nothing else.
    """
    named = {ref.snapshot_id for ref in metadata.refs.values()}
    return {
        f"bergung-{snapshot.snapshot_id}": {
            "snapshot-id": snapshot.snapshot_id,
            "type": "tag",
            "max-ref-age-ms": max(now_ms - snapshot.timestamp_ms, 0) + days * DAY_MS,
        }
        for snapshot in metadata.snapshots
        if snapshot.snapshot_id not in named
    }
