"""The metadata folder of a Hadoop table, where others meddle; and addresses of warehouses."""

from collections.abc import Iterable
from threading import Barrier, Thread

import pytest

from bergung.catalogs.declaration import Declaration
from bergung.catalogs.hadoop import HadoopCatalog, open_declared
from bergung.catalogs.hadoop_folder import HINT, MetadataFolder, Versions
from bergung.catalogs.hadoop_warehouse import as_java_writes
from bergung.clock import SystemClock
from bergung.errors import BergungError, NotAllowed, ObjectExists, SourceChanged
from bergung.model.names import TableName
from bergung.stores.base import Stat
from bergung.stores.memory import MemoryStore
from bergung.stores.open import open_store
from tests.faults.faulty_store import FOREVER, FaultPlan, faulty_open

ORDERS = TableName("lake", ("sales",), "orders")
PREFIX = "warehouse/sales/orders/metadata/"


class Overtaken(MemoryStore):
    """Another writer takes each version under its other name just before us."""

    def put_if_absent(self, key: str, blocks: Iterable[bytes]) -> Stat:
        if key.endswith(".gz.metadata.json"):
            super().put_if_absent(key.replace(".gz.", "."), [b"theirs"])
        return super().put_if_absent(key, blocks)


def opened(bucket: str, clock: SystemClock | None = None) -> HadoopCatalog:
    properties = {"warehouse": f"memory://{bucket}/warehouse"}
    return open_declared(Declaration("lake", properties, clock or SystemClock(), open_store))


def test_a_number_that_is_taken_in_another_compression_is_left_to_the_other() -> None:
    store = Overtaken("hadoop-overtaken")
    folder = MetadataFolder(store, PREFIX)
    with pytest.raises(ObjectExists, match="version 2 is there twice"):
        folder.commit(2, b"\x1f\x8bours")
    assert [stat.key for stat in store.list(PREFIX)] == [f"{PREFIX}v2.metadata.json"]


def test_of_many_swaps_at_once_one_wins() -> None:
    for round_ in range(10):
        store = MemoryStore(f"hadoop-race-{round_}")
        store.put_if_absent(f"{PREFIX}v1.metadata.json", [b"first"])
        for runner in range(4):
            store.put_if_absent(f"old/{runner}.json", [b"%d" % runner])
        said: list[BergungError | int] = []
        start = Barrier(4)
        runners = [Thread(target=_swap, args=(f"hadoop-race-{round_}", runner, start, said)) for runner in range(4)]
        for runner in runners:
            runner.start()
        for runner in runners:
            runner.join()
        won = [each for each in said if isinstance(each, int)]
        assert len(said) == 4 and len(won) == 1
        assert store.read(f"{PREFIX}v2.metadata.json") == b"%d" % won[0]
        assert store.read(f"{PREFIX}{HINT}") == b"2"


def _swap(bucket: str, runner: int, start: Barrier, said: list[BergungError | int]) -> None:
    catalog = opened(bucket)
    start.wait()
    try:
        catalog.replace(ORDERS, f"memory://{bucket}/old/{runner}.json", expected=f"memory://{bucket}/{PREFIX}v1.metadata.json")
    except SourceChanged as error:
        said.append(error)
    else:
        said.append(runner)


def test_a_file_that_was_brought_back_is_the_table_whatever_was_expected() -> None:
    store = MemoryStore("hadoop-back")
    for version in (1, 2, 3):
        store.put_if_absent(f"{PREFIX}v{version}.metadata.json", [b"%d" % version])
    store.put_if_absent(f"{PREFIX}{HINT}", [b"2"])
    newest = f"memory://hadoop-back/{PREFIX}v3.metadata.json"
    opened("hadoop-back").replace(ORDERS, newest, expected=newest.replace("v3", "v2"))
    assert [stat.key.removeprefix(PREFIX) for stat in store.list(PREFIX)] == [*(f"v{n}.metadata.json" for n in (1, 2, 3)), HINT]
    assert store.read(f"{PREFIX}{HINT}") == b"3"


@pytest.mark.parametrize(
    ("files", "hinted", "current"),
    [
        ({}, 3, []),
        ({1: ["v1.metadata.json"]}, 3, ["v3.metadata.json"]),
        ({2: ["v2.gz.metadata.json"]}, 3, ["v3.gz.metadata.json"]),
        ({2: ["v2.metadata.json.gz"]}, 3, ["v3.metadata.json.gz"]),
        ({1: ["v1.metadata.json"], 2: ["v2.metadata.json"]}, 1, ["v2.metadata.json"]),
    ],
)
def test_a_hint_above_all_files_names_what_was_lost(files: dict[int, list[str]], hinted: int, current: list[str]) -> None:
    assert Versions(files, hinted).current() == current


@pytest.mark.parametrize(
    ("declared", "written"),
    [
        ("file:///a/b/", "file:/a/b"),
        ("file:/a/b", "file:/a/b"),
        ("/a/b//", "/a/b"),
        ("s3a://bucket/lake/", "s3a://bucket/lake"),
    ],
)
def test_addresses_are_written_as_java_does(declared: str, written: str) -> None:
    assert as_java_writes(declared) == written


def test_a_table_that_may_not_be_read_does_not_keep_the_others() -> None:
    store, items = MemoryStore("hadoop-forbidden"), TableName("lake", ("sales",), "items")
    for table in ("orders", "items"):
        store.put_if_absent(f"warehouse/sales/{table}/metadata/v1.metadata.json", [b"{}"])
    plan = FaultPlan()
    plan.before("list", prefix=PREFIX, error=lambda: NotAllowed("no permission"), times=FOREVER)
    properties = {"warehouse": "memory://hadoop-forbidden/warehouse"}
    catalog = open_declared(Declaration("lake", properties, SystemClock(), faulty_open(plan)))
    assert catalog.locate_all([ORDERS, items]).keys() == {items}
    plan.assert_all_fired()
    with pytest.raises(NotAllowed):
        catalog.locate(ORDERS)
