"""A local table moved by our own parts, from the bottom up and file by file: what Iceberg then reads says whether they fit."""

import json
import shutil
from pathlib import Path

from bergung.iceberg.manifest_list import read_manifest_list
from bergung.iceberg.manifests import DELETED, read_entries
from bergung.iceberg.relocate.deletes import check_position_deletes, relocate_position_deletes
from bergung.iceberg.relocate.manifest_lists import relocate_manifest_list
from bergung.iceberg.relocate.manifests import relocate_manifest
from bergung.iceberg.relocate.metadata import relocate_metadata
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.puffin import check_puffin, relocate_puffin
from bergung.iceberg.relocate.rewritten import Rewritten
from readers import plain_path


def move_table(location: str, moves: PathMap) -> str:
    """Where the metadata file is now; its log is cut off. What was there is left in place."""
    return _Move(moves).table(location)


class _Move:
    def __init__(self, moves: PathMap) -> None:
        self._moves = moves
        self._made: dict[str, Rewritten] = {}
        self._lengths: dict[str, int] = {}

    def table(self, location: str) -> str:
        data = _read(location)
        values = json.loads(data)
        for snapshot in values["snapshots"]:
            self._list(snapshot["manifest-list"])
        without_log = json.dumps({**values, "metadata-log": []}).encode()
        self._write(location, relocate_metadata(without_log, location, self._moves).data)
        return self._moves.of(location)

    def _list(self, path: str) -> None:
        data = _read(path)
        for manifest in read_manifest_list(data, path):
            if manifest.path not in self._lengths:
                self._lengths[manifest.path] = self._manifest(manifest.path)
        self._write(path, relocate_manifest_list(data, path, self._moves, self._lengths))

    def _manifest(self, path: str) -> int:
        data = _read(path)
        for entry in read_entries(data, path):
            file = entry["data_file"]
            if entry["status"] != DELETED and file["file_path"] not in self._made:
                self._file(file["file_path"], file["file_format"], file.get("content", 0))
        new = relocate_manifest(data, path, self._moves, self._made).data
        self._write(path, new)
        return len(new)

    def _file(self, path: str, file_format: str, content: int) -> None:
        if content != 1:
            target = self._place(path)
            shutil.copyfile(plain_path(path), target)
            return
        data = _read(path)
        if file_format == "PUFFIN":
            vectors = relocate_puffin(data, path, self._moves)
            check_puffin(data, vectors, path, self._moves)
            self._made[path] = vectors.rewritten
            self._write(path, vectors.data)
        else:
            deletes = relocate_position_deletes(data, file_format, path, self._moves)
            check_position_deletes(data, deletes, file_format, path, self._moves)
            self._made[path] = deletes.rewritten
            self._write(path, deletes.data)

    def _write(self, path: str, data: bytes) -> None:
        self._place(path).write_bytes(data)

    def _place(self, path: str) -> Path:
        target = Path(plain_path(self._moves.of(path)))
        target.parent.mkdir(parents=True, exist_ok=True)
        return target


def _read(path: str) -> bytes:
    return Path(plain_path(path)).read_bytes()
