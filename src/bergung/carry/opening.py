"""Manifest lists and manifests: held in the vault, opened, their children named."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from threading import Lock

import pyarrow as pa

from bergung.carry.engine import Batches
from bergung.carry.job import Durable, Job, Replaced, TableJob, write_named_part
from bergung.carry.remembering import OUTCOME, remembered
from bergung.carry.rows import LISTED, Row, batched, error_text, several
from bergung.errors import BergungError, CorruptFile, DamageFound, MissingObject
from bergung.iceberg.columns import rows_of, table_of, values, where
from bergung.iceberg.manifest_list import read_manifest_list
from bergung.iceberg.manifests import read_live_files
from bergung.iceberg.survey import check_allowed, outside, refuse
from bergung.model.files import FileKind, ReachedFile
from bergung.stores.together import together
from bergung.vault.blobs import keep
from bergung.vault.layout import receipts_key
from bergung.vault.receipts import DAMAGED, HELD, LEFT, MISSING, RECEIPT, pick, read_receipts, write_receipts


@dataclass(frozen=True)
class Opened:
    """A metadata file that is held: its own row, and its bytes, None when it could not be had."""

    row: Row
    data: bytes | None


def open_lists(job: Job, batches: Batches) -> Batches:
    """Each manifest list: its own row first, then a row per manifest that it names."""
    durable = Durable()
    return durable.after(batched(LISTED, several(job.files_at_once, partial(_open_list, job, durable), batches)))


def _open_list(job: Job, durable: Durable, wanted: Row) -> Iterator[Row]:
    table = job.tables[wanted["table"]]
    try:
        opened = hold(job, durable, wanted)
        manifests = [] if opened.data is None else read_manifest_list(opened.data, wanted["path"])
        check_allowed([ReachedFile(m.path, FileKind.MANIFEST) for m in manifests], table.prefixes, table.name)
    except CorruptFile as error:
        yield {**opened.row, "state": DAMAGED, "error": error_text(error)}
        return
    except BergungError as error:
        yield {**wanted, "error": error_text(error)}
        return
    if opened.data is not None:
        job.at_hand.put(opened.row["digest"], opened.data)
    yield opened.row
    for manifest in manifests:
        yield {
            "table": wanted["table"],
            "parent": wanted["path"],
            "path": manifest.path,
            "kind": FileKind.MANIFEST,
            "declared_bytes": manifest.length,
            "rank": manifest.added_snapshot_id,
        }


def hold(job: Job, durable: Durable, wanted: Row) -> Opened:
    """Read a metadata file once, keep its bytes in the vault."""
    table = job.tables[wanted["table"]]
    store, key = job.at(wanted["table"], wanted["path"])
    try:
        found = store.open(key)
        data = b"".join(found.blocks)
    except MissingObject:
        return Opened({**wanted, "state": MISSING}, None)
    vault = job.vault()
    kept = keep(vault, table.folder, (table.location, wanted["path"]), lambda: iter([data]))
    durable.add(vault, table.folder + kept.blob_key)
    row = {
        **wanted,
        "state": HELD if wanted["declared_bytes"] in (None, len(data)) else DAMAGED,
        "digest": kept.digest,
        "size_bytes": len(data),
        "blob_key": kept.blob_key,
        "source_version": found.stat.version,
    }
    return Opened(row, data)


def manifest_part(table: int, path: str) -> str:
    """Where a run keeps a new manifest's own row and what it knows of its files, until their receipts are written."""
    return f"manifests/{sha256(f'{table}:{path}'.encode()).hexdigest()[:32]}.parquet"


def open_manifests(job: Job, batches: Batches) -> Batches:
    """Each manifest: its own row; and a row per file that is still to be carried. Outcomes of earlier runs are unfolded.

    Rows of other kinds pass through.
    """
    memory = _Memory(job)
    return memory.durable.after(batched(LISTED, several(job.files_at_once, partial(_open_manifest, memory), batches)))


