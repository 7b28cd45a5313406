"""What of two tables' schemas, partitioning and sort orders is not the same; comments do not count."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bergung.iceberg.definition import Definition, Part

Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Difference:
    """One thing as the one table and as the other has it; None where it has nothing of the kind."""

    what: str
    a: str | None
    b: str | None


@dataclass(frozen=True)
class _Column:
    id: int
    path: str
    told: str
    """Type, and what else counts."""


Pair = tuple[_Column, _Column]


def schema_differences(a: Schema, b: Schema, *, by_name: bool = False) -> list[Difference]:
    """Columns, nested ones too, their order, and which of them identify a row."""
    ours, theirs = list(_columns(a)), list(_columns(b))
    matched = _matched(ours, theirs, by_name)
    return [
        *_different_columns(matched, by_name),
        *_single_columns(ours, theirs, matched),
        *_order(matched, theirs),
        *_unequal("identifier fields", _identifiers(a, ours), _identifiers(b, theirs)),
    ]


def definition_differences(
    a: tuple[Definition, Schema], b: tuple[Definition, Schema], *, by_name: bool = False
) -> list[Difference]:
    """Partitioning and sort order; each comes with the schema that it speaks of."""
    found: list[Difference] = []
    for what in ("partitioning", "sort_order"):
        ours, theirs = (_Terms(getattr(definition, what), schema) for definition, schema in (a, b))
        if ours.compared(by_name) != theirs.compared(by_name):
            found.append(Difference(what.replace("_", " "), ours.told(), theirs.told()))
    return found


@dataclass(frozen=True)
class _Terms:
    parts: tuple[Part, ...]
    schema: Schema

    def compared(self, by_name: bool) -> list[tuple[Any, ...]]:
        return [(part.transform, self._names(part) if by_name else part.sources, part.more) for part in self.parts]

    def told(self) -> str | None:
        return ", ".join(f"{self._term(part)} {part.more}" for part in self.parts) or None

    def _term(self, part: Part) -> str:
        names = ", ".join(self._names(part))
        return names if part.transform == "identity" else f"{part.transform}({names})"

    def _names(self, part: Part) -> tuple[str, ...]:
        names = {column.id: column.path for column in _columns(self.schema)}
        # The source of a term that does nothing any more may be gone.
        return tuple(names.get(source, f"field {source}") for source in part.sources)


def _matched(ours: Sequence[_Column], theirs: Sequence[_Column], by_name: bool) -> list[Pair]:
    """By id, and by path what is left then: a column of the same name under another id is told as one difference."""
    by_id = {} if by_name else {each.id: each for each in theirs}
    known = {one.id for one in ours if one.id in by_id}
    by_path = {each.path: each for each in theirs if each.id not in known}
    pairs = ((one, by_id.get(one.id) or by_path.get(one.path)) for one in ours)
    return [(one, other) for one, other in pairs if other is not None]


def _different_columns(matched: Iterable[Pair], by_name: bool) -> Iterator[Difference]:
    for one, other in matched:
        if by_name:
            yield from _unequal("column", f"{one.path} {one.told}", f"{other.path} {other.told}")
        else:
            yield from _unequal("column", _with_id(one), _with_id(other))


def _single_columns(ours: Iterable[_Column], theirs: Iterable[_Column], matched: Sequence[Pair]) -> Iterator[Difference]:
    in_a, in_b = ({pair[side].path for pair in matched} for side in (0, 1))
    yield from (Difference("column", _with_id(one), None) for one in ours if one.path not in in_a)
    yield from (Difference("column", None, _with_id(other)) for other in theirs if other.path not in in_b)


def _order(matched: Sequence[Pair], theirs: Iterable[_Column]) -> Iterator[Difference]:
    """Of the columns that both have."""
    places = {column.path: place for place, column in enumerate(theirs)}
    sorted_as_theirs = sorted(matched, key=lambda pair: places[pair[1].path])
    orders = (", ".join(one.path for one, _ in pairs) for pairs in (matched, sorted_as_theirs))
    yield from _unequal("order of columns", *orders)


def _unequal(what: str, a: str | None, b: str | None) -> Iterator[Difference]:
    if a != b:
        yield Difference(what, a, b)


def _with_id(column: _Column) -> str:
    return f"{column.id} {column.path} {column.told}"


def _columns(schema: Schema, above: str = "") -> Iterator[_Column]:
    """A column before its members."""
    for field in schema["fields"]:
        defaults = "".join(f", {key} {json.dumps(field[key])}" for key in ("initial-default", "write-default") if key in field)
        yield from _column(field["id"], above + field["name"], field["type"], (bool(field.get("required")), defaults))


def _column(number: int, path: str, type_: Any, more: tuple[bool, str]) -> Iterator[_Column]:
    required, defaults = more
    name = type_ if isinstance(type_, str) else type_["type"]
    yield _Column(number, path, f"{name.replace(' ', '')}{' required' if required else ''}{defaults}")
    if isinstance(type_, str):
        return
    if name == "struct":
        yield from _columns(type_, f"{path}.")
    elif name == "list":
        yield from _column(type_["element-id"], f"{path}.element", type_["element"], (bool(type_.get("element-required")), ""))
    elif name == "map":
        yield from _column(type_["key-id"], f"{path}.key", type_["key"], (True, ""))
        yield from _column(type_["value-id"], f"{path}.value", type_["value"], (bool(type_.get("value-required")), ""))


def _identifiers(schema: Schema, columns: Iterable[_Column]) -> str | None:
    wanted = set(schema.get("identifier-field-ids") or ())
    return ", ".join(sorted(column.path for column in columns if column.id in wanted)) or None
