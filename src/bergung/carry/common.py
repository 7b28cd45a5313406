"""The columns that two tables have in common, nested ones too: what rows of both can be compared by."""

from collections.abc import Iterator
from dataclasses import replace

from bergung.carry.fields import Field

Fields = tuple[Field, ...]


def in_common(a: Fields, b: Fields, *, by_name: bool = False) -> tuple[Fields, Fields]:
    """The same columns as the one and as the other table calls them; both enter a fingerprint as the same.

    They are found by Iceberg's field ids, or by their names alone: then the other table's get the ids of the one.
    """
    pairs = list(_members(a, b, by_name))
    return tuple(one for one, _ in pairs), tuple(other for _, other in pairs)


def _members(a: Fields, b: Fields, by_name: bool) -> Iterator[tuple[Field, Field]]:
    others = {other.name if by_name else other.id: other for other in b}
    for one in a:
        other = others.get(one.name if by_name else one.id)
        if other is not None:
            yield from _pair(one, other, by_name)


def _pair(one: Field, other: Field, by_name: bool) -> Iterator[tuple[Field, Field]]:
    """Nothing where the values of the two cannot be equal."""
    if one.kind != other.kind:
        return
    pairs = list(_members(one.children, other.children, by_name))
    if _is_whole(one, pairs):
        ours, theirs = ((each[side] for each in pairs) for side in (0, 1))
        yield replace(one, children=tuple(ours)), replace(other, id=one.id, children=tuple(theirs))


def _is_whole(field: Field, pairs: list[tuple[Field, Field]]) -> bool:
    """A struct may lack some of its members; a list without its elements, a map without its keys is nothing."""
    if field.kind == "struct":
        return bool(pairs)
    return len(pairs) == len(field.children)


def left_out(all_: Fields, common: Fields, above: str = "") -> Iterator[str]:
    """Names of the columns of one table that are not compared, nested ones with dots."""
    kept = {each.name: each for each in common}
    for field in all_:
        name = f"{above}{field.name}"
        found = kept.get(field.name)
        if found is None:
            yield name
        else:
            yield from left_out(field.children, found.children, f"{name}.")
