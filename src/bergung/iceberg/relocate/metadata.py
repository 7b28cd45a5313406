"""A metadata file under other paths: each path moved, every other word kept."""

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bergung.errors import UnmappedPath
from bergung.iceberg.metadata import WRITE_PATHS, read_metadata
from bergung.iceberg.raw import is_packed, read_json
from bergung.iceberg.relocate.path_map import PathMap

Json = dict[str, Any]


@dataclass(frozen=True)
class Changes:
    """What else becomes different, beside the paths."""

    uuid: str | None = None
    """The new one; None keeps it."""
    absent: frozenset[str] = frozenset()
    """Older metadata files and statistics that do not come along: nothing may name them."""
    tags: Mapping[str, Json] = field(default_factory=dict)
    """New refs by name; one that is there is left alone."""


@dataclass(frozen=True)
class MovedMetadata:
    """The new bytes, and what the user should know of them."""

    data: bytes
    properties: Mapping[str, str]
    """Those that still hold a path below a folder that moved: nobody but their writer knows what they mean."""


def relocate_metadata(data: bytes, where: str, moves: PathMap, changes: Changes = Changes()) -> MovedMetadata:
    """The table's newest metadata file. UnmappedPath when something that it needs has no place to go."""
    return _moved(data, where, moves.of, changes)


def relocate_older_metadata(data: bytes, where: str, moves: PathMap, changes: Changes = Changes()) -> bytes:
    """One of the metadata log: what it names may be gone for long, so a path that has no place is kept."""
    return _moved(data, where, lambda path: moves.maybe(path) or path, changes).data


def _moved(data: bytes, where: str, move: Callable[[str], str], changes: Changes) -> MovedMetadata:
    values = read_json(data, where).values
    _drop(values, changes.absent)
    for holder, key in _places(values):
        holder[key] = move(holder[key])
    properties = values.get("properties") or {}
    for name in WRITE_PATHS:
        if name in properties:
            properties[name] = move(properties[name])
    _rename(values, changes)
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
    # No time in its head: the same table always becomes the same bytes.
    packed = gzip.compress(text, mtime=0) if is_packed(data) else text
    read_metadata(packed, where)
    return MovedMetadata(packed, {name: value for name, value in properties.items() if _still_names(name, value, move)})


def _places(values: Json) -> Iterator[tuple[Any, Any]]:
    """Where paths stand, each as the object that holds it and its key."""
    yield values, "location"
    for snapshot in values.get("snapshots") or ():
        if snapshot.get("manifest-list") is not None:
            yield snapshot, "manifest-list"
        manifests = snapshot.get("manifests") or []
        yield from ((manifests, place) for place in range(len(manifests)))
    for key, name in _LISTS.items():
        yield from ((each, name) for each in values.get(key) or ())


_LISTS = {"metadata-log": "metadata-file", "statistics": "statistics-path", "partition-statistics": "statistics-path"}


def _drop(values: Json, absent: frozenset[str]) -> None:
    for key, name in _LISTS.items():
        if key in values:
            values[key] = [each for each in values[key] or () if each[name] not in absent]


def _rename(values: Json, changes: Changes) -> None:
    if changes.uuid is not None:
        values["table-uuid"] = changes.uuid
    if changes.tags:
        values["refs"] = {**changes.tags, **(values.get("refs") or _main(values))}


def _main(values: Json) -> Json:
    """What readers take for the refs of a file that has none."""
    current = values.get("current-snapshot-id")
    return {} if current in (None, -1) else {"main": {"snapshot-id": current, "type": "branch"}}


def _still_names(name: str, value: str, move: Callable[[str], str]) -> bool:
    if name in WRITE_PATHS or not isinstance(value, str):
        return False
    try:
        return move(value) != value
    except UnmappedPath:
        return False
