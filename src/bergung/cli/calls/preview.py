"""The snapshots and schemas of one table in a point."""

from collections.abc import Iterator, Sequence
from typing import Any

from bergung.cli import words
from bergung.cli.calls.finding import one_table
from bergung.cli.door import Door
from bergung.cli.tables import shown
from bergung.cli.telling import Grid, Part, Result
from bergung.cli.work import open_vault
from bergung.upkeep import showing
from bergung.upkeep.showing import Column, SnapshotFacts
from bergung.vault.vault import read_record, read_state


def preview(door: Door, wanted: str, word: str) -> Result:
    """Nothing but the vault is asked."""
    vault = open_vault(door)
    point = read_state(vault).find(wanted)
    name, entry = one_table(read_record(vault, point), word)
    snapshots = showing.preview(vault, entry)
    schemas = {snapshot.schema_id: snapshot.schema for snapshot in snapshots}
    facts = {
        "point": point.id,
        "table": name,
        "snapshots": [_facts(snapshot) for snapshot in snapshots],
        "schemas": [{"schema_id": id_, "columns": [_column_facts(each) for each in schemas[id_]]} for id_ in sorted(schemas)],
    }
    return Result(entry.status, facts, list(_parts(f"{shown(name)} in point {point.id}", snapshots)))


def _facts(snapshot: SnapshotFacts) -> dict[str, Any]:
    return {
        "snapshot_id": snapshot.snapshot_id,
        "parent_id": snapshot.parent_id,
        "at": snapshot.at,
        "operation": snapshot.operation,
        "rows": snapshot.rows,
        "files": snapshot.files,
        "bytes": snapshot.bytes,
        "schema_id": snapshot.schema_id,
        "current": snapshot.is_current,
        "refs": list(snapshot.refs),
    }


def _column_facts(column: Column) -> dict[str, Any]:
    return {"id": column.id, "name": column.name, "type": column.type, "required": column.required}


def _parts(title: str, snapshots: Sequence[SnapshotFacts]) -> Iterator[Part]:
    yield title
    if not snapshots:
        yield "it has no snapshots"
        return
    head = ("snapshot", "at (UTC)", "operation", "rows", "files", "bytes", "schema", "parent", "refs")
    yield Grid(head, [_row(snapshot) for snapshot in snapshots], frozenset({0, 3, 4, 5, 6, 7}))
    for id_, columns in sorted({snapshot.schema_id: snapshot.schema for snapshot in snapshots}.items()):
        yield ""
        yield f"schema {id_}"
        rows = [(column.name, column.type, "required" if column.required else "") for column in columns]
        yield Grid(("column", "type", ""), rows)


def _row(snapshot: SnapshotFacts) -> tuple[str, ...]:
    return (
        str(snapshot.snapshot_id),
        words.time(snapshot.at),
        snapshot.operation or "-",
        words.number(snapshot.rows),
        words.number(snapshot.files),
        "-" if snapshot.bytes is None else words.size(snapshot.bytes),
        str(snapshot.schema_id),
        "-" if snapshot.parent_id is None else str(snapshot.parent_id),
        ", ".join((*snapshot.refs, *(("current",) if snapshot.is_current and "main" not in snapshot.refs else ()))),
    )
