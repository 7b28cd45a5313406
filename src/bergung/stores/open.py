"""From an address to its store."""

import re
from dataclasses import dataclass

from bergung.errors import UsageError
from bergung.stores.access import Access, reaching
from bergung.stores.base import OpenStore, Store
from bergung.stores.local import LocalStore
from bergung.stores.memory import memory_store
from bergung.stores.s3.store import S3Store

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
S3 = ("s3", "s3a", "s3n")
_KNOWN = "write a folder, s3://bucket/folder, file:///a/folder or memory://name; other stores come with later versions"


@dataclass(frozen=True)
class Stores:
    """Opens stores; what the user wrote down of how they are reached goes with it, to executors too."""

    known: tuple[Access, ...] = ()

    def __call__(self, url: str, access: tuple[Access, ...] = ()) -> Store:
        """The store of a url or a folder. Nothing in it is ever decoded: `%20` means these three characters."""
        scheme = _scheme(url)
        if scheme == "file":
            return LocalStore(_local_path(url))
        if scheme == "memory":
            return memory_store(url.removeprefix("memory://"))
        if scheme.lower() in S3:
            return S3Store(f"s3://{url.partition('://')[2]}", self.lent(access))
        if scheme:
            raise UsageError(f"no store for addresses of this kind: {url}", _KNOWN)
        if not url:
            raise UsageError("the address of a store is empty", _KNOWN)
        return LocalStore(url)

    def lent(self, access: tuple[Access, ...]) -> tuple[Access, ...]:
        """The user's own word counts before what is lent, however long the prefix of that."""
        return (*self.known, *(each for each in access if reaching(each.prefix, self.known) is None))


open_store = Stores()
"""Knows nothing but what the SDKs find by themselves."""


def open_path(path: str, open_store: OpenStore = open_store, access: tuple[Access, ...] = ()) -> tuple[Store, str]:
    """The store and the key of one file, by its path as Iceberg writes it; nothing is decoded."""
    scheme = _scheme(path)
    if scheme == "memory":
        name, _, key = path.removeprefix("memory://").partition("/")
        return open_store(f"memory://{name}", access), key
    if scheme.lower() in S3:
        name, _, key = path.partition("://")[2].partition("/")
        return open_store(f"s3://{name}", access), key
    if scheme not in ("", "file"):
        raise UsageError(f"no store for paths of this kind: {path}", _KNOWN)
    local = _local_path(path) if scheme else path
    if not local.startswith("/"):
        raise UsageError(f"not an absolute path: {path!r}", "write the whole path, from / on")
    # The system reads `a//b` as `a/b`; a key has no empty segments.
    return open_store("file:///", access), "/".join(segment for segment in local.split("/") if segment)


def is_far(address: str) -> bool:
    """True where each request takes its time, however little it asks for."""
    return _scheme(address).lower() in S3


def _scheme(address: str) -> str:
    if address.startswith("file:/"):
        return "file"
    found = _SCHEME.match(address)
    return found.group(1) if found else ""


def _local_path(url: str) -> str:
    """`file:/a` and `file:///a` name the same; with two slashes the first segment would be a machine."""
    path = url.removeprefix("file:")
    if path.startswith("//") and not path.startswith("///"):
        hint = f"write three slashes: file:///{path.lstrip('/')}"
        raise UsageError(f"a file address that names a machine: {url}", hint)
    return path
