"""What a metadata file reaches, with digests: a Merkle tree that mirrors Iceberg's own (format.md, "Receipts")."""

from collections.abc import Mapping
from io import BytesIO
from itertools import count

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bergung.errors import CorruptFile, DamageFound, ObjectExists
from bergung.stores.base import Store
from bergung.stores.digest import digest_of, read_verified
from bergung.vault.layout import receipts_key

RECEIPT = pa.schema(
    [
        ("path", pa.string()),
        ("kind", pa.string()),
        ("state", pa.string()),
        ("declared_bytes", pa.int64()),
        ("size_bytes", pa.int64()),
        ("row_count", pa.int64()),
        ("digest", pa.string()),
        ("blob_key", pa.string()),
        ("source_version", pa.string()),
        ("receipts", pa.string()),
    ]
)
HELD, DAMAGED, MISSING, LEFT = "held", "damaged", "missing", "left"


def write_receipts(store: Store, folder: str, of: str, rows: pa.Table) -> str:
    """Store the receipts of the metadata file with digest `of`; return their own digest. Making them durable is the caller's."""
    table, footer = rows.sort_by("path"), {"bergung.format": "1", "bergung.of": of}
    digest = _store(store, folder, of, to_bytes(table, footer))
    for number in count(1):
        if digest is not None:
            return digest
        # Somebody who knows the table could have planted junk there: another footer makes another key.
        digest = _store(store, folder, of, to_bytes(table, {**footer, "bergung.again": str(number)}))
    raise AssertionError("count never ends")


def _store(store: Store, folder: str, of: str, data: bytes) -> str | None:
    """The digest; None when other bytes lie under the key."""
    digest = digest_of(data)
    key = folder + receipts_key(of, digest)
    try:
        store.put_if_absent(key, [data])
    except ObjectExists:
        try:
            read_verified(store, key, digest)
        except DamageFound:
            return None
    return digest


def read_receipts(store: Store, folder: str, of: str, own: str) -> pa.Table:
    """Read by digest; the rows in the order of their paths."""
    key = folder + receipts_key(of, own)
    found = from_bytes(read_verified(store, key, own), key)
    if not set(RECEIPT.names) <= set(found.schema.names):
        raise CorruptFile(f"{key} is not readable: columns are missing", "run bergung verify")
    return found.select(RECEIPT.names)


def to_bytes(rows: pa.Table, footer: Mapping[str, str]) -> bytes:
    """Rows as a Parquet file."""
    sink = BytesIO()
    # Without Arrow's own copy of the schema, which says nothing that Parquet's does not.
    with pq.ParquetWriter(sink, rows.schema, compression="zstd", store_schema=False) as writer:
        writer.write_table(rows)
        writer.add_key_value_metadata(dict(footer))
    return sink.getvalue()


def from_bytes(data: bytes, where: str) -> pa.Table:
    """A Parquet file as rows."""
    try:
        return pq.ParquetFile(pa.BufferReader(data)).read()
    except (pa.ArrowException, OSError) as error:
        raise CorruptFile(f"{where} is not readable: {error}", "run bergung verify") from error


def pick(receipts: pa.Table, paths: pa.Array) -> pa.Table:
    """The rows of those paths, as far as they are there."""
    return receipts.filter(pc.is_in(receipts.column("path"), value_set=paths))
