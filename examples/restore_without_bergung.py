"""Brings a table back from a vault with nothing but Python and pyarrow, after docs/format.md.

    python restore_without_bergung.py VAULT TABLE [--point ID] [--to FOLDER]

Without --to every file goes to the path that it had; with it, below FOLDER. Nothing that exists is written over.
At the end it names the metadata file, for `register_table` in any engine. The vault must be a folder.
"""

import argparse
import gzip
import hashlib
import json
import os
import sys
from pathlib import Path

import pyarrow.parquet as pq


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def read(path: Path, digest: str) -> bytes:
    """Everything is read by the digest that its parent names."""
    data = path.read_bytes()
    if sha256(data) != digest:
        sys.exit(f"error: {path} is not what it was")
    return data


def seals(vault: Path):
    """The points in the order of the log: each slot names the digest of the one before."""
    previous = None
    for slot in sorted((vault / "log").glob("*.json")):
        data = slot.read_bytes()
        entry = json.loads(data)
        if entry["previous"] == previous:
            previous = sha256(data)
            if entry["entry"] == "seal":
                yield entry["point"], entry["record"]


def find_table(vault: Path, table: str, wanted: str | None):
    """The newest point with the table, or the one that was asked for."""
    for point, digest in reversed(list(seals(vault))):
        record = json.loads(read(vault / "points" / f"{point}.json", digest))
        if wanted in (None, point) and table in record["tables"]:
            return point, record["tables"][table]
    sys.exit(f"error: no point with {table}" + (f" of the name {wanted}" if wanted else ""))


def reached(folder: Path, of: str, receipts: str, newest: str | None = None):
    """Every file below a metadata file, through its receipts and those of manifest lists and manifests.

    Where one path has had two contents, the one that the current snapshot sees comes last.
    """
    of, own = of.removeprefix("sha256:"), receipts.removeprefix("sha256:")[:16]
    path = folder / "receipts" / f"{of}-{own}.parquet"
    read(path, receipts)
    for row in sorted(pq.read_table(path).to_pylist(), key=lambda row: row["path"] == newest):
        if row["state"] == "missing":
            print(f"warning: lost before the backup: {row['path']}", file=sys.stderr)
        elif row["digest"] is None:
            sys.exit(f"error: this point has metadata only: {row['path']} is not in it")
        else:
            yield row["path"], row["blob_key"], row["digest"]
        if row["receipts"]:
            yield from reached(folder, row["digest"], row["receipts"])


def current_list(metadata: bytes) -> str | None:
    """The manifest list of the current snapshot."""
    table = json.loads(gzip.decompress(metadata) if metadata[:2] == b"\x1f\x8b" else metadata)
    lists = {each["snapshot-id"]: each.get("manifest-list") for each in table.get("snapshots") or []}
    return lists.get(table.get("current-snapshot-id"))


def target(path: str, to: str | None) -> Path:
    local = "/" + path.split(":", 1)[-1].lstrip("/")
    return Path(to, local.lstrip("/")) if to else Path(local)


def write(place: Path, data: bytes) -> bool:
    """Create-only and whole or not at all; False when the same bytes lie there already."""
    if place.exists():
        if place.read_bytes() != data:
            sys.exit(f"error: {place} is there and is another file")
        return False
    place.parent.mkdir(parents=True, exist_ok=True)
    unfinished = place.with_name(f".restoring-{os.getpid()}")
    unfinished.write_bytes(data)
    os.link(unfinished, place)
    unfinished.unlink()
    return True


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("vault", type=Path)
    words.add_argument("table", help="as the record names it: catalog.namespace.table")
    words.add_argument("--point")
    words.add_argument("--to")
    given = words.parse_args()
    point, entry = find_table(given.vault, given.table, given.point)
    folder, own = given.vault / entry["location"], entry["metadata_file"]
    newest = current_list(read(folder / own["blob_key"], own["digest"]))
    files = {path: (key, digest) for path, key, digest in reached(folder, own["digest"], entry["receipts"], newest)}
    written = sum(write(target(path, given.to), read(folder / key, digest)) for path, (key, digest) in files.items())
    metadata = target(entry["metadata_location"], given.to)
    write(metadata, read(folder / own["blob_key"], own["digest"]))
    print(f"point {point}: {written + 1} files written, {len(files) + 1} there")
    print(f"register: {metadata}")


if __name__ == "__main__":
    main()
