"""JSON documents in a vault: written create-only, read by digest."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from bergung.errors import CorruptFile, ObjectExists
from bergung.stores.base import Store, Version
from bergung.stores.digest import digest_of, read_verified

T = TypeVar("T")


def encode(document: object) -> bytes:
    """The bytes of a document: two spaces of indent, so that a person can read a vault."""
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def decode(data: bytes, type_: type[T], where: str) -> T:
    """Read a document as the given type; keys that it does not know are ignored (format.md R10)."""
    try:
        return msgspec.json.decode(data, type=type_)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CorruptFile(f"{where} is not what it should be: {error}", "run bergung verify") from error


def put_document(store: Store, key: str, document: object) -> str:
    """Write create-only, make durable, return the digest; the same bytes already there are fine."""
    data = encode(document)
    try:
        store.put_if_absent(key, [data])
    except ObjectExists:
        if store.read(key) != data:
            raise
    store.make_durable([key])
    return digest_of(data)


def read_document(store: Store, key: str, digest: str, type_: type[T]) -> T:
    """Read by digest, over older versions when it must be (format.md R8)."""
    return decode(read_verified(store, key, digest), type_, key)


def versions_of(store: Store, key: str) -> Iterator[Version]:
    """What was ever written under just this key, oldest first."""
    return (version for version in store.list_versions(key) if version.key == key and not version.is_marker)


def read_mapping(data: bytes, where: str) -> Mapping[str, Any]:
    """Read a document of any shape."""
    return decode(data, dict[str, Any], where)
