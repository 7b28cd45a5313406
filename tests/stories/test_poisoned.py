"""Somebody seals a point whose receipts leave files out: whoever builds on it or restores from it is told."""

from dataclasses import replace
from pathlib import Path

import pytest

from bergung.errors import DamageFound
from bergung.iceberg.columns import rows_of, table_of
from bergung.vault.documents import put_document
from bergung.vault.layout import LOG, point_key
from bergung.vault.log import append
from bergung.vault.receipts import RECEIPT, read_receipts, write_receipts
from tests.faults.lake import Lake, contents

FORGED = "20990101T000000Z-ffffffffff"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path)
    orders = lake.table("orders")
    orders.append(3)
    lake.publish(orders)
    lake.backup()
    return lake


@pytest.mark.parametrize("kind", ["", "manifest_list", "manifest"])
def test_receipts_that_leave_files_out_are_damage(lake: Lake, kind: str) -> None:
    honest = lake.points()[-1]
    seal_with_gap(lake, kind)
    later = lake.backup()
    assert not next(iter(later.record.tables.values())).changed, "the later run trusted the forged point"
    found = lake.verify()
    assert any("leave out" in damage.problem for damage in found.damages)
    assert {point for damage in found.damages for point in damage.points} >= {FORGED, later.run}
    assert lake.verify(honest).damages == ()
    lake.drop("orders")
    with pytest.raises(DamageFound, match="leave out"):
        lake.restore(later.run)
    assert contents(lake.source) == {}
    assert lake.restore(honest).restored.failed == {}


def seal_with_gap(lake: Lake, kind: str) -> None:
    """Receipts without their rows at the level of that kind, bound into a tree that is whole in itself."""
    record = lake.record()
    name, entry = next(iter(record.tables.items()))
    receipts = _without(lake, entry.location, (entry.metadata_file.digest, entry.receipts), kind)
    metadata = replace(record.backup_metadata, backup_id=FORGED)
    forged = replace(record, backup_metadata=metadata, tables={name: replace(entry, receipts=receipts)})
    digest = put_document(lake.store, point_key(FORGED), forged)
    facts = {"at": "2026-01-01T00:00:00.000000Z", "run": FORGED, "point": FORGED, "record": digest}
    append(lake.store, LOG, "seal", {**facts, "tables": 1, "first_seen": []})


def _without(lake: Lake, folder: str, of: tuple[str, str], kind: str) -> str:
    digest, own = of
    if not kind:
        return write_receipts(lake.store, folder, digest, RECEIPT.empty_table())
    rows = rows_of(read_receipts(lake.store, folder, digest, own))
    for row in rows:
        if row["receipts"]:
            below = "" if row["kind"] == kind else kind
            row["receipts"] = _without(lake, folder, (row["digest"], row["receipts"]), below)
    return write_receipts(lake.store, folder, digest, table_of(RECEIPT, rows))
