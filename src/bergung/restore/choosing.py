"""Which tables of a point are wanted."""

from collections.abc import Iterable, Mapping, Sequence

from bergung.errors import UnknownTable
from bergung.model.names import TableName, name_in_record, table_pattern
from bergung.model.record import TableEntry


def choose(tables: Mapping[str, TableEntry], words: Sequence[str]) -> dict[TableName, TableEntry]:
    """All tables, or those that the words mean; a word that matches nothing is UnknownTable."""
    named = {name_in_record(key): entry for key, entry in tables.items()}
    if not words:
        return named
    chosen: dict[TableName, TableEntry] = {}
    for word in words:
        pattern = table_pattern(word)
        found = {table: entry for table, entry in named.items() if pattern.matches(table)}
        if not found:
            known = ", ".join(str(table) for table in list(named)[:3])
            raise UnknownTable(f"nothing in this point matches {word}", f"it holds {len(named)} tables: {known}…")
        chosen |= found
    return chosen


def not_held(failed: Iterable[str], words: Sequence[str]) -> tuple[str, ...]:
    """Tables that are meant too and are not in the point, since their backup failed."""
    patterns = [table_pattern(word) for word in words]
    return tuple(key for key in sorted(failed) if not patterns or any(each.matches(name_in_record(key)) for each in patterns))
