"""What a restore brings back is what the point held: names re-used, renamed and moved tables, a vault in another place."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bergung.backup.request import BackupRequest
from bergung.backup.run import run_backup
from bergung.carry.engine import Engine
from bergung.catalogs.base import Catalog, Namespace, Pointer
from bergung.catalogs.select import select_tables
from bergung.catalogs.sqlite import Database
from bergung.model.names import TableName
from bergung.restore.request import RestoreRequest
from bergung.restore.run import run_restore
from bergung.stores.digest import digest_of
from bergung.upkeep.showing import files_of
from tests.command import call, tree
from tests.faults.counting_store import Counts, counting_open
from tests.faults.lake import CATALOG, Lake, bytes_of, contents
from tests.stories.small_lake import SmallLake
from tests.stories.tables_at_risk import blobs, comes_back, delete_files, entry_of, key_of, pointer, table_with_history
from tests.synthetic import Shape, SyntheticTable

OLD, NEW = b"as it was at first", b"other bytes, alike"


@pytest.fixture
def memory(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def _with_a_name_used_twice(lake: Lake) -> tuple[SyntheticTable, str, str, str]:
    """`add_files` of a file, deleted from the table and added again with other bytes of the same length."""
    assert len(OLD) == len(NEW)
    table = lake.table("orders")
    path = f"{table.location}/data/export.parquet"
    points = []
    for content in (OLD, NEW):
        table.delete([path])
        table.local(path).write_bytes(content)
        if points:
            delete_files(lake, [path])
        table.add_files([{"file_path": path, "file_size_in_bytes": len(content)}])
        lake.publish(table)
        points.append(lake.backup().run)
    return table, path, *points


def test_a_name_used_again_for_other_bytes_both_are_held_and_the_newest_comes_back(memory: Lake) -> None:
    table, path, _, new = _with_a_name_used_twice(memory)
    assert memory.verify().damages == ()
    held = [file["checksum"] for file in files_of(memory.vault(), entry_of(memory, point=new)) if file["path"] == path]
    assert sorted(held) == sorted([digest_of(OLD), digest_of(NEW)])
    memory.drop("orders")
    plan = memory.restore(new).plan
    assert [each.superseded for each in plan.tables] == [1]
    assert memory.source.read(key_of(memory, path)) == NEW
    assert pointer(memory, "orders") == table.metadata_path


def test_the_old_point_gives_the_old_bytes_where_nothing_lies(memory: Lake) -> None:
    _, path, old, _ = _with_a_name_used_twice(memory)
    memory.drop("orders")
    assert [each.superseded for each in memory.restore(old).plan.tables] == [0]
    assert memory.source.read(key_of(memory, path)) == OLD


@pytest.mark.parametrize("keep", [2, 9])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_name_used_again_between_two_backups_in_a_manifest_that_was_merged(memory: Lake, version: int, keep: int) -> None:
    """The merged manifest says EXISTING, the length is the same, and the manifest that it replaces knew the old bytes."""
    table = memory.table("orders", Shape(format_version=version))
    path = f"{table.location}/data/export.parquet"
    table.local(path).write_bytes(OLD)
    table.add_files([{"file_path": path, "file_size_in_bytes": len(OLD)}])
    table.append(2)
    memory.publish(table)
    memory.backup()
    table.delete([path])
    memory.publish(table)
    delete_files(memory, [path])
    table.local(path).write_bytes(NEW)
    table.add_files([{"file_path": path, "file_size_in_bytes": len(NEW)}])
    memory.publish(table)
    table.merge(3)
    memory.publish(table)
    table.expire(keep)
    memory.publish(table, snapshot=False)
    memory.backup()
    memory.drop("orders")
    memory.restore()
    assert memory.source.read(key_of(memory, path)) == NEW


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("expired", [False, True])
def test_a_merge_of_manifests_copies_and_reads_no_old_file(memory: Lake, version: int, expired: bool) -> None:
    """Also where the snapshots that added the files had expired before the first backup; version 1 cannot tell then."""
    table = memory.table("orders", Shape(format_version=version))
    for _ in range(4):
        table.append(2)
        memory.publish(table)
    if expired:
        table.expire(1)
    memory.publish(table, snapshot=False)
    memory.backup()
    table.append(1)
    table.merge(4)
    memory.publish(table)
    counts = Counts()
    memory.backup(open_=counting_open(counts))
    read = {key for operation in ("read", "blocks") for key in counts.keys(operation, "orders/data/")}
    assert len(read) == (7 if version == 1 and expired else 1)
    assert entry_of(memory).new_files["data"].files == (7 if version == 1 and expired else 1)
    comes_back(memory, table)


def test_a_vault_in_another_folder_opens_verifies_and_restores(lake: SmallLake) -> None:
    lake.make("sales", "orders")
    lake.append(("sales", "orders"), range(10, 20))
    assert call("backup", "lake").code == 0
    files, rows = tree(lake.warehouse), lake.rows("sales", "orders")
    moved = lake.folder / "elsewhere" / "my vault"
    moved.parent.mkdir()
    shutil.move(lake.vault, moved)
    lake.lose("sales", "orders")
    assert call("points").code == 10, "where it was there is none"
    there = ("--vault", str(moved))
    assert call("points", *there).code == 0
    assert call("verify", *there).code == 0
    assert call("restore", "--all", *there).code == 0
    assert tree(lake.warehouse) == files
    assert lake.rows("sales", "orders") == rows
    lake.append(("sales", "orders"), range(20, 30))
    said = call("backup", "lake", "--json", *there).result
    assert (said["backup_type"], said["tables"][0]["new_files"]["data"]["files"]) == ("incremental", 1)


def _rename(lake: Lake, old: str, new: str) -> None:
    with Database(lake.database).writing() as connection:
        connection.execute("UPDATE iceberg_tables SET table_name = ? WHERE table_name = ?", (new, old))


def test_a_renamed_table_keeps_its_folder_and_copies_nothing_again(memory: Lake) -> None:
    table = table_with_history(memory)
    memory.backup()
    held, before = entry_of(memory), blobs(memory)
    _rename(memory, "orders", "sold")
    result = memory.backup()
    entry = entry_of(memory, "sold")
    assert list(result.record.tables) == ["lake.sales.sold"]
    assert (entry.changed, entry.location, blobs(memory)) == (False, held.location, before)
    assert result.record.statistics.stored_bytes == 0
    table.append(1)
    memory.upload(table)
    memory.point("sold", table.commit())
    memory.upload(table)
    memory.backup()
    assert entry_of(memory, "sold").location == held.location
    assert entry_of(memory, "sold").new_files["data"].files == 1
    assert len(blobs(memory) - before) == 4


def test_the_same_names_in_two_catalogs_are_two_tables(memory: Lake) -> None:
    one, other = table_with_history(memory), memory.table("other", Shape(location=f"{memory.source.url}/other/orders"))
    other.append(1)
    path = other.commit()
    memory.upload(other)
    memory.point("orders", path, catalog="second")
    wanted = bytes_of(one) | bytes_of(other)
    record = memory.backup((CATALOG, "second")).record
    assert list(record.tables) == ["lake.sales.orders", "second.sales.orders"]
    assert len({entry.location for entry in record.tables.values()}) == 2
    memory.drop("orders", "other")
    assert memory.restore(words=("second.sales.orders",)).restored.done == ("second.sales.orders",)
    assert contents(memory.source) == bytes_of(other)
    assert memory.restore().restored.done == ("lake.sales.orders", "second.sales.orders")
    assert contents(memory.source) == wanted
    assert pointer(memory, "orders") == one.metadata_path


@dataclass
class DottedCatalog:
    """A SQL catalog behind a service that allows dots in names of namespaces: it writes them in another way below."""

    inner: Catalog

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def namespaces(self) -> list[Namespace]:
        return [Namespace(_dotted(each.levels), each.properties) for each in self.inner.namespaces()]

    def tables(self) -> list[TableName]:
        return [replace(table, namespace=_dotted(table.namespace)) for table in self.inner.tables()]

    def locate(self, table: TableName) -> Pointer:
        return replace(self.inner.locate(_below(table)), table=table)

    def locate_all(self, tables: list[TableName]) -> dict[TableName, Pointer]:
        found = self.inner.locate_all([_below(table) for table in tables])
        return {table: replace(found[_below(table)], table=table) for table in tables if _below(table) in found}

    def register(self, table: TableName, metadata_location: str) -> None:
        self.inner.register(_below(table), metadata_location)

    def create_namespace(self, namespace: Namespace) -> None:
        self.inner.create_namespace(replace(namespace, levels=_escaped(namespace.levels)))


def _below(table: TableName) -> TableName:
    return replace(table, namespace=_escaped(table.namespace))


def _escaped(levels: Iterable[str]) -> tuple[str, ...]:
    return tuple(level.replace(".", "%2E") for level in levels)


def _dotted(levels: Iterable[str]) -> tuple[str, ...]:
    return tuple(level.replace("%2E", ".") for level in levels)


def test_a_namespace_with_a_dot_is_not_two_levels(memory: Lake) -> None:
    catalog = DottedCatalog(memory.catalog())
    names = {"one": TableName(CATALOG, ("a.b",), "t"), "two": TableName(CATALOG, ("a", "b"), "t")}
    tables = {}
    for folder, name in names.items():
        tables[folder] = memory.table(folder)
        tables[folder].append(1)
        path = tables[folder].commit()
        memory.upload(tables[folder])
        catalog.create_namespace(Namespace(name.namespace, {"owner": folder}))
        catalog.register(name, path)
    selected = select_tables([CATALOG], [], lambda name: catalog)
    record = run_backup(memory.effects(), memory.vault(), BackupRequest((CATALOG,)), selected).record
    assert sorted(record.tables) == ["lake.`a.b`.t", "lake.a.b.t"]
    assert (record.namespaces["lake.`a.b`"], record.namespaces["lake.a.b"]) == ({"owner": "one"}, {"owner": "two"})
    wanted = contents(memory.source)
    memory.drop("t", "one", "two")
    request = RestoreRequest("latest", ("lake.`a.b`.t",))
    run_restore(memory.effects(), memory.vault(), request, lambda name: catalog)
    assert contents(memory.source) == {key: content for key, content in wanted.items() if key.startswith("one/")}
    assert catalog.locate(names["one"]).metadata_location == tables["one"].metadata_path
    assert names["two"] not in catalog.tables()
    run_restore(memory.effects(), memory.vault(), replace(request, words=()), lambda name: catalog)
    assert contents(memory.source) == wanted
    assert catalog.locate(names["two"]).metadata_location == tables["two"].metadata_path


def _no_engine() -> Engine:
    raise AssertionError("nothing is to be done, and an engine is asked for")


def test_an_unchanged_table_costs_a_look_at_its_metadata_file(memory: Lake) -> None:
    table = table_with_history(memory)
    first = memory.backup().run
    held, before = entry_of(memory), blobs(memory)
    counts = Counts()
    selected = select_tables([CATALOG], [], memory.catalog)
    effects = replace(memory.effects(counting_open(counts)), engine=_no_engine)
    result = run_backup(effects, memory.vault(), BackupRequest((CATALOG,)), selected)
    entry = result.record.tables["lake.sales.orders"]
    assert (entry.changed, entry.status, entry.receipts) == (False, "complete", held.receipts)
    assert (result.opened_manifests, result.record.backup_metadata.base_backup_id) == (0, first)
    assert {one.key for one in counts.of(prefix="orders/")} == {key_of(memory, table.metadata_path or "")}
    assert not [one for one in counts.of(prefix="tables/") if "/receipts/" not in one.key or one.operation == "put_if_absent"]
    assert (entry.answers["from"], entry.answers["to"] > held.answers["to"]) == (held.answers["from"], True)
    assert blobs(memory) == before
    comes_back(memory, table)
