"""A vault: made once, opened by what was there first, and the points that its log gives it."""

import json
import uuid
from collections.abc import Iterator

import pytest

from bergung.clock import SystemClock
from bergung.errors import BergungError, CorruptFile, NoVault, UsageError, VaultTooNew
from bergung.stores.digest import digest_of
from bergung.stores.memory import MemoryStore
from bergung.stores.open import open_store
from bergung.vault import journal
from bergung.vault.layout import ADMIN_LOG, LOG, VAULT_DOCUMENT
from bergung.vault.log import append
from bergung.vault.vault import Vault, init_vault, open_vault, read_state
from tests.faults.faulty_store import Crash, FaultPlan, faulty_open
from tests.unit.vault.slots import put, seal, text

ID = uuid.UUID(int=3)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore(uuid.uuid4().hex, versioned=True)


@pytest.fixture
def vault(store: MemoryStore) -> Vault:
    return init_vault(store.url, open_store, SystemClock(), ID)


def test_it_is_made_once(store: MemoryStore, vault: Vault) -> None:
    assert (vault.id, open_vault(store.url, open_store)) == (str(ID), vault)
    with pytest.raises(UsageError, match="is a vault already"):
        init_vault(store.url, open_store, SystemClock(), uuid.uuid4())
    assert open_vault(store.url, open_store).id == str(ID)


def test_only_where_nothing_is(store: MemoryStore) -> None:
    store.put_if_absent("somebody/elses", [b"x"])
    with pytest.raises(UsageError, match="is not empty"):
        init_vault(store.url, open_store, SystemClock(), ID)


def _strikes() -> Iterator[tuple[str, int]]:
    url = MemoryStore("init").url
    plan = FaultPlan()
    init_vault(url, faulty_open(plan), SystemClock(), ID)
    # Of the probe only the beginning: what comes first and last of it is enough.
    own = [nth for nth, call in enumerate(plan.effects, 1) if not call.key.startswith("bergung-probe")]
    return ((moment, nth) for moment in ("before", "after") for nth in (1, own[0] - 1, *own))


@pytest.mark.parametrize(("moment", "nth"), [*_strikes()])
def test_a_vault_that_was_half_made_is_finished_by_the_next_init(moment: str, nth: int) -> None:
    store = MemoryStore(uuid.uuid4().hex)
    plan = FaultPlan()
    getattr(plan, moment)("effect", nth, error=Crash)
    with pytest.raises(Crash):
        init_vault(store.url, faulty_open(plan), SystemClock(), ID)
    try:
        init_vault(store.url, open_store, SystemClock(), uuid.uuid4())
    except UsageError as error:
        assert "is a vault already" in error.message
    vault = open_vault(store.url, open_store)
    chain = read_state(vault).chain
    assert [entry.kind for entry in chain.entries] == ["init"]
    assert chain.entries[0].body["vault"] == digest_of(store.read(VAULT_DOCUMENT))


def test_what_was_there_first_counts(store: MemoryStore, vault: Vault) -> None:
    store.overwrite(VAULT_DOCUMENT, b"junk")
    assert open_vault(store.url, open_store) == vault
    store.put_marker(VAULT_DOCUMENT)
    store.overwrite("vault.json-old", b"{}")
    assert open_vault(store.url, open_store) == vault


@pytest.mark.parametrize(
    ("document", "error"),
    [
        (None, NoVault),
        (b"{}", NoVault),
        (b"junk", CorruptFile),
        (b'{"format": 2}', VaultTooNew),
        (b'{"format": "1"}', NoVault),
        (b'{"format": 1}', NoVault),
        (b'{"format": 1, "vault_id": "x", "grace_seconds": "long"}', NoVault),
    ],
)
def test_what_is_no_vault(store: MemoryStore, document: bytes | None, error: type[BergungError]) -> None:
    if document is not None:
        store.overwrite(VAULT_DOCUMENT, document)
    store.overwrite("vault.json-old", b'{"format": 1}')
    with pytest.raises(error):
        open_vault(store.url, open_store)


def test_points_in_their_order_and_by_their_ids(store: MemoryStore, vault: Vault) -> None:
    for point in ("20260101T000000Z-aa", "20260102T000000Z-ab", "20260102T000000Z-bb"):
        seal(store, point)
    state = read_state(vault)
    assert [point.slot for point in state.points] == [1, 2, 3]
    assert state.find("latest").id == "20260102T000000Z-bb"
    assert state.find("20260101").slot == 1
    for word, fact in (("20260102", "2 points begin with"), ("2027", "no point")):
        with pytest.raises(UsageError, match=fact):
            state.find(word)


def test_a_second_seal_of_one_name_does_not_take_its_place(store: MemoryStore, vault: Vault) -> None:
    first = seal(store, "p1")
    seal(store, "p2")
    put(store, 3, text(3, read_state(vault).head, point="p1"))
    state = read_state(vault)
    assert [point.id for point in state.points] == ["p1", "p2"]
    assert state.find("p1").record == first.body["record"]


def test_the_last_word_of_an_operator_counts(store: MemoryStore, vault: Vault) -> None:
    for point in ("p1", "p2"):
        seal(store, point)
    said = [("forget", ["p1", "p2"]), ("unforget", ["p2"]), ("forget", ["p9"])]
    for kind, points in said:
        append(store, ADMIN_LOG, kind, {"at": "2026-01-01T00:00:00.000000Z", "points": points, "why": ""})
    append(store, LOG, "pin", {"at": "2026-01-01T00:00:00.000000Z", "point": "p2", "why": ""})
    assert [(point.id, point.pinned) for point in read_state(vault).points] == [("p2", True)]


def test_a_log_without_entries_is_no_vault(store: MemoryStore) -> None:
    store.overwrite(VAULT_DOCUMENT, json.dumps({"format": 1, "vault_id": "x", "grace_seconds": 1}).encode())
    with pytest.raises(NoVault, match="its log is empty"):
        read_state(open_vault(store.url, open_store))


def test_junk_among_the_runs_hides_no_run(store: MemoryStore, vault: Vault) -> None:
    run = journal.begin(store, "r1", SystemClock(), verb="backup")
    run.step("end", status="complete")
    store.overwrite("runs/r2/tasks/junk.parquet", b"junk")
    assert [(found.id, found.status) for found in journal.runs(store)] == [("r1", "complete")]
