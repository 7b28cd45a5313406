"""Receipts: named by what they describe and by what they are, whatever others put under their keys."""

import uuid

import pyarrow as pa
import pytest

from bergung.errors import CorruptFile, DamageFound
from bergung.iceberg.columns import table_of
from bergung.stores.digest import digest_of
from bergung.stores.memory import MemoryStore
from bergung.vault.layout import receipts_key
from bergung.vault.receipts import HELD, RECEIPT, from_bytes, read_receipts, to_bytes, write_receipts

FOLDER, OF = "tables/t-12345678/", digest_of(b"a manifest")
ROWS = [
    {"path": "s3://lake/t/b", "kind": "data", "state": HELD, "declared_bytes": 5, "size_bytes": 5, "digest": digest_of(b"b")},
    {"path": "s3://lake/t/a", "kind": "data", "state": HELD, "declared_bytes": None, "size_bytes": 1, "digest": digest_of(b"a")},
]

GIVEN, BACKWARDS = table_of(RECEIPT, ROWS), table_of(RECEIPT, ROWS[::-1])


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(uuid.uuid4().hex)


def test_rows_come_back_in_the_order_of_their_paths(store: MemoryStore) -> None:
    own = write_receipts(store, FOLDER, OF, GIVEN)
    assert [stat.key for stat in store.list("")] == [FOLDER + receipts_key(OF, own)]
    found = read_receipts(store, FOLDER, OF, own)
    assert found.schema.equals(RECEIPT)
    assert found.to_pylist() == [{**dict.fromkeys(RECEIPT.names), **row} for row in reversed(ROWS)]


def test_they_say_what_they_are_of_and_nothing_of_arrow(store: MemoryStore) -> None:
    own = write_receipts(store, FOLDER, OF, GIVEN)
    footer = pa.parquet.read_metadata(pa.BufferReader(store.read(FOLDER + receipts_key(OF, own)))).metadata
    assert footer == {b"bergung.format": b"1", b"bergung.of": OF.encode()}


def test_the_same_again_is_the_same_object(store: MemoryStore) -> None:
    assert write_receipts(store, FOLDER, OF, GIVEN) == write_receipts(store, FOLDER, OF, BACKWARDS)
    assert len(list(store.list(""))) == 1


def test_none_at_all(store: MemoryStore) -> None:
    own = write_receipts(store, FOLDER, OF, RECEIPT.empty_table())
    assert read_receipts(store, FOLDER, OF, own).num_rows == 0


def test_junk_that_somebody_put_there_before_us_stops_nobody(store: MemoryStore) -> None:
    dry = MemoryStore("dry")
    first = write_receipts(dry, FOLDER, OF, GIVEN)
    store.put_if_absent(FOLDER + receipts_key(OF, first), [b"junk"])
    own = write_receipts(store, FOLDER, OF, GIVEN)
    assert own != first
    assert read_receipts(store, FOLDER, OF, own).num_rows == 2
    assert write_receipts(store, FOLDER, OF, GIVEN) == own, "a second run finds them"
    store.overwrite(FOLDER + receipts_key(OF, own), b"junk")
    assert write_receipts(store, FOLDER, OF, GIVEN) not in (own, first)


def test_lost_and_changed_ones_are_damage(store: MemoryStore) -> None:
    own = write_receipts(store, FOLDER, OF, GIVEN)
    key = FOLDER + receipts_key(OF, own)
    store.overwrite(key, store.read(key)[:-1])
    with pytest.raises(DamageFound):
        read_receipts(store, FOLDER, OF, own)
    store.delete(key)
    with pytest.raises(DamageFound):
        read_receipts(store, FOLDER, OF, own)


@pytest.mark.parametrize("content", [b"", b"no parquet", to_bytes(pa.table({"path": ["a"]}), {})])
def test_what_is_no_receipts_under_its_right_digest(store: MemoryStore, content: bytes) -> None:
    """As a forged point could name them."""
    own = digest_of(content)
    store.put_if_absent(FOLDER + receipts_key(OF, own), [content])
    with pytest.raises(CorruptFile):
        read_receipts(store, FOLDER, OF, own)


def test_a_column_of_a_later_version_is_ignored(store: MemoryStore) -> None:
    rows = pa.Table.from_pylist([{**dict.fromkeys(RECEIPT.names), "path": "a", "more": 1}])
    content = to_bytes(rows, {})
    store.put_if_absent(FOLDER + receipts_key(OF, digest_of(content)), [content])
    assert read_receipts(store, FOLDER, OF, digest_of(content)).schema.names == RECEIPT.names


def test_what_is_cut_off_is_corrupt() -> None:
    with pytest.raises(CorruptFile, match="not readable"):
        from_bytes(to_bytes(pa.table({"path": ["a"]}), {})[:40], "here")
