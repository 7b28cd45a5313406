"""A restore: its plan, and what came of it."""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from bergung.catalogs.location import absolute
from bergung.cli import words
from bergung.cli.calls import counts
from bergung.cli.calls.finding import find_point
from bergung.cli.door import Door
from bergung.cli.options import PLAIN_CONFIRM
from bergung.cli.tables import of_tables, open_any, record_name, shown
from bergung.cli.telling import Grid, Part, Result, error_facts
from bergung.cli.work import at_work, open_vault
from bergung.errors import BergungError, DamageFound, PartialResult, UsageError
from bergung.plan.restore import RestorePlan, TablePlan
from bergung.restore.giving_back import MovedTable, Restored
from bergung.restore.request import PROTECTED_DAYS, RestoreRequest
from bergung.restore.run import RestoreResult, run_restore
from bergung.vault.receipts import MISSING

PLAN_ID = re.compile("[0-9a-f]{12}")


def restore(door: Door, tables: tuple[str, ...], given: Mapping[str, Any]) -> Result:
    """Carry out a plan, or show it."""
    request = _request(tables, given)
    vault = open_vault(door)
    request = replace(request, point=find_point(vault, given["point"], request.words).id)
    with at_work(door, ahead="look") as effects:
        result = run_restore(effects, vault, request, partial(open_any, door.stores))
    if result.restored is None:
        return _planned(result, request, door)
    return _done(result, result.restored)


def _request(tables: tuple[str, ...], given: Mapping[str, Any]) -> RestoreRequest:
    if bool(tables) == given["everything"]:
        fact = "tables are named, and --all too" if tables else "no table is named"
        raise UsageError(fact, "name tables: bergung restore CATALOG.NAMESPACE.TABLE; or every table of the point: --all")
    confirmed = given["confirm"]
    if confirmed not in (None, PLAIN_CONFIRM) and not PLAN_ID.fullmatch(confirmed):
        raise UsageError(f"not the id of a plan: {confirmed}", "look with --dry-run, which prints it; or say --confirm alone")
    return RestoreRequest(
        point="",
        words=tuple(record_name(word) for word in tables),
        allow_prefixes=given["allow_prefixes"],
        trust_size=given["trust"] == "size",
        over=confirmed is not None,
        confirmed_plan=None if confirmed in (None, PLAIN_CONFIRM) else confirmed,
        dry_run=given["dry_run"],
        to=given["to"],
        location=None if given["location"] is None else absolute(given["location"]),
        maps=tuple(_pair(text) for text in given["maps"]),
        new_uuid=None if given["uuid"] is None else given["uuid"] == "new",
        protected_days=given["protected_days"],
    )


