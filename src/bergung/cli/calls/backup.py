"""A backup, and what it came to."""

import shlex
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from bergung.backup.planning import plan_backup
from bergung.backup.request import ALL, METADATA, BackupRequest
from bergung.backup.run import BackupResult, run_backup
from bergung.backup.served import ONLY
from bergung.carry.effects import Effects, here
from bergung.catalogs.location import LocationCatalog
from bergung.catalogs.select import Selected, select_tables
from bergung.catalogs.settings import open_catalog
from bergung.cli import words
from bergung.cli.calls import counts
from bergung.cli.calls.backup_plan import planned
from bergung.cli.door import Door
from bergung.cli.tables import of_tables, shown
from bergung.cli.telling import Grid, Part, Result, error_facts
from bergung.cli.work import at_work, open_vault
from bergung.errors import BergungError, DamageFound, PartialResult
from bergung.model.record import TableEntry

COMPLETE, LATER = "complete", "later"


def backup(door: Door, given: Mapping[str, Any]) -> Result:
    """Make a point, or say what would go into it."""
    request = _request(given)
    vault = open_vault(door)
    selected = _selected(door, request)
    if given["dry_run"]:
        effects = Effects(engine=here, open_store=door.stores)
        return planned(plan_backup(effects, vault, request, selected), _again(request, door))
    # Spark takes seconds to open: begun at the first changed table, when there will be data to carry.
    with at_work(door, ahead=None if request.captured == METADATA else "survey") as effects:
        started = effects.clock.monotonic()
        result = run_backup(effects, vault, request, selected)
        took = effects.clock.monotonic() - started
    return Result(
        status=result.record.backup_metadata.status,
        facts=_facts(result, door),
        parts=list(_parts(result, door, took)),
        errors=tuple(_errors(result, len(selected), door)),
        causes=of_tables(sorted(result.failed.items())),
    )


def _selected(door: Door, request: BackupRequest) -> list[Selected]:
    openers = partial(open_catalog, open_store=door.stores), partial(LocationCatalog, open_store=door.stores)
    return select_tables(list(request.words), list(request.exclude), *openers)


def _request(given: Mapping[str, Any]) -> BackupRequest:
    return BackupRequest(
        words=given["tables"],
        exclude=given["exclude"],
        allow_prefixes=given["allow_prefixes"],
        captured=METADATA if given["metadata_only"] else ALL,
        keep_days=words.to_days(given["keep"]) if given["keep"] else None,
        lock_days=words.to_days(given["lock"]) if given["lock"] else None,
    )


def _again(request: BackupRequest, door: Door) -> str:
    """The same command without --dry-run."""
    said = [shlex.quote(word) for word in request.words]
    said += [f"--exclude {shlex.quote(word)}" for word in request.exclude]
    said += [f"--allow-prefix {shlex.quote(prefix)}" for prefix in request.allow_prefixes]
    said += ["--metadata-only"] if request.captured == METADATA else []
    said += [f"--keep {request.keep_days}d"] if request.keep_days else []
    said += [f"--lock {request.lock_days}d"] if request.lock_days else []
    return " ".join(["bergung backup", *said]) + door.vault_words()


def _facts(result: BackupResult, door: Door) -> dict[str, Any]:
    metadata, statistics = result.record.backup_metadata, result.record.statistics
    return {
        "point": metadata.backup_id,
        "run": result.run,
        "head": result.head,
        "at": metadata.cut.at,
        "backup_type": metadata.backup_type,
        "base": metadata.base_backup_id,
        "tables": [_table_facts(name, entry) for name, entry in result.record.tables.items()],
        "failed": [{"table": name, **error_facts(error)} for name, error in sorted(result.failed.items())],
        "unchanged": sum(not entry.changed for entry in result.record.tables.values()),
        "new_files": statistics.new_file_count,
        "new_bytes": statistics.new_size_bytes,
        "stored_bytes": statistics.stored_bytes,
        "restore": _restore_command(result, door),
    }


