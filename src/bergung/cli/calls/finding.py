"""Which point, and which of its tables, the words of a user mean."""

from collections.abc import Sequence

from bergung.cli.tables import record_name
from bergung.errors import DamageFound, UnknownTable, UsageError
from bergung.model.names import TableName
from bergung.model.record import Record, TableEntry
from bergung.restore.choosing import choose
from bergung.vault.vault import Point, Vault, read_record, read_state


def meant(record: Record, words: Sequence[str]) -> dict[TableName, TableEntry]:
    """The tables of a record that the words mean, all without words; none where one of them means nothing."""
    try:
        return choose(record.tables, [record_name(word) for word in words])
    except UnknownTable:
        return {}


def one_table(record: Record, word: str) -> tuple[str, TableEntry]:
    """The only table that the word means."""
    found = choose(record.tables, [record_name(word)])
    if len(found) > 1:
        names = ", ".join(str(name) for name in list(found)[:3])
        raise UsageError(f"{word} means {len(found)} tables: {names}…", "name one of them")
    name, entry = next(iter(found.items()))
    return str(name), entry


def find_point(vault: Vault, wanted: str | None, words: Sequence[str]) -> Point:
    """By its id; without one the newest that holds all that the words mean."""
    state = read_state(vault)
    if wanted is not None:
        return state.find(wanted)
    if not state.points:
        raise UsageError("there is no point in this vault yet", "make one: bergung backup CATALOG.NAMESPACE.TABLE")
    return next((point for point in reversed(state.points) if _holds(vault, point, words)), state.points[-1])


def _holds(vault: Vault, point: Point, words: Sequence[str]) -> bool:
    try:
        return bool(meant(read_record(vault, point), words))
    except DamageFound:
        # A lost record holds nothing any more; verify names it.
        return False
