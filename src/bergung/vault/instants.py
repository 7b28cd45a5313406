"""Which point gives a table as it was at an instant. Records and metadata files are read, as few as decide."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bergung.clock import from_text, to_ms
from bergung.errors import DamageFound, UnknownTable
from bergung.iceberg.metadata import read_metadata
from bergung.model.names import TableName, TablePattern, table_pattern
from bergung.model.record import Record, TableEntry
from bergung.plan.history import Found, Gap, History, Span, find, joined, worth_reading
from bergung.stores.digest import read_verified
from bergung.vault.sightings import Seen, Sightings
from bergung.vault.vault import Point, State, Vault

COMPLETE, ALL = "complete", "all"


@dataclass(frozen=True)
class Taken:
    """A table at the instant: its state then, and the point that gives it."""

    name: TableName
    """As the newest point has it."""
    point: Point
    record: Record
    entry: TableEntry
    found: Found


@dataclass(frozen=True)
class Untold:
    """A table of which no point knows what it was then."""

    name: TableName
    gap: Gap
    is_named: bool
    """By its own full name, not by a pattern."""


@dataclass(frozen=True)
class Resolved:
    """The tables that are meant; `renamed` had a name that is meant, and have another by now."""

    taken: tuple[Taken, ...]
    untold: tuple[Untold, ...]
    renamed: tuple[tuple[TableName, TableName], ...]


def resolve(vault: Vault, state: State, words: Sequence[str], at_ms: int, only: Point | None = None) -> Resolved:
    """By all points that are kept, or by one of them; UnknownTable for a word that means nothing in any."""
    sightings = Sightings(vault, state, state.points if only is None else (only,))
    middle = 0 if only else sightings.sealed_from(at_ms)
    patterns = [table_pattern(word) for word in words]
    tables, renamed = _meant(sightings, patterns, middle)
    taken: dict[TableName, Taken] = {}
    untold: dict[TableName, Untold] = {}
    for seen in tables:
        found = _find(sightings, seen, middle, at_ms)
        if isinstance(found, Taken):
            taken[seen.name] = found
        else:
            known = untold.get(seen.name)
            is_named = any((pattern.catalog, *pattern.levels) == _levels(seen.name) for pattern in patterns)
            untold[seen.name] = Untold(seen.name, joined(known.gap, found) if known else found, is_named)
    # Of two that had one name, one after the other, the one that had it then is meant.
    return Resolved(tuple(taken.values()), tuple(each for name, each in untold.items() if name not in taken), renamed)


def _levels(name: TableName) -> tuple[str, ...]:
    return (name.catalog, *name.namespace, name.name)


def _meant(
    sightings: Sightings, patterns: Sequence[TablePattern | None], middle: int
) -> tuple[list[Seen], tuple[tuple[TableName, TableName], ...]]:
    """What the newest point that has any of it holds, and the points around the instant: some tables are gone since."""
    tables: dict[tuple[TableName, str], Seen] = {}
    renamed: dict[TableName, TableName] = {}
    for pattern in patterns or (None,):
        seen_here = list(_matching(sightings, pattern, middle))
        if not seen_here:
            raise UnknownTable(f"no point of this vault holds {pattern or 'a table'}", "see what there is: bergung points")
        others = {seen.name: name for name, seen in seen_here if pattern is not None and not pattern.matches(name)}
        if len(others) == len(seen_here):
            old, new = next(iter(others.items()))
            raise UnknownTable(f"{old} is called {new} by now", f"restore it under that name: bergung restore {new}")
        renamed |= others
        for name, seen in seen_here:
            if seen.name not in others:
                tables.setdefault((name, seen.entry.identity), Seen(name, seen.entry))
    names = {name for name, _ in tables}
    return list(tables.values()), tuple((old, new) for old, new in renamed.items() if new not in names)


def _matching(sightings: Sightings, pattern: TablePattern | None, middle: int) -> Iterator[tuple[TableName, Seen]]:
    """Tables with their newest names, as the newest point has them first."""
    places = range(len(sightings.points))
    newest = next((place for place in reversed(places) if sightings.matching(place, pattern)), middle)
    around = {newest, middle, middle - 1}.intersection(places)
    for place in sorted(around, reverse=True):
        for seen in sightings.matching(place, pattern):
            yield sightings.newest_name(seen), seen


def _find(sightings: Sightings, table: Seen, middle: int, at_ms: int) -> Taken | Gap:
    there = _spans(sightings, table, middle, at_ms)
    histories: dict[str, History] = {}
    while wanted := [span for span in worth_reading(list(there), at_ms) if span.point not in histories]:
        for span in wanted:
            _, seen = there[span]
            try:
                histories[span.point] = _history(sightings.vault, span, seen.entry)
            except DamageFound:
                # Its metadata file is lost: another point must do, and verify names this one.
                del there[span]
    found = find(list(histories.values()), at_ms)
    if isinstance(found, Gap):
        return found
    place, seen = next(each for span, each in there.items() if span.point == found.point)
    record = sightings.record(place)
    assert record is not None
    return Taken(table.name, sightings.points[place], record, seen.entry, found)


def _spans(sightings: Sightings, table: Seen, middle: int, at_ms: int) -> dict[Span, tuple[int, Seen]]:
    """From the instant onwards until enough is known of it, and backwards to the last point before."""
    found: dict[Span, tuple[int, Seen]] = {}
    first = sightings.first_place(table)
    for place in range(max(first, middle), len(sightings.points)):
        found |= _span(sightings, table, place)
        if _is_enough(found, at_ms):
            break
    for place in reversed(range(first, middle)):
        before = _span(sightings, table, place)
        found |= before
        if any(span.is_usable for span in before):
            break
    return found


def _is_enough(spans: Mapping[Span, object], at_ms: int) -> bool:
    able = [span for span in spans if span.holds(at_ms)]
    return any(span.is_usable and span.since_ms > at_ms for span in spans) or (
        len(able) > 1 and any(span.is_whole for span in able)
    )


def _span(sightings: Sightings, table: Seen, place: int) -> dict[Span, tuple[int, Seen]]:
    seen = sightings.again(table, place)
    if seen is None:
        return {}
    since, until = (to_ms(from_text(seen.entry.answers[name])) for name in ("from", "to"))
    whole = seen.entry.status == COMPLETE and seen.entry.captured == ALL
    return {Span(sightings.points[place].id, since, until, whole): (place, seen)}


def _history(vault: Vault, span: Span, entry: TableEntry) -> History:
    key = entry.location + entry.metadata_file.blob_key
    metadata = read_metadata(read_verified(vault.store, key, entry.metadata_file.digest), entry.metadata_location)
    return History(span, metadata.states())
