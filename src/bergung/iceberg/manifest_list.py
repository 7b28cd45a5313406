"""Manifest lists: which manifests make up a snapshot."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bergung.iceberg.avro import BROKEN, corrupt, open_container, records


class ManifestContent(StrEnum):
    """What the files of a manifest are for."""

    DATA = "data"
    DELETES = "deletes"


@dataclass(frozen=True)
class ManifestFile:
    """A manifest as its list tells of it; counts are None where an old writer left them out."""

    path: str
    length: int
    content: ManifestContent
    sequence_number: int
    """0 in lists of format version 1."""
    added_snapshot_id: int | None
    partition_spec_id: int
    added_count: int | None
    existing_count: int | None
    deleted_count: int | None
    added_row_count: int | None
    existing_row_count: int | None
    has_key: bool
    """True when the manifest itself is encrypted."""


_WANTED = {
    500: ("path", "manifest_path"),
    501: ("length", "manifest_length"),
    502: ("partition_spec_id",),
    517: ("content",),
    515: ("sequence_number",),
    503: ("added_snapshot_id",),
    504: ("added_count", "added_files_count", "added_data_files_count"),
    505: ("existing_count", "existing_files_count", "existing_data_files_count"),
    506: ("deleted_count", "deleted_files_count", "deleted_data_files_count"),
    512: ("added_row_count", "added_rows_count"),
    513: ("existing_row_count", "existing_rows_count"),
    519: ("key_metadata",),
}
"""By field id: format version 1, later versions and other languages' writers use several names for one field."""

_CONTENT = {0: ManifestContent.DATA, 1: ManifestContent.DELETES}
_COUNTS = ("added_count", "existing_count", "deleted_count", "added_row_count", "existing_row_count")


def read_manifest_list(data: bytes, where: str) -> list[ManifestFile]:
    """The manifests of a snapshot, in their order, each path once."""
    try:
        found = {manifest.path: manifest for manifest in _manifests(data, where)}
    except BROKEN as error:
        raise corrupt(where, f"an entry makes no sense ({error})") from error
    return list(found.values())


def _manifests(data: bytes, where: str) -> Iterator[ManifestFile]:
    for row in records(open_container(data, where), _WANTED):
        yield _manifest(row)


def _manifest(row: dict[str, Any]) -> ManifestFile:
    path, length, spec = row["path"], row["length"], row["partition_spec_id"]
    if not isinstance(path, str) or not isinstance(length, int) or not isinstance(spec, int):
        raise TypeError("path, length or spec id of another type")
    return ManifestFile(
        path=path,
        length=length,
        content=_CONTENT[row.get("content") or 0],
        sequence_number=row.get("sequence_number") or 0,
        partition_spec_id=spec,
        added_snapshot_id=row.get("added_snapshot_id"),
        has_key=row.get("key_metadata") is not None,
        **{name: row.get(name) for name in _COUNTS},
    )
