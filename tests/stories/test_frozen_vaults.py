"""Vaults of formats that were released open for ever: they verify, and give back every byte."""

import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from bergung.carry.effects import Effects, here
from bergung.catalogs.base import Catalog
from bergung.catalogs.sql import SqlCatalog
from bergung.catalogs.sqlite import Database
from bergung.clock import SystemClock
from bergung.model.names import TableName
from bergung.plan.restore import TablePlan
from bergung.restore.request import RestoreRequest
from bergung.restore.run import run_restore
from bergung.stores.memory import MemoryStore
from bergung.stores.open import open_store
from bergung.upkeep.verify import VerifyRequest, run_verify
from bergung.vault.vault import Vault, open_vault, read_record, read_state
from tests.faults.lake import contents

FIXTURES = Path(__file__).parents[1] / "fixtures"
NAMES = ["vault-1"]


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def known(name: str) -> dict[str, Any]:
    """What its makers wrote down of it."""
    found: dict[str, Any] = json.loads((FIXTURES / f"{name}.json").read_text())
    return found


@pytest.fixture
def vault(name: str, tmp_path: Path) -> Vault:
    """A copy, since every run writes its journal."""
    shutil.copytree(FIXTURES / name, tmp_path / "vault")
    return open_vault(f"file://{tmp_path}/vault", open_store)


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    (tmp_path / "catalog.db").touch()
    return SqlCatalog("lake", Database(tmp_path / "catalog.db"), SystemClock())


def test_every_one_is_tried() -> None:
    assert sorted(path.name for path in FIXTURES.glob("vault-*") if path.is_dir()) == NAMES


def test_its_points_are_there_and_whole(vault: Vault, known: dict[str, Any]) -> None:
    state = read_state(vault)
    assert [point.id for point in state.points] == list(known["points"])
    assert state.points[-1].pinned
    seen = run_verify(Effects(engine=here), vault, VerifyRequest())
    assert (seen.damages, seen.points, list(seen.void_slots)) == ((), 2, known["void_slots"])
    assert seen.head == known["head"]
    assert seen.checked.files == seen.read.files > 20


def test_its_records_tell_what_they_told(vault: Vault) -> None:
    first, second = (read_record(vault, point) for point in read_state(vault).points)
    assert [record.backup_metadata.backup_type for record in (first, second)] == ["full", "incremental"]
    assert first.namespaces == second.namespaces == {"lake.sales": {"owner": "shop"}}
    assert {table: entry.changed for table, entry in second.tables.items()} == {
        "lake.sales.calm": False,
        "lake.sales.notes": True,
        "lake.sales.orders": True,
    }
    notes = second.tables["lake.sales.notes"]
    assert (notes.uuid, notes.status, [path.rpartition("-")[2] for path in notes.noted]) == (None, "complete", ["table.stats"])
    assert {entry.table_format_version for entry in second.tables.values()} == {1, 2, 3}


@pytest.mark.parametrize("which", [0, 1])
def test_every_byte_comes_back(vault: Vault, known: dict[str, Any], catalog: Catalog, which: int) -> None:
    point = list(known["points"])[which]
    target = MemoryStore(known["source"].removeprefix("memory://"))
    request = RestoreRequest(point, allow_prefixes=(f"{known['source']}/elsewhere/of orders",))
    result = run_restore(Effects(engine=here), vault, request, lambda name: catalog)
    assert result.restored is not None and len(result.restored.done) == 3
    wanted = known["points"][point]
    assert {key: sha256(content).hexdigest() for key, content in contents(target).items()} == wanted["files"]
    names = {table: TableName("lake", ("sales",), table) for table in wanted["pointers"]}
    assert {table: catalog.locate(name).metadata_location for table, name in names.items()} == wanted["pointers"]
    assert _superseded(result.plan.tables) == which


def _superseded(plans: tuple[TablePlan, ...]) -> int:
    """Of a name that was used twice the newest snapshot's bytes come back; the other content stays in the vault."""
    return sum(plan.superseded for plan in plans)
