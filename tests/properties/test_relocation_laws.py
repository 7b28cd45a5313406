"""Laws of tables that move: whatever their history was, what they name moves with them, back as it came, and nothing else."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from bergung.iceberg.manifest_list import read_manifest_list
from bergung.iceberg.manifests import read_live_files
from bergung.iceberg.metadata import read_metadata
from bergung.iceberg.relocate.deletes import relocate_position_deletes
from bergung.iceberg.relocate.manifest_lists import relocate_manifest_list
from bergung.iceberg.relocate.manifests import relocate_manifest
from bergung.iceberg.relocate.metadata import relocate_metadata
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.puffin import relocate_puffin
from bergung.iceberg.relocate.rewritten import Rewritten
from bergung.iceberg.survey import reached_by
from bergung.model.files import FileKind
from bergung.restore.request import RestoreRequest
from bergung.restore.run import run_restore
from bergung.stores.base import Store
from bergung.stores.memory import MemoryStore
from tests.avro_files import head, rows
from tests.faults.lake import Lake
from tests.synthetic import Shape, SyntheticTable
from tests.unit.iceberg.relocate import puffins
from tests.unit.iceberg.relocate.delete_files import PATH_ID, POS_ID, of_id

Json = dict[str, Any]
DELETES = pa.schema([of_id(PATH_ID, "file_path", pa.string(), False), of_id(POS_ID, "pos", pa.int64(), False)])
SIZES = ("file_size_in_bytes", "column_sizes", "split_offsets", "content_offset", "content_size_in_bytes")
"""What an entry says of the bytes of a delete file, which may be others after a move."""

steps = st.sampled_from(["append", "delete", "merge", "expire", "statistics", "take rows"])
shapes = st.builds(
    Shape,
    format_version=st.sampled_from([1, 2, 3]),
    gzip=st.booleans(),
    codec=st.sampled_from(["null", "deflate"]),
    columns_with_statistics=st.sampled_from([0, 2]),
)
folders = st.text(st.sampled_from("ab ,%2Fü+='/"), min_size=1, max_size=8).map(
    lambda text: "/".join(filter(None, text.split("/"))).strip() or "t"
)
histories = st.lists(st.lists(steps, min_size=1, max_size=3), min_size=1, max_size=4)
few = settings(max_examples=8, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
"""Shrinking would take minutes: each example is a lake, and a restore or two."""


@dataclass(frozen=True)
class World:
    """A table in a lake in memory, and another store to move it to."""

    lake: Lake
    table: SyntheticTable
    pointer: str
    there: MemoryStore

    def file(self, path: str) -> bytes:
        store: Store = self.there if path.startswith(self.there.url) else self.lake.source
        return store.read(path.removeprefix(f"{store.url}/"))

    def moved(self, word: str, location: str) -> str:
        """Backed up and restored; the new metadata file."""
        result = self.lake.backup([word])
        assert result.failed == {}
        request = RestoreRequest("latest", (word,), location=location)
        restored = run_restore(self.lake.effects(), self.lake.vault(), request, self.lake.open_catalog).restored
        assert restored is not None and (restored.failed, restored.damaged) == ({}, ())
        return restored.moved[0].metadata_location

    def references(self, pointer: str) -> set[str]:
        """The data files that live delete files say they are for."""
        manifests = [path for path, kind in self.survey(pointer).items() if kind == FileKind.MANIFEST]
        files = [row["data_file"] for path in manifests for row in rows(self.file(path)) if row["status"] != 2]
        return {each["referenced_data_file"] for each in files if each.get("referenced_data_file")}

    def survey(self, pointer: str) -> dict[str, FileKind]:
        """All that the table lives on, by path."""
        metadata = read_metadata(self.file(pointer), pointer)
        found = {each.path: each.kind for each in reached_by(metadata)}
        for path in [path for path, kind in found.items() if kind == FileKind.MANIFEST_LIST]:
            for manifest in read_manifest_list(self.file(path), path):
                found[manifest.path] = FileKind.MANIFEST
                live = read_live_files(self.file(manifest.path), manifest.path)
                found |= {each["path"]: FileKind(each["kind"]) for each in live.to_pylist()}
        return found


def world(folder: Path, shape: Shape, below: str, history: list[list[str]]) -> World:
    lake = Lake(folder)
    table = lake.table("orders", replace(shape, location=f"{lake.source.url}/{below}/orders"))
    for commit in [["append"], *history]:
        for step in commit:
            do(table, step)
        pointer = lake.publish(table)
    return World(lake, table, pointer, MemoryStore(f"{lake.name}-there"))


def do(table: SyntheticTable, step: str) -> None:
    """One step; some do nothing where a table has not what they need."""
    match step:
        case "append":
            table.append(2, manifests=2)
        case "delete":
            table.delete(table.live_paths()[:1])
        case "merge":
            if table.shape.format_version < 3:
                table.merge(2)
        case "expire":
            table.expire(keep=1)
        case "statistics":
            if table.snapshots:
                table.add_statistics()
        case "take rows":
            paths = table.live_paths()
            if paths and table.shape.format_version == 2:
                take_rows(table, paths)
            elif paths and table.shape.format_version == 3:
                take_by_vectors(table, paths)


def take_rows(table: SyntheticTable, paths: list[str]) -> None:
    """A position delete for all files, and one that names its only file."""
    for named in (paths, paths[:1]):
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table({"file_path": named, "pos": [1] * len(named)}, schema=DELETES), sink)
        path, size = table.files.write("data/deletes.parquet", sink.getvalue().to_pybytes())
        lower, upper = ([{"key": PATH_ID, "value": named[end].encode()}] for end in (0, -1))
        said = {"file_path": path, "file_size_in_bytes": size, "lower_bounds": lower, "upper_bounds": upper}
        table.add_files([{**said, "referenced_data_file": named[0] if len(named) == 1 else None}], "position_deletes")


def take_by_vectors(table: SyntheticTable, paths: list[str]) -> None:
    """All in one file."""
    blobs = [puffins.deletes(each, [1]) for each in paths]
    path, size = table.files.write("data/deletes.puffin", puffins.puffin(*blobs))
    offset, entries = len(puffins.MAGIC), []
    for each, (_, blob) in zip(paths, blobs, strict=True):
        place = {"content_offset": offset, "content_size_in_bytes": len(blob), "referenced_data_file": each}
        entries.append({"file_path": path, "file_size_in_bytes": size, "file_format": "PUFFIN", **place})
        offset += len(blob)
    table.add_files(entries, "deletion_vectors")


@few
@given(shapes, folders, histories)
def test_what_moved_is_surveyed_as_the_survey_moved(shape: Shape, below: str, history: list[list[str]]) -> None:
    with TemporaryDirectory() as folder:
        old = world(Path(folder), shape, below, history)
        location = f"{old.there.url}/{below[::-1].strip('/ ') or 'x'}/moved"
        moves = PathMap(((old.table.location, location),))
        assert {path: str(kind) for path, kind in old.survey(old.pointer).items()} == old.table.reached
        pointer = old.moved("lake.sales.orders", location)
        assert old.survey(pointer) == {moves.of(path): kind for path, kind in old.survey(old.pointer).items()}
        assert old.references(pointer) == set(map(moves.of, old.references(old.pointer)))


@few
@given(shapes, folders, histories)
def test_there_and_back_every_path_is_as_it_was(shape: Shape, below: str, history: list[list[str]]) -> None:
    with TemporaryDirectory() as folder:
        old = world(Path(folder), shape, below, history)
        before = {path: (kind, old.file(path)) for path, kind in old.survey(old.pointer).items()}
        first = parsed(old.file(old.pointer))
        there = old.moved("lake.sales.orders", f"{old.there.url}/there")
        old.lake.empty_source()
        old.lake.point("copy", there)
        back = old.moved("lake.sales.copy", old.table.location)
        assert stripped(parsed(old.file(back))) == stripped(first)
        assert old.survey(back).keys() == before.keys()
        for path, (kind, data) in before.items():
            assert as_told(kind, old.file(path)) == as_told(kind, data), path


def parsed(data: bytes) -> Json:
    """A metadata file, as it is or packed."""
    found: Json = json.loads(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
    return found


def stripped(metadata: Json) -> Json:
    """Without the uuid of a copy and the tags that protect what came back."""
    return {key: value for key, value in metadata.items() if key not in ("table-uuid", "refs")}


def as_told(kind: FileKind, data: bytes) -> Any:
    """A file's content, without what depends on how delete files were written."""
    match kind:
        case FileKind.MANIFEST:
            return head(data), [without_sizes(row) for row in rows(data)]
        case FileKind.MANIFEST_LIST:
            return head(data), [{**row, "manifest_length": 0} for row in rows(data)]
        case FileKind.POSITION_DELETES:
            return pq.read_table(pa.BufferReader(data)).to_pydict()
        case FileKind.METADATA:
            return stripped(parsed(data))
    return data


