"""What a manifest says of a delete file that was made anew."""

from bergung.errors import BergungError
from bergung.iceberg.avro_write import long_bytes
from bergung.iceberg.relocate.fields import (
    BLOB_OFFSET,
    BLOB_SIZE,
    COLUMN_SIZES,
    FAULT,
    LOWER,
    PATH_OF_DELETE,
    SIZE,
    SPLIT_OFFSETS,
    UPPER,
)
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.rewritten import Rewritten
from bergung.iceberg.relocate.splice.layout import Layout
from bergung.iceberg.relocate.splice.values import (
    bytes_by_id_bytes,
    bytes_by_id_of,
    number_of,
    numbers_by_id_bytes,
    numbers_bytes,
)


def say_anew(layout: Layout, record: list[bytes], made: Rewritten, moves: PathMap) -> None:
    """Change the pieces of a live entry; BergungError when what was made does not fit it."""
    layout.put(record, SIZE, long_bytes(made.size_bytes))
    if made.column_sizes is not None:
        layout.put(record, COLUMN_SIZES, numbers_by_id_bytes(made.column_sizes))
    if made.split_offsets is not None:
        layout.put(record, SPLIT_OFFSETS, numbers_bytes(made.split_offsets))
    for side, id_ in enumerate((LOWER, UPPER)):
        _bound(layout, record, id_, None if made.bounds is None else made.bounds[side], moves)
    _blob(layout, record, made)


def _bound(layout: Layout, record: list[bytes], id_: int, bound: bytes | None, moves: PathMap) -> None:
    pairs = bytes_by_id_of(layout.value(record, id_) or b"\0")
    olds = [value for column, value in pairs if column == PATH_OF_DELETE]
    if bound is not None and olds:
        new = [(column, bound if column == PATH_OF_DELETE else value) for column, value in pairs]
        layout.put(record, id_, bytes_by_id_bytes(new))
    elif any(moves.maybe(old.decode()) != old.decode() for old in olds):
        # Readers pass over a delete file by the bounds of its paths: old ones would bring deleted rows back.
        raise BergungError("a file of position deletes was made anew, but not the bounds of its paths", FAULT)


def _blob(layout: Layout, record: list[bytes], made: Rewritten) -> None:
    value = layout.value(record, BLOB_OFFSET)
    if value is None:
        return
    place = made.blobs.get(number_of(value))
    if place is None:
        raise BergungError(f"a Puffin file was made anew without its blob at byte {number_of(value)}", FAULT)
    for id_, number in zip((BLOB_OFFSET, BLOB_SIZE), place, strict=True):
        layout.put(record, id_, long_bytes(number))
