"""Names of tables, and patterns that mean several of them."""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from bergung.errors import UsageError

_LEVEL = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
_PLAIN = re.compile(r"[^.`]+")


@dataclass(frozen=True, order=True)
class TableName:
    """`catalog.namespace.table`; a namespace is a list of levels, so `a.b` is not (a, b)."""

    catalog: str
    namespace: tuple[str, ...]
    name: str

    def __str__(self) -> str:
        return join_levels((self.catalog, *self.namespace, self.name))


@dataclass(frozen=True)
class TablePattern:
    """What a user typed: a table, a namespace, or a pattern with `*` and `?` in its levels."""

    catalog: str
    levels: tuple[str, ...]

    def matches(self, table: TableName) -> bool:
        """True for a table of that name, or one in that namespace or below it."""
        if table.catalog != self.catalog:
            return False
        own = (*table.namespace, table.name)
        if len(own) < len(self.levels):
            return False
        return all(fnmatchcase(level, _glob(wanted)) for level, wanted in zip(own, self.levels, strict=False))

    def __str__(self) -> str:
        return join_levels((self.catalog, *self.levels))


def _glob(level: str) -> str:
    """Only `*` and `?` mean something: fnmatch's `[` must stay a letter."""
    return level.replace("[", "[[]")


def split_levels(text: str) -> tuple[str, ...]:
    """Split on dots; a level in backticks keeps its dots, a doubled backtick is one."""
    levels: list[str] = []
    position = 0
    while True:
        match = _LEVEL.match(text, position)
        if match is None:
            raise UsageError(f"not a table name: {text!r}", "write catalog.namespace.table; put backticks around dots")
        quoted, plain = match.groups()
        levels.append(plain if quoted is None else quoted.replace("``", "`"))
        position = match.end()
        if position == len(text):
            return tuple(levels)
        if text[position] != ".":
            raise UsageError(f"not a table name: {text!r}", "write catalog.namespace.table; put backticks around dots")
        position += 1


def join_levels(levels: tuple[str, ...]) -> str:
    """The text that `split_levels` reads back as these levels."""
    return ".".join(level if _PLAIN.fullmatch(level) else "`" + level.replace("`", "``") + "`" for level in levels)


def name_in_record(key: str) -> TableName:
    """The name behind a record's key; a table without catalog has no namespace either."""
    catalog, *namespace, name = split_levels(key)
    return TableName(catalog, tuple(namespace), name)


def table_name(text: str) -> TableName:
    """Read `catalog.namespace.table`."""
    levels = split_levels(text)
    if len(levels) < 3:
        raise UsageError(f"not a full table name: {text!r}", "write catalog.namespace.table")
    return TableName(levels[0], levels[1:-1], levels[-1])


def table_pattern(text: str) -> TablePattern:
    """Read a table, a namespace or a pattern; a catalog alone means all its tables."""
    catalog, *levels = split_levels(text)
    return TablePattern(catalog, tuple(levels))
