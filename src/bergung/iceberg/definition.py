"""How a table is made: the partitioning and the sort order that its next writer follows, as its metadata file says them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bergung.iceberg.raw import Raw, read_json


@dataclass(frozen=True)
class Part:
    """One term of a partitioning or of a sort order; `sources` are field ids of columns."""

    transform: str
    sources: tuple[int, ...]
    more: str
    """`as` and the name of the partition field, or the direction of the sort."""


@dataclass(frozen=True)
class Definition:
    """Empty where the table is not partitioned, or not sorted."""

    partitioning: tuple[Part, ...]
    sort_order: tuple[Part, ...]


def read_definition(data: bytes, where: str) -> Definition:
    """From a metadata file's bytes."""
    raw = read_json(data, where)
    specs = {each.number("spec-id"): tuple(each.objects("fields")) for each in raw.objects("partition-specs")}
    # Format version 1 had one, and wrote it as a list.
    spec = specs.get(raw.maybe_number("default-spec-id") or 0, ()) if specs else tuple(raw.objects("partition-spec"))
    orders = {each.number("order-id"): tuple(each.objects("fields")) for each in raw.objects("sort-orders")}
    order = orders.get(raw.maybe_number("default-sort-order-id") or 0, ())
    return Definition(tuple(_partitioning(spec)), tuple(_sort_order(order)))


def _partitioning(fields: Iterable[Raw]) -> Iterator[Part]:
    for field in fields:
        yield Part(field.text("transform"), _sources(field), f"as {field.text('name')}")


def _sort_order(fields: Iterable[Raw]) -> Iterator[Part]:
    for field in fields:
        yield Part(field.text("transform"), _sources(field), f"{field.text('direction')} {field.text('null-order')}")


def _sources(field: Raw) -> tuple[int, ...]:
    several = field.values.get("source-ids")
    if isinstance(several, list) and all(isinstance(each, int) for each in several):
        return tuple(several)
    return (field.number("source-id"),)
