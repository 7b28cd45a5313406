"""The seal: what must be so before a point may exist (format.md R2, R3, R7)."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from bergung.clock import SystemClock
from bergung.errors import SourceChanged, StoreError
from bergung.model.record import BackupMetadata, Cut, MetadataFile, Record, Statistics, TableEntry
from bergung.stores.memory import MemoryStore
from bergung.stores.open import open_store
from bergung.vault.journal import Run, begin
from bergung.vault.layout import ADMIN_LOG, point_key
from bergung.vault.log import append
from bergung.vault.seal import seal
from bergung.vault.vault import GRACE_SECONDS, Vault, init_vault, read_record, read_state, seen_mark
from tests.faults.faulty_store import FaultPlan, FaultyStore

START = datetime(2026, 1, 1, tzinfo=UTC)


class Hands(SystemClock):
    """A clock that is set."""

    def __init__(self) -> None:
        self.moment = START

    def now(self) -> datetime:
        return self.moment


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def vault(clock: Hands) -> Vault:
    return init_vault(MemoryStore(uuid.uuid4().hex).url, open_store, clock, uuid.UUID(int=1))


def started(vault: Vault, clock: Hands, run: str = "r1") -> Run:
    return begin(vault.store, run, clock, verb="backup")


def record(point: str, *identities: str) -> Record:
    metadata = BackupMetadata(point, point, "full", None, "t", (), None, "0", "complete", {}, Cut("t", len(identities), 0, 0))
    tables = {f"lake.sales.{identity}": entry(identity) for identity in identities}
    return Record(metadata, tables, {}, Statistics(len(identities), 0, 0, 0, 0, 0, 0))


def entry(identity: str) -> TableEntry:
    return TableEntry(
        uuid=None,
        identity=identity,
        table_format_version=2,
        location=f"tables/{identity}/",
        original_location="s3://lake/t",
        metadata_location="s3://lake/t/metadata/m.json",
        metadata_file=MetadataFile("files/metadata/m.json", "sha256:" + "0" * 64, 1, "v"),
        snapshot_id=1,
        schema_version=0,
        captured="all",
        status="complete",
        cut="exact",
        answers={"from": "t", "to": "t"},
        located_at="t",
        changed=True,
        new_files={},
        deleted_files=0,
        receipts="sha256:" + "0" * 64,
    )


def prune(vault: Vault, kind: str, **more: object) -> None:
    append(vault.store, ADMIN_LOG, kind, {"at": "2020-01-01T00:00:00.000000Z", **more})


def test_a_point_is_there_when_its_seal_is(vault: Vault, clock: Hands) -> None:
    written = record("p1", "one")
    found = seal(vault, started(vault, clock), written, read_state(vault))
    state = read_state(vault)
    assert [(point.id, point.slot) for point in state.points] == [("p1", found.slot)]
    assert (found.body["tables"], found.body["run"]) == (1, "r1")
    assert read_record(vault, state.points[0]) == written
    assert state.head == found.digest


def test_a_record_without_its_seal_is_no_point(vault: Vault, clock: Hands) -> None:
    plan = FaultPlan()
    plan.before("put_if_absent", prefix="log/")
    struck = Vault(vault.url, FaultyStore(vault.store, plan), vault.id, vault.grace_seconds)
    with pytest.raises(StoreError):
        seal(struck, started(vault, clock), record("p1", "one"), read_state(vault))
    assert vault.store.head(point_key("p1"))
    assert read_state(vault).points == ()


def test_an_identity_is_marked_by_the_first_seal_that_has_it(vault: Vault, clock: Hands) -> None:
    first = seal(vault, started(vault, clock), record("p1", "one"), read_state(vault))
    second = seal(vault, started(vault, clock, "r2"), record("p2", "one", "two"), read_state(vault))
    assert [each.body["first_seen"] for each in (first, second)] == [[seen_mark("one")], [seen_mark("two")]]
    assert read_state(vault).seen == {seen_mark("one"), seen_mark("two")}


def test_two_runs_at_once_both_have_their_point(vault: Vault, clock: Hands) -> None:
    one, two, state = started(vault, clock), started(vault, clock, "r2"), read_state(vault)
    seal(vault, one, record("p1", "one"), state)
    seal(vault, two, record("p2", "one"), state)
    assert [point.id for point in read_state(vault).points] == ["p1", "p2"]


@pytest.mark.parametrize(("age", "may"), [(GRACE_SECONDS / 2, True), (GRACE_SECONDS / 2 + 1, False)])
def test_r7_a_run_older_than_half_the_grace_may_not(vault: Vault, clock: Hands, age: float, may: bool) -> None:
    run, state = started(vault, clock), read_state(vault)
    clock.moment += timedelta(seconds=age)
    if may:
        assert seal(vault, run, record("p1", "one"), state)
        return
    with pytest.raises(SourceChanged) as told:
        seal(vault, run, record("p1", "one"), state)
    assert told.value.exit_code == 20
    assert read_state(vault).points == ()


def test_r7_nor_one_that_a_prune_came_beside_whatever_its_clock_says(vault: Vault, clock: Hands) -> None:
    run, state = started(vault, clock), read_state(vault)
    prune(vault, "prune-begin")
    prune(vault, "prune-end", begin=0)
    with pytest.raises(SourceChanged, match="prune"):
        seal(vault, run, record("p1", "one"), state)


def test_r7_nor_while_one_that_began_before_has_not_ended(vault: Vault, clock: Hands) -> None:
    prune(vault, "prune-begin")
    with pytest.raises(SourceChanged, match="prune"):
        seal(vault, started(vault, clock), record("p1", "one"), read_state(vault))
    prune(vault, "prune-end", begin=0)
    assert seal(vault, started(vault, clock, "r2"), record("p1", "one"), read_state(vault))