def without_sizes(entry: Json) -> Json:
    file = entry["data_file"]
    return {**entry, "data_file": {key: value for key, value in file.items() if key not in SIZES or file.get("content", 0) != 1}}


@few
@given(shapes, folders, histories)
def test_the_map_of_a_table_to_itself_changes_nothing(shape: Shape, below: str, history: list[list[str]]) -> None:
    with TemporaryDirectory() as folder:
        old = world(Path(folder), shape, below, history)
        moves = PathMap(((old.table.location, old.table.location),))
        made = relocate_metadata(old.file(old.pointer), old.pointer, moves)
        assert read_metadata(made.data, "new") == read_metadata(old.file(old.pointer), "new") and made.properties == {}
        found = old.survey(old.pointer)
        rewritten = dict(deletes_made_anew(old, found, moves))
        for path, kind in found.items():
            data = old.file(path)
            if kind == FileKind.MANIFEST:
                assert told(relocate_manifest(data, path, moves, rewritten).data) == told(data)
            elif kind == FileKind.MANIFEST_LIST:
                lengths = {each.path: len(old.file(each.path)) for each in read_manifest_list(data, path)}
                assert told(relocate_manifest_list(data, path, moves, lengths)) == told(data)


def told(data: bytes) -> Any:
    """What an Avro file says, however it is packed."""
    return head(data), rows(data)


def deletes_made_anew(of: World, found: dict[str, FileKind], moves: PathMap) -> Iterator[tuple[str, Rewritten]]:
    """Each of the same bytes."""
    for path, kind in found.items():
        data = of.file(path)
        if kind == FileKind.POSITION_DELETES:
            deletes = relocate_position_deletes(data, "PARQUET", path, moves)
            assert bytes(deletes.data) == data
            yield path, deletes.rewritten
        elif kind == FileKind.DELETION_VECTORS:
            puffin = relocate_puffin(data, path, moves)
            assert puffin.data == data
            yield path, puffin.rewritten
