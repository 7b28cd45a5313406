"""What a backup would do, in words."""

from collections.abc import Iterator
from typing import Any

from bergung.cli import words
from bergung.cli.tables import shown
from bergung.cli.telling import Grid, Part, Result
from bergung.errors import BergungError, PartialResult
from bergung.plan.backup import BackupPlan, TablePlan
from bergung.plan.token import token_of


def planned(plan: BackupPlan, again: str) -> Result:
    """`again` is the command that does it."""
    facts = {
        "plan": token_of(plan),
        "at": plan.cut_at,
        "tables": [_facts(table) for table in plan.tables],
        "failed": [{"table": name, "message": message} for name, message in sorted(plan.failed.items())],
    }
    return Result("planned", facts, list(_parts(plan, again)), tuple(_errors(plan)))


def _facts(table: TablePlan) -> dict[str, Any]:
    return {
        "table": table.table,
        "metadata_location": table.metadata_location,
        "cut": table.cut,
        "changed": table.changed,
        "new_snapshots": table.new_snapshots,
        "new_files": table.new_files,
        "new_bytes": table.new_bytes,
        "prefixes": list(table.prefixes),
    }


def _parts(plan: BackupPlan, again: str) -> Iterator[Part]:
    changed = [table for table in plan.tables if table.changed]
    if changed:
        head = ("table", "new snapshots", "new files", "new bytes", "reads below")
        yield Grid(head, [_row(table) for table in changed], frozenset({1, 2, 3}))
    if len(changed) < len(plan.tables):
        yield f"{words.many(len(plan.tables) - len(changed), 'table')} unchanged"
    yield f"plan {token_of(plan)}; to do it: {again}"


def _row(table: TablePlan) -> tuple[str, ...]:
    new_bytes = "-" if table.new_bytes is None else words.size(table.new_bytes)
    snapshots, files = words.number(table.new_snapshots), words.number(table.new_files)
    return shown(table.table), snapshots, files, new_bytes, ", ".join(table.prefixes)


def _errors(plan: BackupPlan) -> Iterator[BergungError]:
    for name, message in sorted(plan.failed.items()):
        kind = PartialResult if plan.tables else BergungError
        yield kind(f"{shown(name)}: {message}", "look at the table with the engine that writes it")
