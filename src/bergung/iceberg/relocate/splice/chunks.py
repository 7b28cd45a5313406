"""Records of a file, in portions of the size that writers choose for a block."""

from collections.abc import Iterator

from bergung.iceberg.avro import Container, blocks, long_at

_CHUNK_BYTES = 64_000
"""Java's. PyIceberg packs each entry of a manifest by itself, which takes long to read; such blocks are joined."""


def chunks(container: Container) -> Iterator[tuple[int, bytes]]:
    """How many records, and their bytes; never none, and blocks are never parted."""
    parts: list[bytes] = []
    records = waiting = 0
    for head, block in blocks(container):
        records += long_at(head, 0, container.where)[0]
        parts.append(block)
        waiting += len(block)
        if waiting >= _CHUNK_BYTES:
            yield records, b"".join(parts)
            parts, records, waiting = [], 0, 0
    if parts:
        yield records, b"".join(parts)