def _table_facts(name: str, entry: TableEntry) -> dict[str, Any]:
    return {
        "table": name,
        "status": entry.status,
        "changed": entry.changed,
        "cut": entry.cut,
        "captured": entry.captured,
        "metadata_location": entry.metadata_location,
        "snapshot_id": entry.snapshot_id,
        "new_files": {kind: counts.facts(count) for kind, count in entry.new_files.items()},
        "total_rows": entry.total_rows,
        "answers": entry.answers,
        "locked_until": entry.locked_until,
        "missing": counts.missing_facts(entry),
        "noted": list(entry.noted),
        "encrypted": entry.encrypted,
        "served": entry.served,
    }


def _parts(result: BackupResult, door: Door, took: float) -> Iterator[Part]:
    metadata, tables = result.record.backup_metadata, result.record.tables
    at = words.time(metadata.cut.at)
    yield f"point {metadata.backup_id} is {metadata.status}, as of {at} UTC (in {words.seconds(took)})"
    changed = {name: entry for name, entry in tables.items() if entry.changed}
    if changed:
        yield _grid(changed)
    if len(changed) < len(tables):
        yield f"{words.many(len(tables) - len(changed), 'table')} unchanged"
    for name, entry in tables.items():
        yield from _remarks(name, entry)
    locked = [entry.locked_until for entry in tables.values() if entry.locked_until]
    if len(locked) == len(tables):
        yield f"locked until {words.time(min(locked))} UTC"
    yield f"head {result.head}"
    yield f"restore with: {_restore_command(result, door)}"


def _grid(changed: Mapping[str, TableEntry]) -> Grid:
    rows = []
    for name, entry in changed.items():
        new = counts.both(entry.new_files)
        rows.append((shown(name), entry.status, words.number(new.files), words.size(new.bytes), words.number(entry.total_rows)))
    return Grid(("table", "status", "new files", "new bytes", "rows"), rows, frozenset({2, 3, 4}))


def _remarks(name: str, entry: TableEntry) -> Iterator[str]:
    if entry.cut == LATER:
        yield f"{shown(name)} was taken later, at {words.time(entry.located_at)}: its files vanished while they were read"
    if entry.encrypted:
        yield f"{shown(name)} is encrypted with table keys: all that lies below its folders is captured; keep its keys elsewhere"
    if entry.served is not None:
        why = "names no metadata file" if entry.served == ONLY else "gives out other metadata than the file that it names"
        yield f"{shown(name)}: the catalog {why}; what engines get from it is captured"
    if entry.noted:
        lost = words.many(len(entry.noted), "file")
        yield f"{shown(name)} has lost {lost} of statistics or older metadata; every snapshot reads the same without"
    if entry.missing.count:
        yield f"{shown(name)} has lost {words.many(entry.missing.count, 'file')}:"
        yield from counts.named_files(entry.missing.files, entry.missing.count)


def _errors(result: BackupResult, wanted: int, door: Door) -> Iterator[BergungError]:
    point = result.record.backup_metadata.backup_id
    damaged = [shown(name) for name, entry in result.record.tables.items() if entry.status != COMPLETE]
    if damaged:
        fact = f"{words.many(len(damaged), 'table')} lost files before this backup: {', '.join(damaged)}"
        yield DamageFound(fact, f"an older point may have them: bergung points {damaged[0]}{door.vault_words()}")
    if result.failed:
        names = ", ".join(shown(name) for name in sorted(result.failed))
        again = "mend that and back up again; what the vault has is not copied again"
        yield PartialResult(f"{len(result.failed)} of {words.many(wanted, 'table')} not in point {point}: {names}", again)


def _restore_command(result: BackupResult, door: Door) -> str:
    return f"bergung restore --all --point {result.record.backup_metadata.backup_id}{door.vault_words()}"
