"""Manifests and manifest lists that PyIceberg wrote, moved, and read by PyIceberg again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.manifest import read_manifest_list
from pyiceberg.table import Table

from bergung.iceberg.relocate.manifest_lists import relocate_manifest_list
from bergung.iceberg.relocate.manifests import relocate_manifest
from bergung.iceberg.relocate.path_map import PathMap
from bergung.model.files import FileKind
from tests.unit.iceberg.test_tables_of_pyiceberg import SPECS, grown
from tests.walking import local, walk


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[SqlCatalog]:
    opened = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}/wh")
    opened.create_namespace("db")
    yield opened
    opened.close()


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", SPECS)
def test_moved_they_say_the_same_of_moved_files(catalog: SqlCatalog, name: str, version: int, tmp_path: Path) -> None:
    table = grown(catalog, name, version)
    moves = PathMap(((table.location(), f"file://{tmp_path}/moved/a longer way/t"),))
    move_all(table, moves)
    lists = [snapshot.manifest_list for snapshot in table.metadata.snapshots]
    before, after = ([said_by(table, path) for path in paths] for paths in (lists, map(moves.of, lists)))
    assert any("/moved/" in str(path) for path in after)
    assert after == [moved(each, moves, table.location()) for each in before]


def move_all(table: Table, moves: PathMap) -> None:
    """Manifests first, then their lists."""
    found = walk(table.metadata_location)
    lengths: dict[str, int] = {}
    for path in of_kind(found, FileKind.MANIFEST):
        lengths[path] = write(moves.of(path), relocate_manifest(local(path).read_bytes(), path, moves, {}).data)
    for path in of_kind(found, FileKind.MANIFEST_LIST):
        write(moves.of(path), relocate_manifest_list(local(path).read_bytes(), path, moves, lengths))


def of_kind(found: dict[str, Any], kind: FileKind) -> list[str]:
    return [path for path, file in found.items() if file.kind == kind]


def write(path: str, data: bytes) -> int:
    local(path).parent.mkdir(parents=True, exist_ok=True)
    local(path).write_bytes(data)
    return len(data)


def said_by(table: Table, manifest_list: str) -> list[Any]:
    """Every field of every manifest and of every entry, but for the length of manifests, which must be right."""
    said = []
    for manifest in read_manifest_list(table.io.new_input(manifest_list)):
        assert manifest.manifest_length == local(manifest.manifest_path).stat().st_size
        entries = [values(entry) for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=False)]
        said.append((manifest.manifest_path, values(manifest)[2:], entries))
    return said


def values(record: Any) -> Any:
    if isinstance(record, list | tuple):
        return [values(each) for each in record]
    return values(record._data) if hasattr(record, "_data") else record


def moved(said: Any, moves: PathMap, location: str) -> Any:
    if isinstance(said, list | tuple):
        return type(said)(moved(each, moves, location) for each in said)
    return moves.of(said) if isinstance(said, str) and said.startswith(location) else said
