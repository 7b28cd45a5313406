"""Fields of manifests and manifest lists that change when a table moves, by id."""

from bergung.iceberg.relocate.splice.slots import Kind, Slot

STATUS, CONTENT, PATH, REFERENCED = 0, 134, 100, 143
SIZE, COLUMN_SIZES, SPLIT_OFFSETS, LOWER, UPPER, BLOB_OFFSET, BLOB_SIZE = 104, 108, 132, 125, 128, 144, 145
PATH_OF_DELETE = 2147483546
"""The column of a position delete file that names data files."""

ENTRY = (
    Slot(STATUS, "status", Kind.NUMBER, required=True),
    Slot(2, "data_file", Kind.RECORD),
    Slot(CONTENT, "content", Kind.NUMBER),
    Slot(PATH, "file_path", Kind.TEXT, required=True),
    Slot(SIZE, "file_size_in_bytes", Kind.NUMBER, required=True),
    Slot(COLUMN_SIZES, "column_sizes", Kind.NUMBERS_BY_ID),
    Slot(LOWER, "lower_bounds", Kind.BYTES_BY_ID),
    Slot(UPPER, "upper_bounds", Kind.BYTES_BY_ID),
    Slot(SPLIT_OFFSETS, "split_offsets", Kind.NUMBERS),
    Slot(REFERENCED, "referenced_data_file", Kind.TEXT),
    Slot(BLOB_OFFSET, "content_offset", Kind.NUMBER),
    Slot(BLOB_SIZE, "content_size_in_bytes", Kind.NUMBER),
)

MANIFEST_PATH, MANIFEST_LENGTH = 500, 501

LISTED = (
    Slot(MANIFEST_PATH, "manifest_path", Kind.TEXT, required=True),
    Slot(MANIFEST_LENGTH, "manifest_length", Kind.NUMBER, required=True),
)

FAULT = "this is a fault of Bergung: please report it"
