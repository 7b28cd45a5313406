"""What a moved entry must decode to: the same change as in entries.py, told once more, over what fastavro reads."""

from collections.abc import Mapping
from typing import Any

from bergung.iceberg.manifests import DELETED
from bergung.iceberg.relocate.fields import PATH_OF_DELETE
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.rewritten import Rewritten

Row = dict[str, Any]

_PATHS = ("file_path", "referenced_data_file")


def expected_entry(row: Row, moves: PathMap, rewritten: Mapping[str, Rewritten]) -> Row:
    """An entry of a manifest, moved."""
    file: Row = row["data_file"]
    new = {name: moves.maybe(file[name]) or file[name] for name in _PATHS if file.get(name) is not None}
    if row["status"] != DELETED and file.get("content") == 1:
        new |= _made_anew(file, rewritten[file["file_path"]])
    return {**row, "data_file": {**file, **{name: value for name, value in new.items() if name in file}}}


def expected_listed(row: Row, moves: PathMap, lengths: Mapping[str, int]) -> Row:
    """A row of a manifest list, moved."""
    path = row["manifest_path"]
    return {**row, "manifest_path": moves.maybe(path) or path, "manifest_length": lengths[path]}


def _made_anew(file: Row, made: Rewritten) -> Row:
    new: Row = {"file_size_in_bytes": made.size_bytes}
    if made.column_sizes is not None:
        new["column_sizes"] = [{"0": id_, "1": size} for id_, size in made.column_sizes.items()]
    if made.split_offsets is not None:
        new["split_offsets"] = list(made.split_offsets)
    if made.bounds is not None:
        for name, bound in zip(("lower_bounds", "upper_bounds"), made.bounds, strict=True):
            new[name] = file.get(name) and [_with_bound(pair, bound) for pair in file[name]]
    if file.get("content_offset") is not None:
        new["content_offset"], new["content_size_in_bytes"] = made.blobs[file["content_offset"]]
    return new


def _with_bound(pair: Row, bound: bytes) -> Row:
    return {**pair, "1": bound} if pair["0"] == PATH_OF_DELETE else pair