def _open_manifest(memory: "_Memory", wanted: Row) -> Iterator[Row]:
    job = memory.job
    if wanted["kind"] == OUTCOME:
        yield from remembered(job, wanted)
        return
    if wanted["kind"] != FileKind.MANIFEST:
        yield wanted
        return
    table = job.tables[wanted["table"]]
    try:
        opened = hold(job, memory.durable, wanted)
        if opened.data is None:
            yield opened.row
            return
        files = read_live_files(opened.data, wanted["path"])
        refuse(values(outside(files.column("path").combine_chunks(), table.prefixes)), table.prefixes, table.name)
    except CorruptFile as error:
        yield {**opened.row, "state": DAMAGED, "error": error_text(error)}
        return
    except BergungError as error:
        yield {**wanted, "error": error_text(error)}
        return
    yield from _listed(memory, opened.row, files)


def _listed(memory: "_Memory", own: Row, files: pa.Table) -> Iterator[Row]:
    job = memory.job
    rows = memory.settled(own["table"], files)
    open_rows = [row for row in rows if row.get("digest") is None]
    if open_rows and job.with_data:
        write_named_part(job, manifest_part(own["table"], own["path"]), table_of(RECEIPT, [own, *rows]))
        yield own
        for row in open_rows:
            yield {**row, "table": own["table"], "parent": own["path"]}
        return
    for row in open_rows:
        row["state"] = LEFT
    yield {**own, "receipts": bind(job, memory.durable, own, table_of(RECEIPT, rows))}


def bind(job: Job, durable: Durable, own: Row, rows: pa.Table) -> str:
    """Write the receipts of a metadata file that is held."""
    folder, vault = job.tables[own["table"]].folder, job.vault()
    digest = write_receipts(vault, folder, own["digest"], rows)
    durable.add(vault, folder + receipts_key(own["digest"], digest))
    return digest


class _Memory:
    """What the predecessor's receipts say of files that live on in new manifests; read once, when first asked."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.durable = Durable()
        self._known: dict[int, pa.Table] = {}
        self._guard = Lock()

    def settled(self, table: int, files: pa.Table) -> list[Row]:
        """The rows of a manifest; a file that lives on under EXISTING is taken over from the receipts it was in."""
        existing = where(files, "status", 0)
        known: dict[str, Row] = {}
        if existing.num_rows:
            found = pick(self._of(table), existing.column("path").combine_chunks())
            known = _agreed(rows_of(found))
        return [_settled(row, known, self.job.tables[table]) for row in rows_of(files)]

    def _of(self, table: int) -> pa.Table:
        with self._guard:
            if table not in self._known:
                found = together(self.job.files_at_once, partial(self._load, table), self.job.tables[table].replaced)
                self._known[table] = pa.concat_tables([RECEIPT.empty_table(), *found])
            return self._known[table]

    def _load(self, table: int, replaced: Replaced) -> pa.Table:
        folder = self.job.tables[table].folder
        try:
            found = read_receipts(self.job.vault(), folder, replaced.digest, replaced.receipts)
        except DamageFound:
            # The source still has the files: they are carried again, and verify names the lost receipts.
            return RECEIPT.empty_table()
        return where(found, "state", HELD)


def _agreed(rows: list[Row]) -> dict[str, Row]:
    """By path; a name that two manifests have with different bytes says nothing."""
    known = {row["path"]: row for row in rows}
    clashes = {row["path"] for row in rows if row["digest"] != known[row["path"]]["digest"]}
    return {path: row for path, row in known.items() if path not in clashes}


def _settled(row: Row, known: dict[str, Row], table: TableJob) -> Row:
    entry = {name: row.pop(name) for name in ("status", "added_by", "added_at")}
    same = known.get(row["path"]) if _lives_on(entry, table) else None
    if same is None or same["declared_bytes"] != row["declared_bytes"]:
        return row
    return {**same, "row_count": row["row_count"], "kind": row["kind"]}


def _lives_on(entry: Row, table: TableJob) -> bool:
    """True when the predecessor saw this very file: its name may have been used again since, for bytes as long (`add_files`)."""
    if entry["status"] != 0:
        return False
    if entry["added_by"] in table.known_snapshots:
        return True
    # The snapshot that added it may have expired before the predecessor was made.
    return bool(table.known_until and entry["added_at"] is not None and entry["added_at"] <= table.known_until)
