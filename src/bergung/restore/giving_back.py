"""Doing what was planned: files first, the metadata file after them, the catalog's entry last."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bergung.carry.effects import Effects
from bergung.carry.giving import give
from bergung.carry.moving import give_there
from bergung.carry.relocating import make_manifests
from bergung.carry.rows import error_of
from bergung.carry.waves import Totals, run_waves
from bergung.catalogs.base import Namespace
from bergung.errors import BergungError, DamageFound, MissingObject, Refused
from bergung.iceberg.paths import is_local, normal
from bergung.model.names import join_levels
from bergung.model.record import Record
from bergung.plan.restore import CatalogAction, TablePlan
from bergung.restore.elsewhere import new_metadata, write_metadata
from bergung.restore.planning import Planned, Target, current
from bergung.stores.base import OpenStore
from bergung.stores.local import LocalStore
from bergung.vault.receipts import DAMAGED, MISSING


@dataclass(frozen=True)
class MovedTable:
    """A table that got other paths."""

    table: str
    to: str
    metadata_location: str
    protected_until: datetime | None
    """So long its tags keep what came back."""
    properties: Mapping[str, str]
    """Those that still hold a path below a folder that moved."""


@dataclass(frozen=True)
class Restored:
    """What a restore did."""

    totals: Totals
    done: tuple[str, ...]
    """Tables that are whole again, and known to their catalog."""
    damaged: tuple[str, ...]
    """Tables that are back as far as the point holds them."""
    failed: dict[str, BergungError]
    moved: tuple[MovedTable, ...] = ()
    """Those that got other paths."""


def give_back(effects: Effects, planned: Planned, record: Record) -> Restored:
    """Carry what is not there; then finish table by table, so that one that fails does not stop the others."""
    totals = run_waves(effects, planned.job, give_there, planned.slices)
    made = make_manifests(effects, planned.job, planned.named, planned.slices)
    totals.merge(made)
    lost = {target.root.number for target in planned.targets if target.root.entry.status == DAMAGED}
    lost |= {number for number, states in totals.tally.counts.items() if MISSING in states}
    failed: dict[str, BergungError] = {}
    done: list[str] = []
    damaged: list[str] = []
    moved: list[MovedTable] = []
    for target, plan in zip(planned.targets, planned.plan.tables, strict=True):
        try:
            if target.root.number not in lost:
                _require_sight(planned, target)
            if target.destination.moves is None:
                brought = _finish(planned, record, target, plan)
            else:
                _refuse_unmade(target, made)
                entered, brought = _finish_elsewhere(effects, planned, record, target)
                moved.append(entered)
        except BergungError as error:
            failed[plan.table] = error
            continue
        totals.moved_files += brought is not None
        totals.moved_bytes += brought or 0
        (damaged if target.root.number in lost else done).append(plan.table)
    return Restored(totals, tuple(done), tuple(damaged), failed, tuple(moved))


def _finish(planned: Planned, record: Record, target: Target, plan: TablePlan) -> int | None:
    """The bytes of the metadata file, where it had to be brought."""
    outcome = give(planned.job, [target.metadata_row])
    if outcome.rows[0]["error"] is not None:
        raise error_of(outcome.rows[0]["error"])
    if outcome.durable is not None:
        store, key = outcome.durable
        store.make_durable([key])
    if plan.action == CatalogAction.REGISTER:
        _make_namespaces(record, target)
        target.catalog.register(target.name, plan.metadata_location)
    elif plan.action == CatalogAction.REPLACE:
        _replace(target, plan)
    return outcome.moved_bytes


def _refuse_unmade(target: Target, made: Totals) -> None:
    if made.tally.count(MISSING, [target.root.number]).files:
        raise DamageFound(f"the vault has lost manifests of {target.name}", "restore an older point: bergung points")


def _finish_elsewhere(effects: Effects, planned: Planned, record: Record, target: Target) -> tuple[MovedTable, int | None]:
    """The same for a table whose metadata file is made anew."""
    now, days = effects.clock.now(), planned.protected_days
    made = new_metadata(planned.job, target.root, now, days)
    written = write_metadata(planned.job, target.root, made)
    to = target.destination.name
    if to.namespace:
        _make_namespaces(record, target)
        target.catalog.register(to, made.path)
    until = now + timedelta(days=days) if days else None
    return MovedTable(str(target.name), str(to), made.path, until, made.moved.properties), written


def _replace(target: Target, plan: TablePlan) -> None:
    """An entry that could not be read before may name a file that came back: then it is right already."""
    expected = plan.current or current(target.catalog, target.name) or ""
    if normal(expected) != normal(plan.metadata_location):
        target.catalog.replace(target.name, plan.metadata_location, expected=expected)


def _require_sight(planned: Planned, target: Target) -> None:
    """Executors may have brought files to folders of their own machines; a store that is no folder is the same for all."""
    newest = target.root.metadata.current_snapshot
    if newest is None or newest.manifest_list is None:
        return
    store, key = planned.job.at(target.root.number, newest.manifest_list)
    if not store.url.startswith("file:"):
        return
    try:
        store.head(key)
    except MissingObject as error:
        fact = f"{newest.manifest_list} is not here though it was brought: executors have other folders under the same names"
        raise Refused(fact, "restore to a store that all reach, or with --engine process") from error


def _make_namespaces(record: Record, target: Target) -> None:
    """With the properties that the point knows, parents first."""
    own, levels = target.name, target.destination.name.namespace
    for depth in range(1, len(levels) + 1):
        same_depth = join_levels((own.catalog, *own.namespace[:depth]))
        properties = record.namespaces.get(same_depth, {}) if len(levels) == len(own.namespace) else {}
        if target.destination.moves is not None:
            # The location says where new tables go; here they go elsewhere. A namespace that is a folder keeps none at all.
            is_folder = target.catalog.home(target.destination.name) is not None
            properties = {} if is_folder else {key: value for key, value in properties.items() if key != "location"}
        target.catalog.create_namespace(Namespace(levels[:depth], properties))


def sweep_left_behind(open_store: OpenStore, folders: Iterable[str], before: datetime) -> None:
    """Hidden, unfinished files that a restore left which was killed before this one began; object stores have none."""
    for folder in folders:
        if is_local(folder):
            store = open_store(folder)
            if isinstance(store, LocalStore):
                store.sweep_partials(before)
