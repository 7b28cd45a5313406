"""The acts of a restore to other paths: what names paths is made anew, what names none is given as it is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import cast

import msgspec

from bergung.carry.giving import ABSENT, OUTSIDE, SUPERSEDED, give, look
from bergung.carry.job import Job, read_part
from bergung.carry.rows import Row, error_text
from bergung.carry.slices import Outcome
from bergung.errors import DamageFound, ObjectExists, Refused
from bergung.iceberg.columns import rows_of
from bergung.iceberg.relocate.deletes import check_position_deletes, relocate_position_deletes
from bergung.iceberg.relocate.manifest_lists import relocate_manifest_list
from bergung.iceberg.relocate.manifests import relocate_manifest
from bergung.iceberg.relocate.metadata import Changes, relocate_older_metadata
from bergung.iceberg.relocate.path_map import PathMap
from bergung.iceberg.relocate.puffin import check_puffin, relocate_puffin
from bergung.iceberg.relocate.rewritten import Rewritten
from bergung.model.files import FileKind
from bergung.stores.base import Store
from bergung.stores.digest import read_verified
from bergung.vault.receipts import MISSING

ANEW = "anew"
"""The state of a file that lies at its new place with other bytes than in the vault."""

Made = tuple[bytes, Rewritten | None]
Key = tuple[int, str]
"""A file of a table of the job."""

_MAGIC = {b"PAR1": "PARQUET", b"Obj\x01": "AVRO", b"ORC": "ORC"}
_NAME_FILES = frozenset({FileKind.METADATA, FileKind.POSITION_DELETES, FileKind.DELETION_VECTORS})
_NAME_MANIFESTS = frozenset({FileKind.MANIFEST, FileKind.MANIFEST_LIST})


def look_there(job: Job, rows: list[Row]) -> Outcome:
    """As `look`; what is made anew is not compared: whether its bytes are right is known when they are written."""
    first = rows[0]
    moves = job.tables[first["table"]].moves
    if moves is not None and moves.maybe(first["path"]) is None:
        return Outcome([{**first, "state": OUTSIDE}])
    if moves is None or first["kind"] not in _NAME_FILES | _NAME_MANIFESTS:
        return look(job, rows)
    # All that name it: each of these manifests must say what became of it.
    return Outcome([{**row, "state": ABSENT if row["digest"] == first["digest"] else SUPERSEDED} for row in rows])


def give_there(job: Job, rows: list[Row]) -> Outcome:
    """As `give`; delete files and older metadata files are made anew, manifests and their lists wait for what they name."""
    kind = rows[0]["kind"]
    if job.tables[rows[0]["table"]].moves is None or kind not in _NAME_FILES | _NAME_MANIFESTS:
        return give(job, rows)
    if kind in _NAME_MANIFESTS:
        return Outcome(rows)
    return _anew(job, rows, partial(_made, job, rows[0]))


@dataclass(frozen=True)
class GiveManifests:
    """The act that makes manifests anew; `facts` names the list of what became of the delete files in one."""

    facts: Mapping[Key, str]

    def __call__(self, job: Job, rows: list[Row]) -> Outcome:
        row, moves = rows[0], _moves(job, rows[0])
        part = self.facts.get((row["table"], row["path"]))
        files = () if part is None else rows_of(read_part(job, part))
        rewritten = {each["path"]: msgspec.json.decode(each["rewritten"], type=Rewritten) for each in files}

        return _anew(job, rows, lambda data: (relocate_manifest(data, row["path"], moves, rewritten).data, None))


@dataclass(frozen=True)
class GiveLists:
    """The act that makes manifest lists anew; `part` is the list of the manifests with their new lengths."""

    part: str

    def __call__(self, job: Job, rows: list[Row]) -> Outcome:
        row, moves = rows[0], _moves(job, rows[0])
        lengths = {path: size for (table, path), size in self._lengths(job).items() if table == row["table"]}

        return _anew(job, rows, lambda data: (relocate_manifest_list(data, row["path"], moves, lengths), None))

    def _lengths(self, job: Job) -> Mapping[Key, int]:
        """Read once in each process."""
        if "read" not in vars(self):
            found = {(row["table"], row["path"]): row["size_bytes"] for row in rows_of(read_part(job, self.part))}
            vars(self)["read"] = found
        return cast(Mapping[Key, int], vars(self)["read"])


def _moves(job: Job, row: Row) -> PathMap:
    moves = job.tables[row["table"]].moves
    if moves is None:
        raise Refused(f"{row['path']} does not move", "report this: it is a mistake of Bergung")
    return moves


def _anew(job: Job, rows: list[Row], make: Callable[[bytes], Made]) -> Outcome:
    """Create-only, and read again: what a repeated or an interrupted run wrote has the same bytes."""
    row = rows[0]
    vault, blob = job.vault(), job.tables[row["table"]].folder + row["blob_key"]
    try:
        original = read_verified(vault, blob, row["digest"])
    except DamageFound as error:
        return Outcome([{**row, "state": MISSING, "error": error_text(error)}])
    data, rewritten = make(original)
    store, key = job.at(row["table"], row["path"])
    try:
        store.put_if_absent(key, [data])
        moved = len(data)
    except ObjectExists:
        moved = None
    _require_same(store, key, data)
    said = None if rewritten is None else msgspec.json.encode(rewritten).decode()
    done = [{**each, "state": ANEW, "size_bytes": len(data), "rewritten": said} for each in rows if each["state"] != SUPERSEDED]
    return Outcome(done, moved, (store, key))


def _require_same(store: Store, key: str, data: bytes) -> None:
    if store.read(key) != data:
        raise Refused(f"{store.url}{key} is there with other bytes", "choose a location with nothing in it: --location")


def _made(job: Job, row: Row, data: bytes) -> Made:
    kind, path, table = row["kind"], row["path"], job.tables[row["table"]]
    moves = _moves(job, row)
    if kind == FileKind.METADATA:
        return relocate_older_metadata(data, path, moves, Changes(uuid=table.uuid)), None
    if kind == FileKind.DELETION_VECTORS:
        puffin = relocate_puffin(data, path, moves)
        check_puffin(data, puffin, path, moves)
        return puffin.data, puffin.rewritten
    file_format = next((name for magic, name in _MAGIC.items() if data.startswith(magic)), "unknown")
    deletes = relocate_position_deletes(data, file_format, path, moves)
    check_position_deletes(data, deletes, file_format, path, moves)
    return deletes.data, deletes.rewritten
