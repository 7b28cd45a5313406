"""Paths compared in one normal form, and kept as they were written: the only place that decides what equals what.

The normal form is for comparing and for opening, never for writing: Iceberg applies a delete where two paths are equal
strings, so `file:/a` in a table stays `file:/a`. The cases are in docs/format.md and tests/unit/iceberg/test_paths.py.
"""

import re
from collections.abc import Iterable

DOT_SEGMENT = r"(^|/)\.\.?(/|\z)"
"""What may leave its folder, in the dialect of Arrow's kernels."""

_DOT_SEGMENT = re.compile(DOT_SEGMENT.replace(r"\z", r"\Z"))
_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_SLASHES = re.compile(r"/{2,}")
_SAME_SCHEME = {"s3a": "s3", "s3n": "s3", "abfss": "abfs", "wasbs": "wasb"}
_FOLDED_SLASHES = ("file", "hdfs", "viewfs")
_THIS_MACHINE = ("", "localhost")


def normal(path: str) -> str:
    """The one spelling of every path that means this file; text without a root comes back as it is."""
    scheme, rest = _split_scheme(path)
    if scheme == "file":
        local = _local(path, rest)
        return path if local is None else f"file://{local}"
    if scheme in _FOLDED_SLASHES and re.match("/(?!/)", rest):
        rest = f"//{rest}"
    if not rest.startswith("//"):
        return path
    authority, slash, key = rest[2:].partition("/")
    if scheme in _FOLDED_SLASHES:
        key = _SLASHES.sub("/", key).strip("/")
    return f"{scheme}://{authority}{slash}{key}"


def split_uri(path: str) -> tuple[str, str, str]:
    """Scheme, authority and what follows it, of the normal form; scheme and authority are empty without a root."""
    rooted = normal(path)
    if not _has_root(rooted):
        return "", "", path
    scheme, rest = rooted.split("://", 1)
    authority, slash, key = rest.partition("/")
    return scheme, authority, slash + key


def is_local(path: str) -> bool:
    """True for what this machine's own file system would open."""
    return _split_scheme(path)[0] == "file"


def below(prefix: str, path: str) -> str | None:
    """What follows `prefix` and a `/` in `path`; "" when they are equal, None when it is not there or no safe path."""
    folder, found = as_folder(prefix), normal(path)
    if folder is None or not found.startswith(folder) or not _is_safe(found):
        return None
    rest = found[len(folder) :]
    return rest.removeprefix("/") if not rest or rest.startswith("/") else None


def is_allowed(path: str, prefixes: Iterable[str]) -> bool:
    """True when the path lies below one of the prefixes; never with `.` or `..` in it, nor without a root."""
    return any(below(prefix, path) is not None for prefix in prefixes)


def as_folder(prefix: str) -> str | None:
    """The normal form of a prefix without slashes at its end; None when nothing may be below it."""
    folder = normal(prefix).rstrip("/")
    return folder if _has_root(folder) and _is_safe(folder) else None


def spellings(prefix: str) -> tuple[str, ...]:
    """Plain ways to write a prefix, with a `/` at the end: what starts so and is safe is below the prefix."""
    folder = as_folder(prefix)
    if folder is None:
        return ()
    scheme, rest = folder.split("://", 1)
    if scheme == "file":
        return tuple(f"{head}{rest}/" for head in ("", "file:", "file://", "file://localhost"))
    others = (other for other, one in _SAME_SCHEME.items() if one == scheme)
    return tuple(f"{name}://{rest}/" for name in (scheme, *others))


def _split_scheme(path: str) -> tuple[str, str]:
    """Scheme in its one spelling, and what follows the colon; a path without a scheme is a local one."""
    found = _URI.fullmatch(path)
    if found is None:
        return "file", path
    scheme = found[1].lower()
    return _SAME_SCHEME.get(scheme, scheme), found[2]


def _local(path: str, rest: str) -> str | None:
    """The absolute path on this machine; None for a relative one and for another machine's."""
    if rest != path and rest.startswith("//"):
        authority, slash, key = rest[2:].partition("/")
        if authority.lower() not in _THIS_MACHINE:
            return None
        rest = slash + key
    if not rest.startswith("/"):
        return None
    return _SLASHES.sub("/", rest).rstrip("/") or "/"


def _has_root(rooted: str) -> bool:
    """True for `file:///…`, `hdfs://…` and `s3://bucket…`; false for opaque text, relative paths and the local root."""
    scheme, separator, rest = rooted.partition("://")
    if not separator or not _URI.match(f"{scheme}:"):
        return False
    if scheme == "file":
        return rest.startswith("/")
    return bool(rest) and (not rest.startswith("/") or scheme in _FOLDED_SLASHES)


def _is_safe(path: str) -> bool:
    return not _DOT_SEGMENT.search(path) and "\0" not in path
