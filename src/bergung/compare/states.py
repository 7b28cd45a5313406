"""Which states of the two tables are held against each other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bergung.clock import from_ms, to_ms, to_text
from bergung.compare.request import CompareRequest
from bergung.compare.sides import Side
from bergung.errors import DamageFound, Refused, UsageError
from bergung.iceberg.snapshots import Snapshot
from bergung.plan.history import History, Span


@dataclass(frozen=True)
class State:
    """A table as it is now, or as a snapshot had it."""

    snapshot_id: int | None
    """None where there is no snapshot yet."""
    schema: Mapping[str, Any]
    is_now: bool = False


@dataclass(frozen=True)
class States:
    """Pairs that are compared, and the snapshots that only one table has, where all were asked for."""

    pairs: tuple[tuple[State, State], ...]
    only_a: tuple[int, ...] = ()
    only_b: tuple[int, ...] = ()


def choose_states(request: CompareRequest, a: Side, b: Side) -> States:
    """UsageError for a snapshot that is not there, Refused for a time that the table's history does not reach."""
    if request.every_snapshot:
        return _every(a, b)
    if request.at_ms is not None:
        return States(((_at(a, request.at_ms), _at(b, request.at_ms)),))
    return States(((_named(a, request.snapshot_a), _named(b, request.snapshot_b)),))


def _every(a: Side, b: Side) -> States:
    ours, theirs = ({each.snapshot_id: each for each in side.metadata.snapshots} for side in (a, b))
    common = sorted(ours.keys() & theirs.keys(), key=lambda id_: (ours[id_].timestamp_ms, id_))
    if not common:
        fact = f"{a.word} and {b.word} have no snapshot in common"
        raise UsageError(fact, "leave out --snapshots to compare them as they are now")
    pairs = tuple((_of(a, ours[id_]), _of(b, theirs[id_])) for id_ in common)
    return States(pairs, tuple(sorted(ours.keys() - theirs.keys())), tuple(sorted(theirs.keys() - ours.keys())))


def _named(side: Side, word: str | None) -> State:
    if word is None:
        return State(side.metadata.current_snapshot_id, side.metadata.schema, is_now=True)
    ref = side.metadata.refs.get(word)
    wanted = int(word) if word.isdecimal() else None
    for snapshot in side.metadata.snapshots:
        if snapshot.snapshot_id == wanted:
            return _of(side, snapshot)
    if ref is None:
        raise UsageError(f"{side.word} has no snapshot, branch or tag {word}", _known(side))
    return _of(side, _snapshot(side, ref.snapshot_id))


def _at(side: Side, at_ms: int) -> State:
    """By the table's own log, as far back as no entry of it can be missing, until the pointer was read."""
    since, until = side.metadata.answers(), to_ms(side.read_at)
    found = History(Span(side.word, since, until), side.metadata.states()).at(at_ms)
    if found is None:
        fact = f"what {side.word} held at {to_text(from_ms(at_ms))} is not known"
        hint = (
            f"name a time from {to_text(from_ms(since))} to {to_text(from_ms(until))}; or restore an older point and compare that"
        )
        raise Refused(fact, hint)
    return _named(side, None) if found.snapshot_id is None else _of(side, _snapshot(side, found.snapshot_id))


def _snapshot(side: Side, id_: int) -> Snapshot:
    found = next((each for each in side.metadata.snapshots if each.snapshot_id == id_), None)
    if found is None:
        raise DamageFound(f"{side.word} names snapshot {id_}, which its metadata file does not hold", _known(side))
    return found


def _of(side: Side, snapshot: Snapshot) -> State:
    """Old writers named no schema: readers take the table's own."""
    if snapshot.schema_id is None:
        return State(snapshot.snapshot_id, side.metadata.schema)
    schema = next((each for each in side.metadata.schemas if each.get("schema-id", 0) == snapshot.schema_id), None)
    if schema is None:
        fact = f"the metadata file of {side.word} does not hold schema {snapshot.schema_id} of snapshot {snapshot.snapshot_id}"
        raise DamageFound(fact, "compare other snapshots, or the table as it is now")
    return State(snapshot.snapshot_id, schema)


def _known(side: Side) -> str:
    ids = [each.snapshot_id for each in sorted(side.metadata.snapshots, key=lambda each: each.timestamp_ms)]
    refs = ", ".join(sorted(side.metadata.refs)) or "none"
    newest = f", the newest are {', '.join(map(str, ids[-3:]))}" if ids else ""
    return f"it has {len(ids)} snapshots{newest}; branches and tags: {refs}"
