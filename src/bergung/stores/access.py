"""How object stores are reached: endpoint and credentials by prefix, renewed where they expire."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bergung.clock import Clock

EARLY = timedelta(minutes=5)
"""Credentials that end sooner than this are renewed before they are used: a part of a file may take that long."""


@dataclass(frozen=True)
class Access:
    """For everything below `prefix` (`s3://bucket/folder/`; `s3://` for all buckets). What is empty is the SDK's own business."""

    prefix: str
    endpoint: str = ""
    region: str = ""
    key_id: str = field(default="", repr=False)
    secret: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    profile: str = ""
    """A profile of the SDK's own configuration, looked up where the store is opened."""
    anonymous: bool = False
    virtual_hosts: bool = False
    """Put the bucket into the host's name at an endpoint of one's own; AWS itself always does."""
    expires_at: datetime | None = None
    renew: Callable[[], tuple["Access", ...]] | None = field(default=None, repr=False, compare=False)
    """Asks whoever gave these for new ones; must survive pickling, since executors call it."""
    origin: str = field(default="", compare=False)
    """Where it is written, for errors: a place in bergung.toml, a catalog's name."""


def reaching(path: str, known: Iterable[Access]) -> Access | None:
    """The access of the longest prefix that the path lies below; a prefix ends between segments."""
    fitting = (access for access in known if _covers(access.prefix, path))
    return max(fitting, key=lambda access: len(access.prefix.rstrip("/")), default=None)


def fresh(access: Access, path: str, clock: Clock) -> Access:
    """The same, or what took its place when it is about to end."""
    if access.renew is None or access.expires_at is None or access.expires_at - clock.now() > EARLY:
        return access
    renewed = reaching(path, access.renew())
    return access if renewed is None else replace(renewed, prefix=access.prefix)


def _covers(prefix: str, path: str) -> bool:
    own, other = (_plain(each) for each in (prefix, path))
    if own == "s3://":
        return other.startswith(own)
    own = own.rstrip("/")
    return other == own or other.startswith(f"{own}/")


def _plain(address: str) -> str:
    """s3a and s3n are other names of s3."""
    scheme, separator, rest = address.partition("://")
    return f"s3{separator}{rest}" if scheme.lower() in ("s3", "s3a", "s3n") else address
