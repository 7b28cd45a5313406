"""vault.json is changed where nothing keeps older versions: verify says so, and the points come back all the same."""

from pathlib import Path

from tests.faults.lake import Lake, bytes_of, contents


def test_a_changed_vault_document_is_named(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    orders = lake.table("orders")
    orders.append(2)
    lake.publish(orders)
    lake.backup()
    assert lake.verify().damages == ()
    document = lake.store.read("vault.json")
    longer = document.replace(b'"grace_seconds": ', b'"grace_seconds": 1')
    assert longer != document
    lake.store.overwrite("vault.json", longer)
    seen = lake.verify()
    assert ([damage.file for damage in seen.damages], seen.damaged_count) == (["vault.json"], 1)
    lake.drop("orders")
    lake.restore()
    assert contents(lake.source) == bytes_of(orders)
