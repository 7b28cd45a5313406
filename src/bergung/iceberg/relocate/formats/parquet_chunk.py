"""The pages of one column in one row group of a Parquet file, and what the footer says of them."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from bergung.iceberg.relocate.formats import thrift
from bergung.iceberg.relocate.formats.thrift import BINARY, I32, I64, LIST, STRUCT, Struct

UNCOMPRESSED = 0
LZ4_OF_HADOOP = 5
"""Arrow reads it and does not write it; what it writes as LZ4 (7, raw) not every reader of the other one knows."""

# Numbers of fields in Parquet's own definition (parquet.thrift).
META, COLUMN_START = 3, 2
_NAMES, _CODEC, _UNPACKED, _PACKED, _DATA_START, _INDEX_START, _DICTIONARY_START, _BLOOM_START, _BLOOM_SIZE = (
    3,
    4,
    6,
    7,
    9,
    10,
    11,
    14,
    15,
)
_PAGE_TYPE, _PAGE_UNPACKED, _PAGE_PACKED, _PAGE_CHECKSUM = 1, 2, 3, 4
_DATA_PAGE = 0


@dataclass(frozen=True)
class Chunk:
    """Offsets in `meta` are those of the file that it was read from."""

    meta: Struct
    data: memoryview

    @property
    def codec(self) -> int:
        return int(self.meta[_CODEC][1])

    @property
    def start(self) -> int:
        return place_of(self.meta)[0]

    @property
    def has_dictionary(self) -> bool:
        return bool(self.meta.get(_DICTIONARY_START, (I64, 0))[1])

    @property
    def unpacked_bytes(self) -> int:
        return int(self.meta[_UNPACKED][1])

    def column(self, names: tuple[str, ...], start: int) -> Struct:
        """What the footer of a file says in which the chunk begins there.

        Indexes of pages and Bloom filters, which are nobody's duty, are left out: they would speak of other places.
        """
        meta = {key: field for key, field in self.meta.items() if key not in (_BLOOM_START, _BLOOM_SIZE, _INDEX_START)}
        for key in {_DATA_START, _DICTIONARY_START} & meta.keys():
            meta[key] = (I64, max(meta[key][1] + start - self.start, 0))
        meta[_NAMES] = (LIST, (BINARY, [name.encode() for name in names]))
        return {COLUMN_START: (I64, 0), META: (STRUCT, meta)}


def place_of(meta: Struct) -> tuple[int, int]:
    """Where a chunk begins, and its length; some writers put 0 where there is no dictionary."""
    dictionary, data = meta.get(_DICTIONARY_START, (I64, 0))[1], meta[_DATA_START][1]
    return int(min(dictionary, data) if dictionary else data), int(meta[_PACKED][1])


def packed_for_hadoop(chunk: Chunk) -> Chunk:
    """An uncompressed chunk as Hadoop packs LZ4: each page as one block, with both lengths before it."""
    pages: list[bytes] = []
    unpacked_bytes = position = 0
    starts: dict[int, int] = {}
    for head, body in _pages(chunk):
        packed: bytes = pa.compress(body, codec="lz4_raw", asbytes=True)
        packed = b"".join((len(body).to_bytes(4), len(packed).to_bytes(4), packed))
        checksum = {_PAGE_CHECKSUM: (I32, int.from_bytes(zlib.crc32(packed).to_bytes(4), signed=True))}
        head_bytes = thrift.written({**head, **checksum, _PAGE_PACKED: (I32, len(packed))})
        starts.setdefault(head[_PAGE_TYPE][1], position)
        pages += (head_bytes, packed)
        position += len(head_bytes) + len(packed)
        unpacked_bytes += len(head_bytes) + len(body)
    sizes = {_CODEC: (I32, LZ4_OF_HADOOP), _UNPACKED: (I64, unpacked_bytes), _PACKED: (I64, position)}
    data_start = {_DATA_START: (I64, chunk.start + starts[_DATA_PAGE])}
    return Chunk({**chunk.meta, **sizes, **data_start}, memoryview(b"".join(pages)))


def _pages(chunk: Chunk) -> Iterator[tuple[Struct, memoryview]]:
    position = 0
    while position < len(chunk.data):
        head, start = thrift.read(chunk.data, position)
        position = start + head[_PAGE_PACKED][1]
        yield head, chunk.data[start:position]
