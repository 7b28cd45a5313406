"""A catalog as the user declared it to PyIceberg, and what every kind reads from that in the same way."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bergung.clock import Clock
from bergung.stores.access import Access
from bergung.stores.base import OpenStore

_TRUE = ("true", "1", "yes", "y", "on", "t")


@dataclass(frozen=True)
class Declaration:
    """Its name as given, its properties, and the effects that a catalog works with."""

    name: str
    properties: Mapping[str, str] = field(repr=False)
    clock: Clock
    open_store: OpenStore
    sections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    """Properties that hold others, such as `auth` and `ssl`."""

    @property
    def uri(self) -> str:
        """Where the catalog is; may hold a password."""
        return self.properties.get("uri", "")


def declared_access(declaration: Declaration) -> tuple[Access, ...]:
    """What the declaration says of S3, for all buckets."""
    return s3_access(declaration.properties, "s3://", f"the catalog {declaration.name}")


def s3_access(properties: Mapping[str, str], prefix: str, origin: str) -> tuple[Access, ...]:
    """The access in PyIceberg's `s3.*` properties, which REST servers use as well; nothing when none is there."""

    def first(*names: str) -> str:
        return next((properties[name] for name in names if properties.get(name)), "")

    access = Access(
        prefix,
        endpoint=first("s3.endpoint"),
        region=first("s3.region", "client.region"),
        key_id=first("s3.access-key-id", "client.access-key-id"),
        secret=first("s3.secret-access-key", "client.secret-access-key"),
        token=first("s3.session-token", "client.session-token"),
        anonymous=is_true(first("s3.anonymous")),
        virtual_hosts=is_true(first("s3.force-virtual-addressing")),
        origin=origin,
    )
    return () if access == Access(prefix) else (access,)


def is_true(text: str) -> bool:
    """As PyIceberg reads a switch."""
    return text.lower() in _TRUE
