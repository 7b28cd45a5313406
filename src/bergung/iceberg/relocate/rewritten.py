"""What a manifest must say of a delete file that was made anew."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Rewritten:
    """None: as before. What is not named here has not changed."""

    size_bytes: int
    column_sizes: Mapping[int, int] | None = None
    split_offsets: tuple[int, ...] | None = None
    bounds: tuple[bytes, bytes] | None = None
    """Lower and upper bound of the paths in a position delete file (field 2147483546)."""
    blobs: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """Of a Puffin file: content offset as it was, to offset and size as they are."""