def _pair(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not (old and equals and new):
        raise UsageError(f"not a pair of folders: {text}", "write --map OLD=NEW")
    return old, new


def _planned(result: RestoreResult, request: RestoreRequest, door: Door) -> Result:
    parts = list(_plan_parts(result.plan))
    said = result.plan.needs_word()
    parts += [f"needs your word: {sentence}" for sentence in said]
    confirm = f" --confirm={result.token}" if said else ""
    parts.append(f"plan {result.token}; to do it: {_again(request, door)}{confirm}")
    return Result("planned", {**_facts(result), "needs_confirm": said}, parts, tuple(_not_held(result.plan)))


def _again(request: RestoreRequest, door: Door) -> str:
    """The same command without --dry-run."""
    tables = [shlex.quote(shown(word)) for word in request.words] or ["--all"]
    more = [f"--allow-prefix {shlex.quote(prefix)}" for prefix in request.allow_prefixes]
    trust = ["--trust size"] if request.trust_size else []
    return (
        " ".join(["bergung restore", *tables, f"--point {request.point}", *more, *trust, *_elsewhere(request)]) + door.vault_words()
    )


def _elsewhere(request: RestoreRequest) -> Iterator[str]:
    for option, value in (("--to", request.to), ("--location", request.location)):
        if value is not None:
            yield f"{option} {shlex.quote(value)}"
    for old, new in request.maps:
        yield f"--map {shlex.quote(f'{old}={new}')}"
    if request.new_uuid is not None:
        yield f"--uuid {'new' if request.new_uuid else 'keep'}"
    if request.to is not None and request.protected_days != PROTECTED_DAYS:
        yield f"--protect {request.protected_days}"


def _done(result: RestoreResult, restored: Restored) -> Result:
    facts = {
        **_facts(result),
        "done": list(restored.done),
        "damaged": list(restored.damaged),
        "failed": [{"table": name, **error_facts(error)} for name, error in sorted(restored.failed.items())],
        "moved": [_moved_facts(table) for table in restored.moved],
        "written": {"files": restored.totals.moved_files, "bytes": restored.totals.moved_bytes},
    }
    errors = tuple(_errors(result, restored))
    status = "complete" if not errors else "damaged" if any(isinstance(each, DamageFound) for each in errors) else "partial"
    parts = [*_plan_parts(result.plan), *_done_parts(restored)]
    causes = of_tables(sorted(restored.failed.items()))
    return Result(status, facts, parts, errors, causes)


def _facts(result: RestoreResult) -> dict[str, Any]:
    return {
        "run": result.run,
        "point": result.plan.point,
        "plan": result.token,
        "bytes": result.plan.bytes,
        "tables": [_table_facts(table) for table in result.plan.tables],
        "files": list(result.plan.named),
        "not_held": list(result.plan.not_held),
    }


def _table_facts(table: TablePlan) -> dict[str, Any]:
    names = ("absent", "intact", "different", "not_captured", "lost")
    return {
        "table": table.table,
        "metadata_location": table.metadata_location,
        **{name: counts.facts(getattr(table, name)) for name in names},
        "superseded": table.superseded,
        "catalog": table.action.value,
        "current": table.current,
        "to": table.to,
        "location": table.location,
        "moves": [{"from": old, "to": new} for old, new in table.moves],
        "uuid": table.uuid,
    }


def _moved_facts(table: MovedTable) -> dict[str, Any]:
    return {
        "table": table.table,
        "to": table.to,
        "metadata_location": table.metadata_location,
        "protected_until": None if table.protected_until is None else table.protected_until.isoformat(timespec="seconds"),
        "properties": sorted(table.properties),
    }


def _plan_parts(plan: RestorePlan) -> Iterator[Part]:
    yield f"from point {plan.point}"
    head = ("table", "to bring", "intact there", "different there", "lost", "catalog")
    yield Grid(head, [_row(table) for table in plan.tables])
    for table in plan.tables:
        yield from _remarks(table)
    if plan.named:
        yield "different, or lost:"
        yield from counts.named_files(plan.named, sum(table.different.files + table.lost.files for table in plan.tables))


def _remarks(table: TablePlan) -> Iterator[str]:
    name = shown(table.table)
    if table.moves:
        yield f"{name} becomes {shown(table.to)}" + (", a table of its own with a new uuid" if table.uuid else "")
        yield from (f"  {old} → {new}" for old, new in table.moves)
    if table.not_captured.files:
        gone = words.many(table.not_captured.files, "file")
        yield f"{name}: {gone} cannot be brought: gone or of another length, and the point has the metadata only"
    if table.superseded:
        paths = words.many(table.superseded, "path")
        yield f"{name}: the point holds {paths} with other bytes too; what the newest snapshot sees is brought"


def _row(table: TablePlan) -> tuple[str, ...]:
    told = (counts.told(each) for each in (table.absent, table.intact, table.different, table.lost))
    return (shown(table.table), *told, table.action.value)


def _done_parts(restored: Restored) -> Iterator[Part]:
    totals = restored.totals
    if restored.done:
        done = words.many(len(restored.done), "table")
        yield f"restored {done}: {words.many(totals.moved_files, 'file')}, {words.size(totals.moved_bytes)} written"
    for table in restored.moved:
        yield from _moved_parts(table)
    for name in restored.damaged:
        yield f"{shown(name)} is back as far as the point holds it"
    lost = totals.tally.count(MISSING).files
    if lost:
        yield "not brought, since the vault has lost their bytes:"
        yield from counts.named_files((row["path"] for row in totals.tally.named if row["state"] == MISSING), lost)


def _moved_parts(table: MovedTable) -> Iterator[str]:
    name = shown(table.to)
    yield f"{name} has the metadata file {table.metadata_location}"
    if table.protected_until is not None:
        yield f"{name}: until {table.protected_until:%Y-%m-%d %H:%M} UTC tags keep its old snapshots from an expiry"
    for key in sorted(table.properties):
        yield f"{name}: the property {key} still names a folder of the original: {table.properties[key]}"


def _not_held(plan: RestorePlan) -> Iterator[BergungError]:
    """Said in a dry run too: who asked for all must not believe that this is all."""
    for name in plan.not_held:
        fact = f"{shown(name)} is not in point {plan.point}: its backup failed then"
        yield PartialResult(fact, f"an older point may hold it: bergung restore {shlex.quote(shown(name))}")


def _errors(result: RestoreResult, restored: Restored) -> Iterator[BergungError]:
    if restored.damaged:
        names = ", ".join(map(shown, restored.damaged))
        fact = f"the point has lost files of {words.many(len(restored.damaged), 'table')}: {names}"
        look = "verify" if restored.totals.tally.count(MISSING).files else "show"
        yield DamageFound(fact, f"see which: bergung {look} {result.plan.point}; or restore an older point: bergung points")
    yield from _not_held(result.plan)
    if restored.failed:
        names = ", ".join(map(shown, sorted(restored.failed)))
        fact = f"{len(restored.failed)} of {words.many(len(result.plan.tables), 'table')} not restored: {names}"
        yield PartialResult(fact, "mend that and run the same command again: it goes on where it stopped")
