"""The whole graph of a local table, by the functions of bergung.iceberg alone."""

from collections.abc import Iterator
from pathlib import Path

from bergung.iceberg.manifest_list import read_manifest_list
from bergung.iceberg.manifests import read_live_files
from bergung.iceberg.metadata import TableMetadata, read_metadata
from bergung.iceberg.paths import normal
from bergung.iceberg.survey import reached_by
from bergung.model.files import FileKind, ReachedFile


def local(path: str) -> Path:
    """Where a path of a local table lies, in whatever form it is written."""
    return Path(normal(path).removeprefix("file://"))


def metadata_of(path: str) -> TableMetadata:
    return read_metadata(local(path).read_bytes(), path)


def walk(metadata_path: str) -> dict[str, ReachedFile]:
    """Every file that a metadata file reaches, by its path as written; without itself."""
    return {file.path: file for child in reached_by(metadata_of(metadata_path)) for file in _from(child)}


def _from(file: ReachedFile) -> Iterator[ReachedFile]:
    yield file
    if file.kind == FileKind.MANIFEST_LIST:
        for manifest in read_manifest_list(local(file.path).read_bytes(), file.path):
            yield from _from(ReachedFile(manifest.path, FileKind.MANIFEST, manifest.length))
    elif file.kind == FileKind.MANIFEST:
        for row in read_live_files(local(file.path).read_bytes(), file.path).to_pylist():
            yield ReachedFile(row["path"], FileKind(row["kind"]), row["declared_bytes"], row["row_count"])


def with_other_sizes(files: dict[str, ReachedFile]) -> list[str]:
    """Files that are not there, or not as long as what names them says."""
    found = []
    for file in files.values():
        size = local(file.path).stat().st_size if local(file.path).is_file() else None
        if size is None or file.declared_bytes not in (None, size):
            found.append(file.path)
    return found
