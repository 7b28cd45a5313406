"""Fields that get a piece of their own, and how their writer encodes them."""

from dataclasses import dataclass
from enum import StrEnum

from bergung.iceberg.avro_schema import Json, Wanted
from bergung.iceberg.avro_write import long_bytes


class Kind(StrEnum):
    """What a field holds."""

    NUMBER = "a number"
    TEXT = "text"
    NUMBERS = "numbers"
    NUMBERS_BY_ID = "numbers by id"
    BYTES_BY_ID = "bytes by id"
    RECORD = "a record"
    """Its fields count as those of the record that holds it."""


@dataclass(frozen=True)
class Slot:
    """A field by its id, with the name that counts where a writer gives no ids."""

    id: int
    name: str
    kind: Kind
    required: bool = False


def wanted_by(slots: tuple[Slot, ...]) -> Wanted:
    """The slots as the reader of schemas wants them."""
    return {slot.id: (slot.name,) for slot in slots}


@dataclass(frozen=True)
class Form:
    """What stands before a value, and what stands for none; without a union nothing and None."""

    before: bytes = b""
    null: bytes | None = None

    def value(self, piece: bytes) -> bytes | None:
        """A piece without what stands before it; None for null, ValueError for what no writer writes."""
        if piece == self.null:
            return None
        if not piece.startswith(self.before):
            raise ValueError("a union as nobody writes it")
        return piece[len(self.before) :]


def form_of(type_: Json, slot: Slot) -> Form:
    """How a field of this plain type is encoded; ValueError when it is not of its kind."""
    if not isinstance(type_, list):
        _check(type_, slot)
        return Form()
    if len(type_) != 2 or "null" not in type_:
        raise ValueError(f"{slot.name} is a union of something else than null and {slot.kind}")
    null = type_.index("null")
    _check(type_[1 - null], slot)
    return Form(long_bytes(1 - null), long_bytes(null))


def _check(type_: Json, slot: Slot) -> None:
    if _kind(type_) != slot.kind:
        raise ValueError(f"{slot.name} is not {slot.kind}")


def _kind(type_: Json) -> Kind | None:
    if isinstance(type_, str):
        return {"int": Kind.NUMBER, "long": Kind.NUMBER, "string": Kind.TEXT}.get(type_)
    items = type_["items"] if type_["type"] == "array" else None
    if isinstance(items, dict) and items["type"] == "record":
        key, *values = (_kind(field["type"]) or field["type"] for field in items["fields"])
        if key == Kind.NUMBER and len(values) == 1:
            return {Kind.NUMBER: Kind.NUMBERS_BY_ID, "bytes": Kind.BYTES_BY_ID}.get(values[0])
        return None
    return Kind.NUMBERS if items in ("int", "long") else None
