"""A writer's Avro schema in a plain form: only what decides how bytes are read, and fields found by Iceberg's ids."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

Json = Any

Wanted = Mapping[int, tuple[str, ...]]
"""Field id to the names that writers use for it; the first is the name that it is given here."""

PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
_DEPTH = 64


def plain(schema: Json, wanted: Wanted | None = None) -> Json:
    """The same bytes with other names: no documentation, no two records of one name; wanted fields by their first name.

    Without `wanted`, fields keep their names and logical types. ValueError for what no writer of manifests makes.
    """
    return _Plain(wanted).type_of(schema)


def only(schema: Json, wanted: Wanted) -> Json:
    """A plain schema without the fields that are not wanted, on every level that has some."""
    if not isinstance(schema, dict) or schema["type"] != "record":
        return schema
    names = {names[0] for names in wanted.values()}
    kept = [each for each in schema["fields"] if each["name"] in names]
    return {**schema, "fields": [{**each, "type": only(each["type"], wanted)} for each in kept]}


@dataclass
class _Plain:
    wanted: Wanted | None
    named: dict[str, Json] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)

    def type_of(self, schema: Json, depth: int = 0) -> Json:
        if depth > _DEPTH:
            raise ValueError("a schema that nests too deep")
        if isinstance(schema, list):
            return [self.type_of(each, depth + 1) for each in schema]
        if isinstance(schema, str):
            return schema if schema in PRIMITIVES else self.type_of(self.named[schema.rpartition(".")[2]], depth + 1)
        kind = schema["type"]
        if not isinstance(kind, str):
            return self.type_of(kind, depth + 1)
        if kind in PRIMITIVES:
            return self._logical(schema, kind)
        return self._complex(schema, kind, depth + 1)

    def _complex(self, schema: Json, kind: str, depth: int) -> Json:
        if kind == "array":
            return {"type": kind, "items": _with_bytes(self.type_of(schema["items"], depth))}
        if kind == "map":
            return {"type": kind, "values": self.type_of(schema["values"], depth)}
        if kind not in ("record", "fixed", "enum"):
            return self.type_of(kind, depth)
        self.named[schema["name"].rpartition(".")[2]] = schema
        own = {"type": kind, "name": f"n{next(self.numbers)}"}
        if kind == "record":
            return {**own, "fields": self._fields(schema["fields"], depth)}
        if kind == "fixed":
            return {**own, "size": schema["size"], **self._logical(schema, {})}
        return {**own, "symbols": schema["symbols"]}

    def _fields(self, fields: list[Json], depth: int) -> list[Json]:
        named = [(self._name(each, place), each["type"]) for place, each in enumerate(fields)]
        if len({name for name, _ in named}) < len(named):
            raise ValueError("two fields of one name")
        return [{"name": name, "type": self.type_of(type_, depth)} for name, type_ in named]

    def _name(self, own: Json, place: int) -> str:
        if self.wanted is None:
            return str(own["name"])
        if "field-id" in own:
            return self.wanted.get(own["field-id"], (f"{place}",))[0]
        known = (names[0] for names in self.wanted.values() if own["name"] in names)
        return next(known, f"{place}")

    def _logical(self, schema: Json, bare: Json) -> Json:
        """Logical types only where somebody reads the values: they cost time and can overflow."""
        if self.wanted is not None or "logicalType" not in schema:
            return bare
        return {key: schema[key] for key in ("type", "logicalType", "precision", "scale") if key in schema}


def _with_bytes(items: Json) -> Json:
    """Items that take no bytes would let a few bytes of a file stand for any number of them."""
    if items == "null" or (isinstance(items, dict) and items["type"] == "record" and not _takes_bytes(items)):
        raise ValueError("an array of nothing")
    return items


def _takes_bytes(schema: Json) -> bool:
    if isinstance(schema, dict) and schema["type"] == "record":
        return any(_takes_bytes(each["type"]) for each in schema["fields"])
    return bool(schema != "null")
