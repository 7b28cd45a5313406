"""JSON as other programs wrote it: values are taken out with the type that they must have, or the file is corrupt."""

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from bergung.errors import CorruptFile

T = TypeVar("T")

HINT = "take an intact metadata file of the table: an older one, an object version, or one of a recovery point"

_GZIP = b"\x1f\x8b"
_UNREADABLE = (ValueError, RecursionError, OSError, EOFError, zlib.error)


@dataclass(frozen=True)
class Raw:
    """A JSON object, and where it stands, for the complaint."""

    where: str
    values: dict[str, Any]

    def text(self, key: str) -> str:
        """A string that must be there."""
        return self._known(key, self.maybe_text(key))

    def number(self, key: str) -> int:
        """A whole number that must be there."""
        return self._known(key, self.maybe_number(key))

    def maybe_text(self, key: str) -> str | None:
        """A string, or None when the key is absent or null."""
        return self._typed(key, str)

    def maybe_number(self, key: str) -> int | None:
        """A whole number, or None when the key is absent or null."""
        return self._typed(key, int)

    def texts(self, key: str) -> dict[str, str]:
        """An object of strings; empty when absent."""
        return {name: str(value) for name, value in (self._typed(key, dict) or {}).items()}

    def text_list(self, key: str) -> tuple[str, ...]:
        """A list of strings; empty when absent."""
        found = tuple(self._typed(key, list) or ())
        if not all(isinstance(each, str) for each in found):
            raise self.corrupt(f"{key} holds something else than strings")
        return found

    def object(self, key: str) -> "Raw":
        """An object; empty when absent."""
        return Raw(self.where, self._typed(key, dict) or {})

    def objects(self, key: str) -> Iterator["Raw"]:
        """A list of objects; empty when absent."""
        for value in self._typed(key, list) or ():
            if not isinstance(value, dict):
                raise self.corrupt(f"{key} holds something else than objects")
            yield Raw(self.where, value)

    def named(self, key: str) -> Iterator[tuple[str, "Raw"]]:
        """An object of objects; empty when absent."""
        for name, value in (self._typed(key, dict) or {}).items():
            if not isinstance(value, dict):
                raise self.corrupt(f"{key} holds something else than objects")
            yield name, Raw(self.where, value)

    def corrupt(self, problem: str) -> CorruptFile:
        """The one form of this complaint."""
        return CorruptFile(f"{self.where} is damaged: {problem}", HINT)

    def _known(self, key: str, value: T | None) -> T:
        if value is None:
            raise self.corrupt(f"{key} is missing")
        return value

    def _typed(self, key: str, wanted: type[T]) -> T | None:
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise self.corrupt(f"{key} is {type(value).__name__}, not {wanted.__name__}")
        return value


def is_packed(data: bytes) -> bool:
    """Whether these bytes are gzip, whatever their name says."""
    return data.startswith(_GZIP)


def read_json(data: bytes, where: str) -> Raw:
    """Unpack when it is gzip, by its first bytes and not by its name, and read one JSON object."""
    try:
        values = json.loads(gzip.decompress(data) if is_packed(data) else data)
    except _UNREADABLE as error:
        problem = "it is empty" if not data.strip() else "it is cut off or no JSON"
        raise CorruptFile(f"{where} is damaged: {problem}", HINT) from error
    if not isinstance(values, dict):
        raise CorruptFile(f"{where} is damaged: it holds no JSON object", HINT)
    return Raw(where, values)
