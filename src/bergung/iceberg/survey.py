"""What a metadata file names directly, and which of the named files may be read."""

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from bergung.errors import Refused
from bergung.iceberg.columns import table, values
from bergung.iceberg.metadata import Snapshot, TableMetadata
from bergung.iceberg.paths import DOT_SEGMENT, as_folder, is_allowed, is_local, spellings
from bergung.model.files import FileKind, ReachedFile

_SHOWN = 3
_UNSAFE = rf"{DOT_SEGMENT}|\x00"


def reached_by(metadata: TableMetadata) -> list[ReachedFile]:
    """Manifest lists, manifests named without a list, statistics, older metadata files: each path once."""
    once: dict[str, ReachedFile] = {}
    for file in _all_named_by(metadata):
        once.setdefault(file.path, file)
    return list(once.values())


def allowed_prefixes(metadata: TableMetadata, own_path: str, extra: Iterable[str] = ()) -> tuple[str, ...]:
    """Where this table's files may be read: what it says itself, and what the user allows.

    No local folder for a table whose location or metadata file is in an object store: metadata can name any path.
    """
    local_too = is_local(metadata.location) and is_local(own_path)
    wanted = (*metadata.write_prefixes, *extra)
    return tuple(dict.fromkeys(each for each in wanted if as_folder(each) and (local_too or not is_local(each))))


def check_allowed(files: Iterable[ReachedFile], prefixes: Sequence[str], name: str) -> None:
    """Refused when a file lies outside the prefixes."""
    refuse([file.path for file in files if not is_allowed(file.path, prefixes)], prefixes, name)


def outside(paths: pa.Array, prefixes: Sequence[str]) -> pa.Array:
    """`is_allowed` for many paths at once: those that may not be read."""
    doubtful = paths
    for spelling in (spelling for prefix in prefixes for spelling in spellings(prefix)):
        # What starts as a prefix is spelled and is safe needs no second look; mostly that is every path.
        plainly = pc.and_not(pc.starts_with(doubtful, spelling), pc.match_substring_regex(doubtful, _UNSAFE))
        doubtful = doubtful.filter(pc.invert(plainly))
    refused = [path for path in values(doubtful) if not is_allowed(path, prefixes)]
    return table(pa.schema([("path", pa.string())]), {"path": refused}).column(0).combine_chunks()


def refuse(paths: Sequence[str], prefixes: Sequence[str], name: str) -> None:
    """Refused when there are any; the message shows the first few, the hint says how to allow them."""
    if paths:
        shown = ", ".join(paths[:_SHOWN]) + (f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else "")
        count = "a file" if len(paths) == 1 else f"{len(paths)} files"
        raise Refused(f"{name} names {count} outside its own folders: {shown}", _hint(paths[0], prefixes))


def _hint(path: str, prefixes: Sequence[str]) -> str:
    folder = path.rpartition("/")[0]
    if is_local(path) and not all(is_local(prefix) for prefix in prefixes):
        return "a table in an object store never makes Bergung read local files; look at who wrote its metadata"
    if as_folder(folder) is None:
        return "such a path is never read; look at who wrote the table's metadata"
    return f"when this table may read there, add --allow-prefix {folder}"


def _all_named_by(metadata: TableMetadata) -> Iterator[ReachedFile]:
    for snapshot in metadata.snapshots:
        yield from _named_by(snapshot)
    yield from metadata.statistics
    yield from metadata.partition_statistics
    for entry in metadata.metadata_log:
        yield ReachedFile(entry.path, FileKind.METADATA)


def _named_by(snapshot: Snapshot) -> Iterator[ReachedFile]:
    if snapshot.manifest_list is not None:
        yield ReachedFile(snapshot.manifest_list, FileKind.MANIFEST_LIST)
    for path in snapshot.manifests:
        yield ReachedFile(path, FileKind.MANIFEST)
