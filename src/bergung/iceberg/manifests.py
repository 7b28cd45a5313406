"""Manifests: the files that a snapshot lives on."""

from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import pyarrow as pa

from bergung.iceberg.avro import BROKEN, corrupt, open_container, records
from bergung.iceberg.columns import table
from bergung.model.files import FileKind

LIVE_FILES = pa.schema(
    [
        ("path", pa.string()),
        ("kind", pa.string()),
        ("declared_bytes", pa.int64()),
        ("row_count", pa.int64()),
        ("status", pa.int8()),
        ("added_by", pa.int64()),
        ("added_at", pa.int64()),
    ]
)
"""A row per live file, sorted by path. `status` is 0 for a file that is older than this manifest, 1 for one that came with
it; `added_by` is the snapshot that it came with, `added_at` that one's sequence number, as far as the entry says so."""

EXISTING, ADDED, DELETED = 0, 1, 2

_WANTED = {
    0: ("status",),
    1: ("snapshot_id",),
    4: ("file_sequence_number",),
    2: ("data_file",),
    134: ("content",),
    100: ("file_path",),
    101: ("file_format",),
    103: ("record_count",),
    104: ("file_size_in_bytes",),
}

File = tuple[str, str, int, int, int, int | None, int | None]


def read_live_files(data: bytes, where: str) -> pa.Table:
    """LIVE_FILES of a manifest; a Puffin file with several deletion vectors is one row, their rows summed."""
    try:
        files = sorted(_live(data, where), key=itemgetter(0))
        columns = [list(column) for column in zip(*_each_once(files), strict=True)] or [[]] * len(LIVE_FILES)
        return table(LIVE_FILES, dict(zip(LIVE_FILES.names, columns, strict=True)))
    except BROKEN as error:
        raise corrupt(where, f"an entry makes no sense ({error})") from error


def read_entries(data: bytes, where: str) -> Iterator[dict[str, Any]]:
    """Every entry whole, deleted ones too, by the names of its writer: many times slower, for naming damage."""
    return records(open_container(data, where))


def _live(data: bytes, where: str) -> Iterator[File]:
    for entry in records(open_container(data, where), _WANTED):
        status, file = entry["status"], entry["data_file"]
        if status not in (EXISTING, ADDED):
            if status == DELETED:
                continue
            raise ValueError(f"status {status}")
        size, rows = file["file_size_in_bytes"], file["record_count"]
        if size < 0 or rows < 0:
            raise ValueError("a negative size")
        added = entry.get("snapshot_id"), entry.get("file_sequence_number")
        yield file["file_path"], _kind(file), size, rows, status, *added


def _kind(file: dict[str, Any]) -> FileKind:
    content = file.get("content", 0)
    if content == 0:
        return FileKind.DATA
    if content == 1:
        is_puffin = file["file_format"].upper() == "PUFFIN"
        return FileKind.DELETION_VECTORS if is_puffin else FileKind.POSITION_DELETES
    if content == 2:
        return FileKind.EQUALITY_DELETES
    raise ValueError(f"content {content}")


def _each_once(files: list[File]) -> list[File]:
    once: list[File] = []
    for file in files:
        if once and once[-1][0] == file[0]:
            once[-1] = _joined(once[-1], file)
        else:
            once.append(file)
    return once


def _joined(one: File, other: File) -> File:
    """Two entries of one file: deletion vectors add up; the file is old when one entry says so."""
    path, kind, size, rows, status, *_ = one
    if kind == FileKind.DELETION_VECTORS:
        rows += other[3]
    newest = max(one, other, key=lambda file: file[6] or 0)
    return path, kind, size, rows, min(status, other[4]), newest[5], newest[6]
