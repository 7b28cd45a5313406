"""Which metadata file of a table is the newest, as far as names tell; two answers are refused, never guessed."""

import re
from collections.abc import Iterable

from bergung.errors import Refused

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_CODEC = r"(?:\.[a-z0-9]+)?"
_NUMBERED = re.compile(rf"(\d+)-{_UUID}{_CODEC}\.metadata\.json(?:\.gz)?", re.IGNORECASE)
_HADOOP = re.compile(rf"v(\d+){_CODEC}\.metadata\.json(?:\.gz)?")


def newest(names: Iterable[str], hinted: int | None) -> list[str]:
    """The newest of these files, or none when no metadata file is among them.

    `hinted` is the number in version-hint.text, which only Hadoop tables have.
    """
    names = list(names)
    numbered, hadoop = _by_number(_NUMBERED, names), hadoop_versions(names)
    if numbered and hadoop:
        raise _refused("files of two kinds lie here", [*numbered[max(numbered)], *hadoop[max(hadoop)]])
    files = numbered or hadoop
    if not files:
        return []
    found = files[max(files)]
    if len(found) > 1:
        raise _refused("two files have the highest number", found)
    if hadoop and hinted is not None:
        _check_hint(sorted(hadoop), hinted, found)
    return found


def hadoop_versions(names: Iterable[str]) -> dict[int, list[str]]:
    """Those that are named as versions of a Hadoop table, by their number."""
    return _by_number(_HADOOP, names)


def _by_number(form: re.Pattern[str], names: Iterable[str]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for name in names:
        match = form.fullmatch(name)
        if match:
            found.setdefault(int(match[1]), []).append(name)
    return found


def _check_hint(versions: list[int], hinted: int, found: list[str]) -> None:
    """Readers start at the hint and go on while the next version is there: they must arrive at the same file."""
    if hinted > versions[-1]:
        raise _refused(f"version-hint.text says {hinted}", found)
    start = max(hinted, versions[0])
    missing = set(range(start, versions[-1])) - set(versions)
    if missing:
        raise _refused(f"version {min(missing)} is missing, at which readers stop", found)


def _refused(why: str, candidates: list[str]) -> Refused:
    return Refused(
        f"the newest metadata file cannot be told: {why} ({', '.join(candidates)})",
        "name the metadata file itself instead of the table's folder",
    )
