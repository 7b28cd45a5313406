"""What the stories of losing tables and getting them back have in common."""

from collections.abc import Callable, Iterable
from hashlib import sha256

from bergung.backup.request import METADATA, BackupRequest
from bergung.backup.run import BackupResult
from bergung.model.names import TableName
from bergung.model.record import TableEntry
from tests.faults.lake import CATALOG, NAMESPACE, Lake, bytes_of, contents
from tests.synthetic import Shape, SyntheticTable

PLAIN = Shape()


def table_with_history(lake: Lake, name: str = "orders", shape: Shape = PLAIN) -> SyntheticTable:
    """Two snapshots, four files."""
    table = lake.table(name, shape)
    for _ in range(2):
        table.append(2)
        lake.publish(table)
    return table


def comes_back(lake: Lake, *tables: SyntheticTable) -> None:
    """Backed up, lost to the last byte, restored: every file and every pointer as it was; the vault in order."""
    wanted = {key: content for table in tables for key, content in bytes_of(table).items()}
    record = lake.backup().record
    assert record.backup_metadata.status == "complete"
    assert {state for state, _ in lake.reached().values()} == {"held"}
    assert lake.verify().damages == ()
    lake.drop(*(table.folder.name for table in tables))
    assert lake.restore().restored.failed == {}
    assert contents(lake.source) == wanted
    assert {table: pointer(lake, table.folder.name) for table in tables} == {table: table.metadata_path for table in tables}


def pointer(lake: Lake, name: str) -> str:
    return lake.catalog().locate(TableName(CATALOG, (NAMESPACE,), name)).metadata_location


def key_of(lake: Lake, path: str) -> str:
    """The key of a file in the source's store."""
    return path.removeprefix(f"{lake.source.url}/")


def overwrite(lake: Lake, path: str, change: Callable[[bytes], bytes]) -> bytes:
    changed = change(lake.source.read(key_of(lake, path)))
    lake.source.overwrite(key_of(lake, path), changed)
    return changed


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


def delete_files(lake: Lake, paths: Iterable[str]) -> None:
    for path in paths:
        lake.source.delete(key_of(lake, path))


def hide(lake: Lake, *names: str) -> None:
    """The entry goes from the catalog, the files stay."""
    kept = lake.keep()
    lake.drop(*names)
    for key in kept.source.keys() - {stat.key for stat in lake.source.list("")}:
        lake.source.put_if_absent(key, [kept.source[key]])


def metadata_only(lake: Lake) -> BackupResult:
    return lake.backup(request=BackupRequest((CATALOG,), captured=METADATA))


def entry_of(lake: Lake, name: str = "orders", point: str = "latest") -> TableEntry:
    return lake.record(point).tables[f"{CATALOG}.{NAMESPACE}.{name}"]


def states(lake: Lake, point: str = "latest") -> dict[str, str]:
    """Path to state, of every file that a point reaches."""
    return {path: state for (_, path), (state, _) in lake.reached(point).items()}


def world(lake: Lake) -> dict[str, str]:
    """Digests of the source, the catalog and the vault; without the journals of runs."""
    found = {f"source/{key}": content for key, content in contents(lake.source).items()}
    found |= {f"vault/{key}": content for key, content in contents(lake.store).items() if not key.startswith("runs/")}
    found["catalog"] = lake.database.read_bytes()
    return {key: sha256(content).hexdigest() for key, content in found.items()}


def blobs(lake: Lake) -> set[str]:
    return {stat.key for stat in lake.store.list("tables/") if "/receipts/" not in stat.key}
